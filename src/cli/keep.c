#include "cli/keep.h"

#include "base/escape.h"
#include "cli/progress.h"
#include "cli/text.h"

#include <time.h>

static uint64_t milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int sbox_keep_units(const struct sbox_lock_unit *units, size_t count, void *context,
                    struct sbox_error *err)
{
    struct sbox_keep *keep = context;
    struct sbox_progress_line line;
    uint64_t start = milliseconds();
    int r = sbox_snapshots_open(keep->datadir, true, false, &keep->snapshots, err);
    if (r < 0)
        return r;
    sbox_progress_begin(&line, "keeping copies", keep->quiet);
    const struct sbox_snapshots_request request = {
        .units = units, .count = count, .progress = sbox_progress_draw, .progress_context = &line};
    r = sbox_snapshots_make(&keep->snapshots, &request, &keep->made, err);
    sbox_progress_end(&line);
    keep->elapsed_ms = milliseconds() - start;
    if (r == 0 || r == -EAGAIN)
        return r;
    if (r == -ENOSPC || r == -EDQUOT)
        return sbox_error_say(err, -r,
                              "no space left in '%s' for the copies: nothing is locked "
                              "('--no-snapshot' locks without)",
                              sbox_esc(keep->datadir->path));
    return sbox_error_wrap(err, -r, "nothing is locked ('--no-snapshot' locks without copies)");
}

void sbox_keep_text(struct sbox_buf *out, const struct sbox_keep *keep)
{
    const struct sbox_snapshots_made *made = &keep->made;
    char text[SBOX_TEXT_SIZE];
    sbox_buf_add_str(out, "snapshots: ");
    sbox_buf_addf(out, "%s new", sbox_text_count(made->made, text));
    if (made->made > 0) {
        sbox_buf_addf(out, " (%s ", sbox_text_bytes(made->bytes, text));
        sbox_buf_addf(out, "in %s, ", sbox_text_bytes(made->size, text));
        sbox_buf_addf(out, "%s)", sbox_text_duration(keep->elapsed_ms, text));
    }
    sbox_buf_addf(out, ", %s there already\n", sbox_text_count(made->there, text));
}

void sbox_keep_json(struct sbox_json *j, const struct sbox_keep *keep)
{
    sbox_json_object(j, "snapshots");
    sbox_json_uint(j, "made", keep->made.made);
    sbox_json_uint(j, "there", keep->made.there);
    sbox_json_uint(j, "bytes", keep->made.bytes);
    sbox_json_uint(j, "size", keep->made.size);
    sbox_json_uint(j, "elapsed_ms", keep->elapsed_ms);
    sbox_json_end_object(j);
}
