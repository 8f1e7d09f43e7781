#include "base/escape.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/snapshot_status.h"
#include "cli/text.h"
#include "cli/tree_text.h"
#include "cli/verify_common.h"

static void add_root(struct sbox_buf *out, const struct sbox_root *root)
{
    sbox_buf_addf(out, "root    %s (%s)\n", sbox_esc(root->path), sbox_root_kind_text(root->kind));
}

static void add_tree(struct sbox_buf *out, const char *path, size_t width, bool first)
{
    int pad = (int)(width - sbox_text_width(path));
    sbox_buf_addf(out, "%s%s%*s  ", first ? "trees   " : "        ", sbox_esc(path), pad, "");
}

static void add_verified(struct sbox_buf *out, const struct sbox_verify_result *r)
{
    size_t width = 0;
    for (size_t i = 0; i < r->tree_count; i++) {
        size_t w = sbox_text_width(r->trees[i].path);
        width = w > width ? w : width;
    }
    for (size_t i = 0; i < r->tree_count; i++) {
        add_tree(out, r->trees[i].path, width, i == 0);
        sbox_verify_state_text(out, &r->trees[i]);
        sbox_buf_add_byte(out, '\n');
    }
}

static void add_text(struct sbox_buf *out, const struct sbox_root *root,
                     const struct sbox_verify_result *r)
{
    char text[SBOX_TEXT_SIZE];
    add_root(out, root);
    sbox_buf_addf(out, "lock    %s", sbox_text_local_time(r->lock_time, text));
    sbox_buf_addf(out, ", fingerprint %s", sbox_text_short(&r->fingerprint, text));
    sbox_buf_add_str(out, ", ");
    sbox_text_plural(out, r->packages, "package", "packages");
    sbox_buf_add_byte(out, '\n');
    add_verified(out, r);
    if (r->same)
        sbox_text_colour(out, SBOX_GREEN, "clean\n");
    else
        sbox_buf_add_str(out, "'sbox verify' names each difference; 'sbox lock' accepts them\n");
    sbox_text_caches(out, r->caches, r->cache_count);
}

/* Never locked: what there is to lock. */
static void add_unlocked_text(struct sbox_buf *out, const struct sbox_session *s)
{
    bool first = true;
    add_root(out, &s->root);
    sbox_buf_add_str(out, "lock    none\n");
    for (size_t i = 0; i < s->scan.count; i++) {
        const struct sbox_scan_entry *e = &s->scan.entries[i];
        if (e->kind != SBOX_SCAN_TREE)
            continue;
        add_tree(out, e->path, sbox_text_width(e->path), first);
        sbox_text_colour(out, SBOX_RED, "never locked\n");
        first = false;
    }
    if (first)
        sbox_buf_add_str(out, "trees   none\n");
}

static void add_unlocked_json(struct sbox_json *j, const struct sbox_session *s)
{
    sbox_json_object(j, NULL);
    sbox_json_bool(j, "same", false);
    sbox_json_null(j, "lock");
    sbox_json_array(j, "trees");
    for (size_t i = 0; i < s->scan.count; i++) {
        const struct sbox_scan_entry *e = &s->scan.entries[i];
        if (e->kind != SBOX_SCAN_TREE)
            continue;
        sbox_json_object(j, NULL);
        sbox_json_path(j, "path", e->path, strlen(e->path));
        sbox_json_string(j, "kind", sbox_tree_kind_text(e->tree));
        sbox_json_string(j, "state", sbox_tree_state_text(SBOX_TREE_UNLOCKED));
        sbox_json_end_object(j);
    }
    sbox_json_end_array(j);
    sbox_json_end_object(j);
}

int sbox_cmd_status(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_session session;
    struct sbox_verify_result result = {0};
    sbox_report_init(&report, "status", o->json, o->level == SBOX_LOG_QUIET, &err);
    sbox_session_init(&session);

    int r = sbox_verify_with(&session, o, "status", SBOX_VERIFY_FAST, &result, &err);
    report.root = session.root.path;
    if (r == -ENODATA && o->json)
        add_unlocked_json(&report.json, &session);
    else if (r == -ENODATA)
        add_unlocked_text(&report.out, &session);
    else if (r == 0 && o->json)
        sbox_verify_json(&report.json, &result, SBOX_VERIFY_FAST);
    else if (r == 0)
        add_text(&report.out, &session.root, &result);
    if (r == 0 && !o->json && o->level == SBOX_LOG_VERBOSE)
        r = sbox_snapshot_status(&report.out, &session, &err);

    int status = r < 0 ? SBOX_EXIT_UNKNOWN : result.same ? SBOX_EXIT_OK : SBOX_EXIT_DIFFERS;
    status = sbox_report_finish(&report, status);
    sbox_verify_result_release(&result);
    sbox_session_release(&session);
    return status;
}
