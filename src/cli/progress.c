#include "cli/progress.h"

#include "base/fd.h"
#include "cli/text.h"

#include <time.h>
#include <unistd.h>

enum { APPEARS_AFTER_MS = 1000, REDRAWN_AFTER_MS = 200 };

static uint64_t now_ms(void)
{
    struct timespec ts = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void sbox_progress_begin(struct sbox_progress_line *line, const char *doing, bool quiet)
{
    const char *term = getenv("TERM");
    bool terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    *line = (struct sbox_progress_line){
        .doing = doing, .began_ms = now_ms(), .wanted = terminal && !quiet};
}

static void add_of(struct sbox_buf *out, const char *done, const char *total, const char *unit)
{
    sbox_buf_addf(out, "%s%s%s%s", done, total ? " of " : "", total ? total : "", unit);
}

void sbox_progress_text(struct sbox_buf *out, const char *doing,
                        const struct sbox_progress *progress, uint64_t elapsed_ms)
{
    const struct sbox_progress *p = progress;
    char done[SBOX_TEXT_SIZE];
    char total[SBOX_TEXT_SIZE];
    bool entries_known = p->total_entries >= p->entries && p->total_entries > 0;
    bool bytes_known = p->total_bytes >= p->bytes && p->total_bytes > 0;
    double rate = elapsed_ms > 0 ? (double)p->bytes * 1000 / (double)elapsed_ms : 0;

    sbox_buf_addf(out, "%s: ", doing);
    add_of(out, sbox_text_count(p->entries, done),
           entries_known ? sbox_text_count(p->total_entries, total) : NULL, " entries, ");
    add_of(out, sbox_text_bytes(p->bytes, done),
           bytes_known ? sbox_text_bytes(p->total_bytes, total) : NULL, "");
    sbox_buf_addf(out, ", %s/s", sbox_text_bytes((uint64_t)rate, done));
    if (bytes_known && rate >= 1) {
        double left = (double)(p->total_bytes - p->bytes) / rate;
        uint64_t seconds = (uint64_t)left + 1;
        if (seconds < 60)
            sbox_buf_addf(out, ", %u s left", (unsigned)seconds);
        else
            sbox_buf_addf(out, ", %s left", sbox_text_duration(seconds * 1000, done));
    }
}

void sbox_progress_draw(const struct sbox_progress *progress, void *context)
{
    struct sbox_progress_line *line = context;
    uint64_t now = now_ms();
    if (!line->wanted || now - line->began_ms < APPEARS_AFTER_MS ||
        now - line->drawn_ms < REDRAWN_AFTER_MS)
        return;
    line->drawn_ms = now;
    line->visible = true;
    /* To the line's beginning; what stood there is erased; no wrapping on a narrow terminal. */
    _cleanup_buf_ struct sbox_buf out = {0};
    sbox_buf_add_str(&out, "\r\033[K\033[?7l");
    sbox_progress_text(&out, line->doing, progress, now - line->began_ms);
    sbox_buf_add_str(&out, "\033[?7h");
    if (!sbox_buf_failed(&out))
        (void)sbox_write_full(STDERR_FILENO, out.data, out.size);
}

void sbox_progress_end(struct sbox_progress_line *line)
{
    static const char erase[] = "\r\033[K";
    if (line->visible)
        (void)sbox_write_full(STDERR_FILENO, erase, sizeof erase - 1);
    line->visible = false;
}
