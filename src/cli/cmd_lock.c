#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/change_text.h"
#include "cli/cli.h"
#include "cli/keep.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/text.h"
#include "cli/tree_text.h"
#include "lock/lock.h"
#include "project/mark.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---- text ---- */

static void add_headline(struct sbox_buf *out, const struct sbox_lock_result *r)
{
    char text[SBOX_TEXT_SIZE];
    sbox_text_colour(out, SBOX_GREEN, "locked");
    sbox_buf_add_byte(out, ' ');
    sbox_text_plural(out, r->tree_count, "tree", "trees");
    sbox_buf_add_str(out, ": ");
    sbox_text_plural(out, r->packages, "package", "packages");
    sbox_buf_add_str(out, ", ");
    sbox_text_plural(out, r->entries, "entry", "entries");
    sbox_buf_addf(out, ", %s", sbox_text_bytes(r->bytes, text));
    sbox_buf_addf(out, " in %s\n", sbox_text_duration(r->elapsed_ms, text));
    sbox_buf_addf(out, "fingerprint %s\n", sbox_text_short(&r->fingerprint, text));
}

static void add_trees(struct sbox_buf *out, const struct sbox_lock_result *r)
{
    size_t width = 0;
    for (size_t i = 0; i < r->tree_count; i++) {
        size_t w = sbox_text_width(r->trees[i].path);
        width = w > width ? w : width;
    }
    for (size_t i = 0; i < r->tree_count; i++) {
        const struct sbox_locked_tree *t = &r->trees[i];
        char text[SBOX_TEXT_SIZE];
        int pad = (int)(width - sbox_text_width(t->path));
        sbox_buf_addf(out, "  %s%*s  ", sbox_esc(t->path), pad, "");
        sbox_text_plural(out, t->packages, "package", "packages");
        sbox_buf_addf(out, ", %s%s\n", sbox_text_bytes(t->bytes, text),
                      t->carried   ? " (as it was locked before)"
                      : t->outside ? " (outside of the project)"
                                   : "");
    }
}

static void add_changes(struct sbox_buf *out, const struct sbox_lock_result *r, bool all)
{
    if (r->first) {
        sbox_buf_add_str(out, "the first lock of this project\n");
        return;
    }
    if (r->change_count == 0) {
        sbox_buf_add_str(out, "nothing changed since the last lock\n");
        return;
    }
    sbox_buf_add_str(out, "changed since the last lock:\n");
    bool few = r->change_count < SBOX_CHANGES_SHOWN;
    size_t shown = all || few ? r->change_count : SBOX_CHANGES_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        sbox_buf_add_str(out, "  ");
        sbox_text_change(out, &r->changes[i], r->tree_count > 1);
        sbox_buf_add_byte(out, '\n');
    }
    char count[SBOX_TEXT_SIZE];
    if (shown < r->change_count)
        sbox_buf_addf(out, "  and %s more (-v lists all)\n",
                      sbox_text_count(r->change_count - shown, count));
}

static void add_links(struct sbox_buf *out, const struct sbox_lock_result *r)
{
    for (size_t i = 0; i < r->link_count; i++) {
        const struct sbox_leaving_link *l = &r->links[i];
        if (l->interpreter)
            continue;
        sbox_buf_addf(out, "leaves the project: %s%s%s -> ", sbox_esc(l->tree),
                      l->path[0] ? "/" : "", sbox_esc(l->path));
        sbox_buf_addf(out, "%s%s\n", sbox_esc(l->target), l->real ? "" : " (leads nowhere)");
    }
}

static void add_text(struct sbox_buf *out, const struct sbox_lock_result *r,
                     const struct sbox_keep *keep, bool verbose)
{
    add_headline(out, r);
    if (r->tree_count > 1 || verbose)
        add_trees(out, r);
    if (verbose && keep)
        sbox_keep_text(out, keep);
    add_changes(out, r, verbose);
    add_links(out, r);
    sbox_text_caches(out, r->caches, r->cache_count);
}

/* ---- JSON ---- */

static void json_trees(struct sbox_json *j, const struct sbox_lock_result *r)
{
    sbox_json_array(j, "trees");
    for (size_t i = 0; i < r->tree_count; i++) {
        const struct sbox_locked_tree *t = &r->trees[i];
        sbox_json_object(j, NULL);
        sbox_json_path(j, "path", t->path, strlen(t->path));
        sbox_json_string(j, "kind", sbox_tree_kind_text(t->kind));
        sbox_json_bool(j, "carried", t->carried);
        sbox_json_bool(j, "outside", t->outside);
        sbox_json_uint(j, "packages", t->packages);
        sbox_json_uint(j, "entries", t->entries);
        sbox_json_uint(j, "bytes", t->bytes);
        sbox_json_digest(j, "fingerprint", &t->fingerprint);
        sbox_json_digest(j, "local", &t->local);
        sbox_json_end_object(j);
    }
    sbox_json_end_array(j);
}

static void json_changes(struct sbox_json *j, const struct sbox_lock_result *r)
{
    sbox_json_array(j, "changes");
    for (size_t i = 0; i < r->change_count; i++) {
        const struct sbox_lock_change *c = &r->changes[i];
        sbox_json_object(j, NULL);
        sbox_json_string(j, "change", sbox_change_text(c->kind));
        sbox_json_path(j, "tree", c->tree, strlen(c->tree));
        sbox_json_path(j, "path", c->path, strlen(c->path));
        sbox_json_string(j, "package", c->name[0] ? c->name : NULL);
        sbox_json_string(j, "was", c->was[0] ? c->was : NULL);
        sbox_json_string(j, "is", c->is[0] ? c->is : NULL);
        sbox_json_end_object(j);
    }
    sbox_json_end_array(j);
}

static void json_links(struct sbox_json *j, const struct sbox_lock_result *r)
{
    sbox_json_array(j, "links");
    for (size_t i = 0; i < r->link_count; i++) {
        const struct sbox_leaving_link *l = &r->links[i];
        sbox_json_object(j, NULL);
        sbox_json_path(j, "tree", l->tree, strlen(l->tree));
        sbox_json_path(j, "path", l->path, strlen(l->path));
        sbox_json_path(j, "target", l->target, strlen(l->target));
        if (l->real)
            sbox_json_path(j, "real", l->real, strlen(l->real));
        else
            sbox_json_null(j, "real");
        sbox_json_bool(j, "interpreter", l->interpreter);
        sbox_json_end_object(j);
    }
    sbox_json_end_array(j);
}

static void add_json(struct sbox_json *j, const struct sbox_lock_result *r,
                     const struct sbox_keep *keep)
{
    sbox_json_object(j, NULL);
    sbox_json_int(j, "id", r->id);
    sbox_json_time(j, "time", r->time);
    sbox_json_bool(j, "first", r->first);
    sbox_json_digest(j, "fingerprint", &r->fingerprint);
    sbox_json_digest(j, "local", &r->local);
    sbox_json_uint(j, "packages", r->packages);
    sbox_json_uint(j, "entries", r->entries);
    sbox_json_uint(j, "bytes", r->bytes);
    sbox_json_uint(j, "elapsed_ms", r->elapsed_ms);
    if (keep)
        sbox_keep_json(j, keep);
    else
        sbox_json_null(j, "snapshots");
    json_trees(j, r);
    json_changes(j, r);
    json_links(j, r);
    sbox_json_paths(j, "caches", r->caches, r->cache_count);
    sbox_json_end_object(j);
}

/* ---- the work ---- */

/* Below a locked project the root is the outer one: locking it from here would surprise whoever
 * meant the inner one. */
static int check_inside_locked(const struct sbox_session *s, const struct sbox_options *o,
                               struct sbox_error *err)
{
    const struct sbox_root *root = &s->root;
    if (o->workspace || root->kind != SBOX_ROOT_LOCKED || strcmp(root->cwd, root->path) == 0)
        return 0;
    return sbox_error_say(err, EINVAL,
                          "this directory lies in the locked project '%s': lock that with "
                          "--workspace='%s', or this directory alone with --workspace=.",
                          sbox_esc(root->path), sbox_esc(root->path));
}

/* Whether a PATH can be a tree is for lock to say; that it is there is looked at now. */
static int check_paths(const struct sbox_session *s, const struct sbox_options *o,
                       struct sbox_error *err)
{
    _cleanup_close_ int cwd = open(s->root.cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (cwd < 0)
        return sbox_error_set(err, errno, "open '%s'", sbox_esc(s->root.cwd));
    for (size_t i = 0; i < o->arg_count; i++) {
        struct stat st;
        if (fstatat(cwd, o->args[i], &st, 0) < 0)
            return sbox_error_set(err, errno, "'%s'", sbox_esc(o->args[i]));
        if (!S_ISDIR(st.st_mode))
            return sbox_error_set(err, ENOTDIR, "'%s'", sbox_esc(o->args[i]));
    }
    return 0;
}

static int check_has_trees(struct sbox_session *s, const struct sbox_options *o,
                           struct sbox_error *err)
{
    int r = sbox_session_look(s, err);
    if (r < 0 || s->root.locked || o->arg_count > 0 || sbox_session_has_tree(s))
        return r;
    return sbox_error_say(err, ENOENT,
                          "no dependency trees in '%s' (node_modules, .venv, vendor, .yarn): "
                          "install first, or name one: sbox lock PATH",
                          sbox_esc(s->root.path));
}

/* Everything that can be wrong with the input is found before the first byte is written. */
static int prepare(struct sbox_session *s, const struct sbox_options *o, struct sbox_error *err)
{
    int r = sbox_session_find(s, o, err);
    if (r == 0)
        r = check_inside_locked(s, o, err);
    if (r == 0)
        r = check_paths(s, o, err);
    if (r == 0)
        r = check_has_trees(s, o, err);
    return r;
}

static int make(struct sbox_session *s, const struct sbox_options *o, struct sbox_keep *keep,
                struct sbox_lock_result *result, struct sbox_error *err)
{
    struct sbox_progress_line line;
    sbox_progress_begin(&line, "locking", o->level == SBOX_LOG_QUIET);
    const struct sbox_lock_request request = {
        .datadir = &s->data,
        .root = &s->root,
        .scan = &s->scan,
        .paths = (const char *const *)o->args,
        .path_count = o->arg_count,
        .home = getenv("HOME"),
        .progress = sbox_progress_draw,
        .progress_context = &line,
        .keep = keep ? sbox_keep_units : NULL,
        .keep_context = keep,
    };
    int r = sbox_lock_make(&request, result, err);
    sbox_progress_end(&line);
    return r < 0 ? r : sbox_mark_clear(s->project_fd, err);
}

int sbox_cmd_lock(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_session session;
    struct sbox_lock_result result = {0};
    struct sbox_keep keep = {.datadir = &session.data,
                             .quiet = o->level == SBOX_LOG_QUIET,
                             .snapshots = SBOX_SNAPSHOTS_NONE};
    struct sbox_keep *kept = o->no_snapshot ? NULL : &keep;
    sbox_report_init(&report, "lock", o->json, o->level == SBOX_LOG_QUIET, &err);
    sbox_session_init(&session);

    int r = prepare(&session, o, &err);
    report.root = session.root.path;
    if (r == 0)
        r = sbox_session_enter_exclusive(&session, "lock", &err);
    if (r == 0)
        r = make(&session, o, kept, &result, &err);
    if (r == 0 && o->json)
        add_json(&report.json, &result, kept);
    else if (r == 0)
        add_text(&report.out, &result, kept, o->level == SBOX_LOG_VERBOSE);

    int exit_status = sbox_report_finish(&report, r < 0 ? SBOX_EXIT_UNKNOWN : SBOX_EXIT_OK);
    sbox_lock_result_release(&result);
    sbox_snapshots_release(&keep.snapshots);
    sbox_session_release(&session);
    return exit_status;
}
