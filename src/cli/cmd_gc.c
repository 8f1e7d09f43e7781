/* sbox gc and sbox forget: what nobody refers to goes. */
#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/snapshots.h"
#include "cli/text.h"
#include "lock/leaving.h"
#include "project/lease.h"
#include "store/manifest.h"

#include <limits.h>

struct collector {
    struct sbox_manifest *manifest; /* NULL: there is none, nothing is referred to */
    struct sbox_error *err;
};

static int is_wanted(const struct sbox_digest *digest, void *context)
{
    const struct collector *c = context;
    return c->manifest ? sbox_manifest_refers(c->manifest, digest, c->err) : 0;
}

static int open_manifest(const struct sbox_datadir *d, struct sbox_manifest **ret,
                         struct sbox_error *err)
{
    struct sbox_error inner = SBOX_ERROR_INIT;
    int r = sbox_manifest_open(d->fd, d->path, false, ret, &inner);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        *err = inner;
    return r;
}

/* The snapshots are held alone: no lock is between "there already" and its transaction. */
static int collect(const struct sbox_datadir *d, bool preview, struct sbox_snapshots_swept *swept,
                   struct sbox_error *err)
{
    _cleanup_manifest_ struct sbox_manifest *m = NULL;
    struct sbox_snapshots s = SBOX_SNAPSHOTS_NONE;
    struct sbox_error inner = SBOX_ERROR_INIT;
    struct collector c = {.err = &inner};
    int r = sbox_snapshots_open(d, false, true, &s, err);
    if (r == -ENOENT)
        return 0;
    if (r == 0)
        r = open_manifest(d, &m, err);
    c.manifest = m;
    if (r == 0 && m && !preview)
        r = sbox_manifest_drop_units(m, err);
    if (r == 0)
        r = sbox_snapshots_sweep(&s, is_wanted, &c, preview, swept, err);
    if (inner.code)
        *err = inner; /* says more */
    sbox_snapshots_release(&s);
    return r;
}

static void add_swept(struct sbox_report *report, const struct sbox_snapshots_swept *swept,
                      bool preview)
{
    char text[SBOX_TEXT_SIZE];
    struct sbox_json *j = &report->json;
    if (report->json_wanted) {
        sbox_json_bool(j, "preview", preview);
        sbox_json_uint(j, "removed", swept->removed);
        sbox_json_uint(j, "removed_size", swept->removed_size);
        sbox_json_uint(j, "kept", swept->kept);
        sbox_json_uint(j, "kept_size", swept->kept_size);
        return;
    }
    sbox_text_plural(&report->out, swept->removed, "copy", "copies");
    sbox_buf_addf(&report->out, " %sremoved (%s), ", preview ? "would be " : "",
                  sbox_text_bytes(swept->removed_size, text));
    sbox_buf_addf(&report->out, "%s kept ", sbox_text_count(swept->kept, text));
    sbox_buf_addf(&report->out, "(%s)\n", sbox_text_bytes(swept->kept_size, text));
}

int sbox_cmd_gc(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_datadir data = {.fd = -1};
    struct sbox_snapshots_swept swept = {0};
    sbox_report_init(&report, "gc", o->json, o->level == SBOX_LOG_QUIET, &err);
    int r = sbox_datadir_open(getenv("HOME"), getenv("XDG_DATA_HOME"), false, &data, &err);
    if (r == 0 && data.fd >= 0)
        r = collect(&data, o->dry_run, &swept, &err);
    if (r == 0 && o->json)
        sbox_json_object(&report.json, NULL);
    if (r == 0)
        add_swept(&report, &swept, o->dry_run);
    if (r == 0 && o->json)
        sbox_json_end_object(&report.json);
    int status = sbox_report_finish(&report, r < 0 ? SBOX_EXIT_UNKNOWN : SBOX_EXIT_OK);
    sbox_datadir_release(&data);
    return status;
}

/* -- forget ------------------------------------------------------------------------------------ */

/* The project's root as it was locked: that of here, or a DIR that may be gone. */
static int find_root(struct sbox_session *s, const struct sbox_options *o, char **ret,
                     struct sbox_error *err)
{
    int r = 0;
    if (o->arg_count == 0) {
        r = sbox_session_find(s, o, err);
        if (r == 0)
            *ret = strdup(s->root.path);
    } else {
        char cwd[PATH_MAX];
        r = sbox_datadir_open(getenv("HOME"), getenv("XDG_DATA_HOME"), false, &s->data, err);
        *ret = realpath(o->args[0], NULL);
        if (r == 0 && !*ret && getcwd(cwd, sizeof cwd))
            *ret = sbox_leads_lexically(cwd, "link", o->args[0]);
    }
    return r == 0 && !*ret ? sbox_error_set(err, ENOMEM, "forget") : r;
}

/* The marker goes last: a run that finds it asks the manifest, which knows of no lock then. */
static int forget(struct sbox_session *s, const char *root, uint64_t *ret_locks,
                  struct sbox_error *err)
{
    _cleanup_manifest_ struct sbox_manifest *m = NULL;
    int r = s->data.fd < 0 ? -ENOENT : sbox_project_dir_open(&s->data, root, false, NULL);
    if (r == -ENOENT)
        return sbox_error_say(err, ENODATA, "no lock of '%s' is recorded", sbox_esc(root));
    if (r < 0)
        return sbox_error_set(err, -r, "open the project '%s'", sbox_esc(root));
    s->project_fd = r;
    r = sbox_lease_acquire(s->project_fd, true, "forget", SBOX_LEASE_WAIT_SECONDS, err);
    if (r < 0)
        return r;
    s->lease_fd = r;
    r = open_manifest(&s->data, &m, err);
    if (r == 0 && m)
        r = sbox_manifest_forget(m, root, ret_locks, err);
    if (r == 0 && unlinkat(s->project_fd, "locked", 0) < 0 && errno != ENOENT)
        r = sbox_error_set(err, errno, "remove the project's 'locked' marker");
    if (r == 0 && *ret_locks == 0)
        r = sbox_error_say(err, ENODATA, "no lock of '%s' is recorded", sbox_esc(root));
    return r;
}

int sbox_cmd_forget(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_session session;
    _cleanup_free_ char *root = NULL;
    uint64_t locks = 0;
    sbox_report_init(&report, "forget", o->json, o->level == SBOX_LOG_QUIET, &err);
    sbox_session_init(&session);
    int r = o->arg_count > 1 ? sbox_error_say(&err, EINVAL, "forget takes one DIR") : 0;
    if (r == 0)
        r = find_root(&session, o, &root, &err);
    report.root = root;
    if (r == 0)
        r = forget(&session, root, &locks, &err);
    if (r == 0 && o->json) {
        sbox_json_object(&report.json, NULL);
        sbox_json_uint(&report.json, "locks", locks);
        sbox_json_end_object(&report.json);
    } else if (r == 0) {
        sbox_buf_addf(&report.out, "forgotten: '%s', ", sbox_esc(root));
        sbox_text_plural(&report.out, locks, "lock", "locks");
        sbox_buf_add_str(&report.out, " ('sbox gc' removes the copies)\n");
    }
    int status = sbox_report_finish(&report, r < 0 ? SBOX_EXIT_UNKNOWN : SBOX_EXIT_OK);
    sbox_session_release(&session);
    return status;
}
