#include "cli/log_locks.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/change_text.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/text.h"
#include "cli/tree_text.h"
#include "lock/changes.h"
#include "lock/verify.h"

enum { LATEST = 20 };

struct log {
    const struct sbox_options *o;
    struct sbox_report *report;
    struct sbox_buf locks; /* struct sbox_lock_summary, the latest first */
};

static int keep(const struct sbox_lock_summary *lock, void *context)
{
    struct log *log = context;
    sbox_buf_add(&log->locks, lock, sizeof *lock);
    return sbox_buf_failed(&log->locks) ? -ENOMEM : 0;
}

static const struct sbox_stored_tree *find(const struct sbox_stored_lock *lock,
                                           const struct sbox_bytes *path)
{
    for (size_t i = 0; i < lock->tree_count; i++)
        if (lock->trees[i].path.size == path->size &&
            memcmp(lock->trees[i].path.data, path->data, path->size) == 0)
            return &lock->trees[i];
    return NULL;
}

static int compare(const struct sbox_stored_lock *was, const struct sbox_stored_lock *is,
                   struct sbox_buf *ret)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < is->tree_count; i++)
        r = sbox_changes_of_tree(find(was, &is->trees[i].path), &is->trees[i], ret);
    for (size_t i = 0; r == 0 && i < was->tree_count; i++)
        if (!find(is, &was->trees[i].path))
            r = sbox_changes_of_tree(&was->trees[i], NULL, ret);
    return r;
}

/* -- output ------------------------------------------------------------------------------------ */

static void add_line(struct sbox_buf *out, const struct sbox_lock_summary *lock)
{
    char text[SBOX_TEXT_SIZE];
    sbox_buf_addf(out, "%lld  ", (long long)lock->id);
    sbox_text_colour(out, SBOX_YELLOW, sbox_text_local_time(lock->time, text));
    sbox_buf_addf(out, "  %s  ", sbox_text_short(&lock->fingerprint, text));
    sbox_text_plural(out, lock->trees, "tree", "trees");
    sbox_buf_add_str(out, ", ");
    sbox_text_plural(out, lock->packages, "package", "packages");
    sbox_buf_addf(out, ", %s\n", sbox_text_bytes(lock->bytes, text));
}

static void open_json(struct sbox_json *j, const struct sbox_lock_summary *lock)
{
    sbox_json_object(j, NULL);
    sbox_json_int(j, "id", lock->id);
    sbox_json_time(j, "time", lock->time);
    sbox_json_digest(j, "fingerprint", &lock->fingerprint);
    sbox_json_digest(j, "local", &lock->local);
    sbox_json_uint(j, "trees", lock->trees);
    sbox_json_uint(j, "packages", lock->packages);
    sbox_json_uint(j, "entries", lock->entries);
    sbox_json_uint(j, "bytes", lock->bytes);
}

static void add_change(struct log *log, const struct sbox_lock_change *c, bool name_tree)
{
    struct sbox_json *j = &log->report->json;
    if (!log->o->json) {
        sbox_buf_add_str(&log->report->out, "    ");
        sbox_text_change(&log->report->out, c, name_tree);
        sbox_buf_add_byte(&log->report->out, '\n');
        return;
    }
    sbox_json_object(j, NULL);
    sbox_json_string(j, "change", sbox_change_text(c->kind));
    sbox_json_path(j, "tree", c->tree, strlen(c->tree));
    sbox_json_path(j, "path", c->path, strlen(c->path));
    sbox_json_string(j, "package", c->name[0] ? c->name : NULL);
    sbox_json_string(j, "was", c->was[0] ? c->was : NULL);
    sbox_json_string(j, "is", c->is[0] ? c->is : NULL);
    sbox_json_end_object(j);
}

static int add_changes(struct log *log, const struct sbox_stored_lock *was,
                       const struct sbox_stored_lock *is)
{
    _cleanup_buf_ struct sbox_buf changes = {0};
    int r = compare(was, is, &changes);
    struct sbox_lock_change *all = (void *)changes.data;
    size_t count = changes.size / sizeof *all;
    if (log->o->json)
        sbox_json_array(&log->report->json, "changes");
    for (size_t i = 0; i < count; i++) {
        add_change(log, &all[i], is->tree_count > 1);
        sbox_change_release(&all[i]);
    }
    if (log->o->json)
        sbox_json_end_array(&log->report->json);
    return r;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* The first lock of a project has nothing before it: no list of everything. */
static int add_patch(struct log *log, struct sbox_manifest *m, const char *root,
                     const struct sbox_lock_summary *lock, const struct sbox_lock_summary *before,
                     struct sbox_error *err)
{
    struct sbox_stored_lock is = {0};
    struct sbox_stored_lock was = {0};
    if (!log->o->patch || !before)
        return 0;
    int r = sbox_manifest_read_lock(m, root, lock->id, &is, err);
    if (r == 0)
        r = sbox_manifest_read_lock(m, root, before->id, &was, err);
    if (r == 0 && add_changes(log, &was, &is) < 0)
        r = sbox_error_set(err, ENOMEM, "log");
    sbox_stored_lock_release(&was);
    sbox_stored_lock_release(&is);
    return r;
}

static int add_all(struct log *log, struct sbox_manifest *m, const char *root, size_t shown,
                   struct sbox_error *err)
{
    const struct sbox_lock_summary *locks = (void *)log->locks.data;
    size_t count = log->locks.size / sizeof *locks;
    int r = 0;
    for (size_t i = 0; r == 0 && i < count && i < shown; i++) {
        if (log->o->json)
            open_json(&log->report->json, &locks[i]);
        else
            add_line(&log->report->out, &locks[i]);
        r = add_patch(log, m, root, &locks[i], i + 1 < count ? &locks[i + 1] : NULL, err);
        if (log->o->json)
            sbox_json_end_object(&log->report->json);
    }
    return r;
}

static int read_all(struct log *log, const struct sbox_session *s, struct sbox_error *err)
{
    _cleanup_manifest_ struct sbox_manifest *m = NULL;
    struct sbox_error inner = SBOX_ERROR_INIT;
    unsigned shown = log->o->all ? INT32_MAX : LATEST;
    if (s->data.fd < 0)
        return sbox_verify_never_locked(&s->root, err);
    int r = sbox_manifest_open(s->data.fd, s->data.path, false, &m, &inner);
    if (r == 0) /* one more, to compare the last one shown with */
        r = sbox_manifest_each(m, s->root.path, shown + 1U, keep, log, &inner);
    if (r == -ENOENT || (r == 0 && log->locks.size == 0))
        return sbox_verify_never_locked(&s->root, err);
    if (r == 0)
        r = add_all(log, m, s->root.path, shown, &inner);
    if (r < 0)
        *err = inner;
    return r;
}

int sbox_log_locks(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_session session;
    struct log log = {.o = o, .report = &report};
    sbox_report_init(&report, "log", o->json, o->level == SBOX_LOG_QUIET, &err);
    sbox_session_init(&session);
    int r = sbox_session_find(&session, o, &err);
    report.root = session.root.path;
    if (o->json) {
        sbox_json_object(&report.json, NULL);
        sbox_json_array(&report.json, "locks");
    }
    if (r == 0)
        r = read_all(&log, &session, &err);
    if (o->json) {
        sbox_json_end_array(&report.json);
        sbox_json_end_object(&report.json);
    }
    int status = sbox_report_finish(&report, r < 0 ? SBOX_EXIT_UNKNOWN : SBOX_EXIT_OK);
    sbox_buf_release(&log.locks);
    sbox_session_release(&session);
    return status;
}
