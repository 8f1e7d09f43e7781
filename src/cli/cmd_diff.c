/* sbox diff: verify, fast, then what was and what is for each difference. */
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/strv.h"
#include "cli/cli.h"
#include "cli/diff.h"
#include "cli/path_filter.h"
#include "cli/report.h"
#include "cli/text.h"
#include "cli/tree_text.h"
#include "cli/verify_common.h"

struct differ {
    const struct sbox_options *o;
    struct sbox_report *report;
    const struct sbox_session *session;
    const struct sbox_verify_result *result;
    struct sbox_strv only; /* from the root; none: all */
    struct sbox_extract extract;
    uint64_t shown;
    uint64_t bad_trees; /* absent or never locked */
};

static const struct sbox_stored_tree *stored(const struct differ *d, const char *path)
{
    const struct sbox_stored_lock *lock = sbox_verify_lock(d->result);
    for (size_t i = 0; i < lock->tree_count; i++)
        if (strcmp(lock->trees[i].path.data, path) == 0)
            return &lock->trees[i];
    return NULL;
}

static bool wants_text(const struct differ *d)
{
    return !d->o->stat && !d->o->name_only;
}

static int fill(struct differ *d, struct sbox_finder *finder, struct sbox_diff_entry *e,
                struct sbox_error *err)
{
    struct sbox_error inner = SBOX_ERROR_INIT;
    enum sbox_verdict verdict = e->difference->verdict;
    bool content = wants_text(d) && verdict != SBOX_VERDICT_MODE && verdict != SBOX_VERDICT_XATTR;
    const char *path = e->difference->path;
    int r = 0;
    if (verdict != SBOX_VERDICT_ADDED)
        r = sbox_diff_was(&d->extract, finder, path, content, &e->was, &inner);
    if (r == -ENODATA || r == -EBADMSG) {
        e->note = strdup(inner.message);
        r = e->note ? 0 : -ENOMEM;
    } else if (r < 0) {
        *err = inner;
        return r;
    }
    return r == 0 ? sbox_diff_is(e->tree->fd, path, content, &e->is, err) : r;
}

/* Is there something to compare line by line? A side that is not there counts as empty. */
static bool has_text(const struct sbox_diff_entry *e)
{
    const struct sbox_diff_side *was = &e->was;
    const struct sbox_diff_side *is = &e->is;
    if (e->note || (was->content < 0 && is->content < 0))
        return false;
    return (was->content >= 0 || !was->there) && (is->content >= 0 || !is->there);
}

static int show_text(struct differ *d, struct sbox_diff_entry *e)
{
    _cleanup_buf_ struct sbox_buf diff = {0};
    bool cut = false;
    bool text = has_text(e);
    if (text) {
        int r = sbox_diff_run(e, &diff, &cut);
        if (r < 0) {
            sbox_buf_clear(&diff);
            if (asprintf(&e->note, "diff: %s", strerror(-r)) < 0)
                return -ENOMEM;
        }
    }
    if (d->o->json)
        sbox_diff_json(&d->report->json, e, &diff, cut);
    else
        sbox_diff_text(&d->report->out, e, text ? &diff : NULL, cut);
    return 0;
}

static int show(struct differ *d, struct sbox_finder *finder, const struct sbox_verified_tree *tree,
                const struct sbox_difference *difference, struct sbox_error *err)
{
    __attribute__((cleanup(sbox_diff_entry_release))) struct sbox_diff_entry e = {
        .tree = tree, .difference = difference, .was = {.content = -1}, .is = {.content = -1}};
    if (asprintf(&e.path, "%s%s%s", tree->path, difference->path[0] ? "/" : "", difference->path) <
        0)
        return sbox_error_set(err, ENOMEM, "diff");
    if (!sbox_path_filter_passes(&d->only, e.path))
        return 0;
    d->shown++;
    if (d->o->name_only && !d->o->json) {
        sbox_buf_addf(&d->report->out, "%s\n", sbox_esc(e.path));
        return 0;
    }
    int r = fill(d, finder, &e, err);
    if (r == 0 && show_text(d, &e) < 0)
        r = sbox_error_set(err, ENOMEM, "diff");
    return r;
}

/* A tree that is absent, or that was never locked: one line, there is nothing to compare. */
static void show_tree_state(struct differ *d, const struct sbox_verified_tree *tree)
{
    if (!sbox_path_filter_passes(&d->only, tree->path))
        return;
    d->bad_trees++;
    if (d->o->json)
        return;
    sbox_buf_addf(&d->report->out, "%s%s", sbox_esc(tree->path), d->o->name_only ? "" : ": ");
    if (!d->o->name_only)
        sbox_verify_state_text(&d->report->out, tree);
    sbox_buf_add_byte(&d->report->out, '\n');
}

static int show_tree(struct differ *d, const struct sbox_verified_tree *tree,
                     struct sbox_error *err)
{
    struct sbox_finder finder = {.tree = stored(d, tree->path)};
    if (tree->state == SBOX_TREE_ABSENT || tree->state == SBOX_TREE_UNLOCKED)
        show_tree_state(d, tree);
    int r = 0;
    for (size_t i = 0; r == 0 && finder.tree && i < tree->difference_count; i++)
        r = show(d, &finder, tree, &tree->differences[i], err);
    sbox_finder_release(&finder);
    return r;
}

static void json_head(struct sbox_json *j, const struct sbox_verify_result *r)
{
    sbox_json_object(j, NULL);
    sbox_json_object(j, "lock");
    sbox_json_int(j, "id", r->lock_id);
    sbox_json_time(j, "time", r->lock_time);
    sbox_json_digest(j, "fingerprint", &r->fingerprint);
    sbox_json_end_object(j);
    sbox_json_array(j, "trees");
    for (size_t i = 0; i < r->tree_count; i++) {
        sbox_json_object(j, NULL);
        sbox_json_path(j, "path", r->trees[i].path, strlen(r->trees[i].path));
        sbox_json_string(j, "state", sbox_tree_state_text(r->trees[i].state));
        sbox_json_end_object(j);
    }
    sbox_json_end_array(j);
    sbox_json_array(j, "differences");
}

static int show_all(struct differ *d, struct sbox_error *err)
{
    struct sbox_json *j = &d->report->json;
    int r = sbox_extract_init(&d->session->data, &d->extract, err);
    if (r < 0)
        return r;
    if (d->o->json)
        json_head(j, d->result);
    for (size_t i = 0; r == 0 && i < d->result->tree_count; i++)
        r = show_tree(d, &d->result->trees[i], err);
    sbox_extract_release(&d->extract);
    if (d->o->json) {
        sbox_json_end_array(j);
        sbox_json_bool(j, "same", r == 0 && d->shown + d->bad_trees == 0);
        sbox_json_end_object(j);
    } else if (d->o->stat && d->shown > 0) {
        sbox_text_plural(&d->report->out, d->shown, "difference", "differences");
        sbox_buf_add_byte(&d->report->out, '\n');
    }
    return r;
}

int sbox_cmd_diff(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_session session;
    struct sbox_verify_result result = {0};
    struct sbox_options whole = *o;
    sbox_report_init(&report, "diff", o->json, o->level == SBOX_LOG_QUIET, &err);
    sbox_session_init(&session);
    struct differ d = {.o = o,
                       .report = &report,
                       .session = &session,
                       .result = &result,
                       .extract = SBOX_EXTRACT_NONE};

    whole.arg_count = 0; /* PATHs are picked from the result: they may lie inside of trees */
    int r = sbox_verify_with(&session, &whole, "diff", SBOX_VERIFY_FAST, &result, &err);
    report.root = session.root.path;
    if (r == 0)
        r = sbox_path_filter_make(&session.root, o->args, o->arg_count, &d.only, &err);
    if (r == 0)
        r = show_all(&d, &err);

    int status = r < 0                       ? SBOX_EXIT_UNKNOWN
                 : d.shown + d.bad_trees > 0 ? SBOX_EXIT_DIFFERS
                                             : SBOX_EXIT_OK;
    status = sbox_report_finish(&report, status);
    sbox_strv_release(&d.only);
    sbox_verify_result_release(&result);
    sbox_session_release(&session);
    return status;
}
