#include "base/escape.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/text.h"
#include "cli/tree_text.h"
#include "cli/verify_common.h"

enum { DIFFERENCES_SHOWN = 20 };

struct totals {
    uint64_t entries;
    uint64_t bytes;
    uint64_t hashed;
    uint64_t differences;
    uint64_t bad_trees;
};

static struct totals count_all(const struct sbox_verify_result *r)
{
    struct totals sum = {0};
    for (size_t i = 0; i < r->tree_count; i++) {
        sum.entries += r->trees[i].entries;
        sum.bytes += r->trees[i].bytes;
        sum.hashed += r->trees[i].hashed;
        sum.differences += r->trees[i].difference_count;
        sum.bad_trees += r->trees[i].state != SBOX_TREE_EQUAL;
    }
    return sum;
}

static void add_lock(struct sbox_buf *out, const struct sbox_verify_result *r)
{
    char text[SBOX_TEXT_SIZE];
    sbox_buf_addf(out, "lock of %s", sbox_text_local_time(r->lock_time, text));
    sbox_buf_addf(out, ", fingerprint %s\n", sbox_text_short(&r->fingerprint, text));
}

static void add_same(struct sbox_buf *out, const struct sbox_verify_result *r)
{
    char text[SBOX_TEXT_SIZE];
    struct totals sum = count_all(r);
    sbox_text_colour(out, SBOX_GREEN, "the same as locked");
    sbox_buf_add_str(out, ": ");
    sbox_text_plural(out, r->tree_count, "tree", "trees");
    sbox_buf_add_str(out, ", ");
    sbox_text_plural(out, r->packages, "package", "packages");
    sbox_buf_add_str(out, ", ");
    sbox_text_plural(out, sum.entries, "entry", "entries");
    sbox_buf_addf(out, ", %s read", sbox_text_bytes(sum.bytes, text));
    sbox_buf_addf(out, " in %s\n", sbox_text_duration(r->elapsed_ms, text));
}

/* "  modified  lib/router.js  (express 4.18.2)" */
static void add_difference(struct sbox_buf *out, const struct sbox_difference *d)
{
    sbox_buf_addf(out, "  %-8s  %s", sbox_verdict_text(d->verdict),
                  d->path[0] ? sbox_esc(d->path) : ".");
    if (d->package[0])
        sbox_buf_addf(out, "  (%s%s%s)", sbox_esc(d->package), d->version[0] ? " " : "",
                      sbox_esc(d->version));
    sbox_buf_add_byte(out, '\n');
}

static void add_bad_trees(struct sbox_buf *out, const struct sbox_verify_result *r, bool all)
{
    size_t shown = 0;
    size_t hidden = 0;
    for (size_t i = 0; i < r->tree_count; i++) {
        const struct sbox_verified_tree *t = &r->trees[i];
        if (t->state == SBOX_TREE_EQUAL)
            continue;
        sbox_buf_addf(out, "%s: ", sbox_esc(t->path));
        sbox_verify_state_text(out, t);
        sbox_buf_add_byte(out, '\n');
        for (size_t k = 0; k < t->difference_count; k++) {
            if (all || shown < DIFFERENCES_SHOWN) {
                add_difference(out, &t->differences[k]);
                shown++;
            } else {
                hidden++;
            }
        }
    }
    char count[SBOX_TEXT_SIZE];
    if (hidden > 0)
        sbox_buf_addf(out, "and %s more (--all lists them)\n", sbox_text_count(hidden, count));
}

static void add_differs(struct sbox_buf *out, const struct sbox_verify_result *r, bool all)
{
    struct totals sum = count_all(r);
    sbox_text_colour(out, SBOX_RED, "not as locked");
    sbox_buf_add_str(out, ": ");
    sbox_text_plural(out, sum.bad_trees, "tree", "trees");
    sbox_buf_add_str(out, " of ");
    sbox_text_plural(out, r->tree_count, "tree", "trees");
    if (sum.differences > 0) {
        sbox_buf_add_str(out, ", ");
        sbox_text_plural(out, sum.differences, "difference", "differences");
    }
    sbox_buf_add_byte(out, '\n');
    add_bad_trees(out, r, all);
}

static void add_text(struct sbox_buf *out, const struct sbox_verify_result *r, bool all)
{
    if (r->same)
        add_same(out, r);
    else
        add_differs(out, r, all);
    add_lock(out, r);
    sbox_text_caches(out, r->caches, r->cache_count);
}

int sbox_cmd_verify(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_session session;
    struct sbox_verify_result result = {0};
    enum sbox_verify_mode mode = o->fast ? SBOX_VERIFY_FAST : SBOX_VERIFY_FULL;
    sbox_report_init(&report, "verify", o->json, o->level == SBOX_LOG_QUIET, &err);
    sbox_session_init(&session);

    int r = sbox_verify_with(&session, o, "verify", mode, &result, &err);
    report.root = session.root.path;
    if (r == 0 && o->json)
        sbox_verify_json(&report.json, &result, mode);
    else if (r == 0)
        add_text(&report.out, &result, o->all);

    int status = r < 0 ? SBOX_EXIT_UNKNOWN : result.same ? SBOX_EXIT_OK : SBOX_EXIT_DIFFERS;
    status = sbox_report_finish(&report, status);
    sbox_verify_result_release(&result);
    sbox_session_release(&session);
    return status;
}
