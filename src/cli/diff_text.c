#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "cli/diff.h"
#include "cli/sandboxed.h"
#include "cli/text.h"
#include "cli/tree_text.h"

#include <sys/mman.h>

/* diff(1) reads what attackers wrote. It gets the two texts as descriptors and nothing else, half a
 * gigabyte, ten seconds, and what it says beyond two megabytes is thrown away. */
enum { OUTPUT_MAX = 2 << 20, PATIENCE_MS = 30000, DIFFERS = 1 };
static const char script[] = "ulimit -v 524288 && ulimit -t 10 && "
                             "exec diff -u --label \"$1\" --label \"$2\" /dev/fd/3 /dev/fd/4";

static int label(const struct sbox_diff_side *side, const char *prefix, const char *path,
                 struct sbox_buf *ret)
{
    if (!side->there)
        sbox_buf_add_str(ret, "/dev/null");
    else {
        sbox_buf_add_str(ret, prefix);
        sbox_escape(ret, path, strlen(path));
    }
    sbox_buf_add_byte(ret, 0);
    return sbox_buf_failed(ret) ? -ENOMEM : 0;
}

int sbox_diff_run(const struct sbox_diff_entry *e, struct sbox_buf *ret, bool *ret_cut)
{
    _cleanup_close_ int empty = memfd_create("nothing", MFD_CLOEXEC);
    _cleanup_buf_ struct sbox_buf was = {0};
    _cleanup_buf_ struct sbox_buf is = {0};
    if (empty < 0 || label(&e->was, "locked/", e->path, &was) < 0 ||
        label(&e->is, "", e->path, &is) < 0)
        return -ENOMEM;
    const char *const argv[] = {"sh", "-c", script, "diff", was.data, is.data, NULL};
    struct sbox_sandboxed request = {
        .argv = argv,
        .fds = {e->was.content >= 0 ? e->was.content : empty,
                e->is.content >= 0 ? e->is.content : empty},
        .fd_count = 2,
        .output_max = OUTPUT_MAX,
        .milliseconds = PATIENCE_MS,
    };
    int r = sbox_sandboxed_run(&request, ret);
    *ret_cut = request.cut;
    return r < 0 ? r : r <= DIFFERS ? 0 : -EIO;
}

/* -- text -------------------------------------------------------------------------------------- */

static void add_side(struct sbox_buf *out, const struct sbox_diff_side *side)
{
    char text[SBOX_TEXT_SIZE];
    switch (side->type) {
    case SBOX_ENTRY_FILE:
        sbox_buf_addf(out, "%s ", sbox_text_bytes(side->size, text));
        sbox_buf_add_str(out, sbox_text_short(&side->digest, text));
        break;
    case SBOX_ENTRY_LINK:
        sbox_buf_addf(out, "link to %s", sbox_esc(side->target ? side->target : "?"));
        break;
    default:
        sbox_buf_add_str(out, sbox_entry_type_text(side->type));
        break;
    }
}

static void add_sides(struct sbox_buf *out, const struct sbox_diff_entry *e)
{
    const struct sbox_diff_side *was = &e->was;
    const struct sbox_diff_side *is = &e->is;
    if (was->there && is->there && was->type == is->type && was->mode != is->mode)
        sbox_buf_addf(out, "  mode %04o -> %04o", was->mode, is->mode);
    if (e->difference->verdict == SBOX_VERDICT_MODE || e->difference->verdict == SBOX_VERDICT_XATTR)
        return;
    sbox_buf_add_str(out, "  ");
    if (was->there)
        add_side(out, was);
    if (was->there && is->there)
        sbox_buf_add_str(out, " -> ");
    if (is->there)
        add_side(out, is);
}

/* "modified node_modules/alpha/index.js  (alpha 1.0.0)". */
static void add_headline(struct sbox_buf *out, const struct sbox_diff_entry *e)
{
    const struct sbox_difference *d = e->difference;
    sbox_text_colour(out, SBOX_YELLOW, sbox_verdict_text(d->verdict));
    sbox_buf_add_byte(out, ' ');
    sbox_escape(out, e->path, strlen(e->path));
    if (d->package[0])
        sbox_buf_addf(out, "  (%s%s%s)", sbox_esc(d->package), d->version[0] ? " " : "",
                      sbox_esc(d->version));
}

/* Tabs and backslashes stay: it is code that is read here. */
static void add_line(struct sbox_buf *out, const char *line, size_t size)
{
    _cleanup_buf_ struct sbox_buf safe = {0};
    enum sbox_colour colour = line[0] == '+' ? SBOX_GREEN : line[0] == '-' ? SBOX_RED : SBOX_PLAIN;
    for (size_t at = 0; at < size;) {
        size_t n = 0;
        while (at + n < size && line[at + n] != '\t' && line[at + n] != '\\')
            n++;
        sbox_escape(&safe, line + at, n);
        if (at + n < size)
            sbox_buf_add_byte(&safe, (uint8_t)line[at + n]);
        at += n + 1;
    }
    sbox_buf_add_byte(&safe, 0);
    if (!sbox_buf_failed(&safe))
        sbox_text_colour(out, colour, safe.data);
    sbox_buf_add_byte(out, '\n');
}

static void add_diff(struct sbox_buf *out, const struct sbox_buf *diff)
{
    for (size_t at = 0; at < diff->size;) {
        const char *end = memchr(diff->data + at, '\n', diff->size - at);
        size_t n = end ? (size_t)(end - diff->data) - at : diff->size - at;
        add_line(out, diff->data + at, n);
        at += n + 1;
    }
}

void sbox_diff_text(struct sbox_buf *out, const struct sbox_diff_entry *e,
                    const struct sbox_buf *diff, bool cut)
{
    add_headline(out, e);
    if (!diff || diff->size == 0 || e->was.mode != e->is.mode)
        add_sides(out, e);
    sbox_buf_add_byte(out, '\n');
    if (e->note)
        sbox_buf_addf(out, "  no text: %s\n", e->note);
    if (diff)
        add_diff(out, diff);
    if (cut)
        sbox_buf_add_str(out, "  (the rest of this difference is not shown)\n");
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void json_side(struct sbox_json *j, const char *key, const struct sbox_diff_side *side)
{
    char mode[8];
    if (!side->there) {
        sbox_json_null(j, key);
        return;
    }
    sbox_json_object(j, key);
    sbox_json_string(j, "type", sbox_entry_type_text(side->type));
    (void)snprintf(mode, sizeof mode, "%04o", side->mode);
    sbox_json_string(j, "mode", mode);
    if (side->type == SBOX_ENTRY_FILE) {
        sbox_json_uint(j, "size", side->size);
        sbox_json_digest(j, "sha256", &side->digest);
    }
    if (side->target)
        sbox_json_path(j, "target", side->target, strlen(side->target));
    sbox_json_end_object(j);
}

void sbox_diff_json(struct sbox_json *j, const struct sbox_diff_entry *e,
                    const struct sbox_buf *diff, bool cut)
{
    const struct sbox_difference *d = e->difference;
    sbox_json_object(j, NULL);
    sbox_json_string(j, "verdict", sbox_verdict_text(d->verdict));
    sbox_json_path(j, "tree", e->tree->path, strlen(e->tree->path));
    sbox_json_path(j, "path", d->path, strlen(d->path));
    sbox_json_string(j, "package", d->package[0] ? d->package : NULL);
    sbox_json_string(j, "version", d->version[0] ? d->version : NULL);
    json_side(j, "was", &e->was);
    json_side(j, "is", &e->is);
    if (diff && diff->size > 0)
        sbox_json_string_n(j, "diff", diff->data, diff->size);
    else
        sbox_json_null(j, "diff");
    sbox_json_bool(j, "cut", cut);
    sbox_json_string(j, "note", e->note);
    sbox_json_end_object(j);
}
