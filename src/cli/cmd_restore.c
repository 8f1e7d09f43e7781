/* sbox restore: verify, put back what differs, verify again: only what that says counts. */
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "cli/cli.h"
#include "cli/path_filter.h"
#include "cli/report.h"
#include "cli/restore.h"
#include "cli/text.h"
#include "cli/tree_text.h"
#include "cli/verify_common.h"

#include <fcntl.h>
#include <sys/stat.h>

/* One entry to be put back. */
struct piece {
    char *path; /* below the tree */
    const struct sbox_stored_member *member;
    uint64_t index;
    uint8_t type;
    uint16_t mode;
};

struct restorer {
    const struct sbox_options *o;
    struct sbox_report *report;
    struct sbox_session *session;
    struct sbox_strv only;
    struct sbox_extract extract;
    uint64_t restored;
    uint64_t removed;
    uint64_t left; /* added, and not removed */
    uint64_t failed;
    struct sbox_error first; /* of what failed */
};

static void say(struct restorer *x, const char *what, const char *tree, const char *path)
{
    if (x->o->json) {
        _cleanup_free_ char *full = NULL;
        if (asprintf(&full, "%s%s%s", tree, *path ? "/" : "", path) < 0)
            return;
        sbox_json_object(&x->report->json, NULL);
        sbox_json_string(&x->report->json, "action", what);
        sbox_json_path(&x->report->json, "path", full, strlen(full));
        sbox_json_end_object(&x->report->json);
        return;
    }
    sbox_buf_addf(&x->report->out, "%s%s %s%s", x->o->dry_run ? "would be " : "", what,
                  sbox_esc(tree), *path ? "/" : "");
    sbox_escape(&x->report->out, path, strlen(path));
    sbox_buf_add_byte(&x->report->out, '\n');
}

/* One entry that cannot be had does not stop the others. */
static void note(struct restorer *x, int result, const struct sbox_error *err)
{
    if (result == 0)
        return;
    if (x->failed++ == 0)
        x->first = *err;
}

/* -- what to put back -------------------------------------------------------------------------- */

static int add_piece(struct sbox_buf *pieces, const struct sbox_located *at, const char *path,
                     size_t size)
{
    struct piece p = {.path = strndup(path, size),
                      .member = at->member,
                      .index = at->index,
                      .type = at->record->type,
                      .mode = at->record->mode};
    sbox_buf_add(pieces, &p, sizeof p);
    return p.path && !sbox_buf_failed(pieces) ? 0 : -ENOMEM;
}

/* Package by package, so that each copy is read once, from front to back. Members lie in order of
 * their paths: a directory comes before the packages in it. */
static int piece_order(const void *a, const void *b)
{
    const struct piece *x = a;
    const struct piece *y = b;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool wanted(const struct restorer *x, const char *tree, const char *path)
{
    _cleanup_free_ char *full = NULL;
    if (asprintf(&full, "%s%s%s", tree, *path ? "/" : "", path) < 0)
        return false;
    return sbox_path_filter_passes(&x->only, full);
}

static int add_differences(struct restorer *x, const struct sbox_verified_tree *tree,
                           struct sbox_finder *finder, struct sbox_buf *pieces)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < tree->difference_count; i++) {
        const struct sbox_difference *d = &tree->differences[i];
        struct sbox_located at;
        if (d->verdict == SBOX_VERDICT_ADDED || !wanted(x, tree->path, d->path))
            continue;
        r = sbox_finder_locate(finder, d->path, strlen(d->path), &at);
        if (r == 0)
            r = add_piece(pieces, &at, d->path, strlen(d->path));
    }
    return r;
}

/* Of a tree that is gone: all of it. */
static int add_member(struct restorer *x, const struct sbox_verified_tree *tree,
                      const struct sbox_stored_member *member, struct sbox_buf *pieces)
{
    uint32_t count = 0;
    int r = sbox_unit_count(member->records.data, member->records.size, &count);
    struct sbox_record *all = r == 0 ? calloc((size_t)count + 1, sizeof *all) : NULL;
    if (!all)
        return r < 0 ? r : -ENOMEM;
    r = sbox_unit_decode(member->records.data, member->records.size, all, count);
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        _cleanup_buf_ struct sbox_buf path = {0};
        const struct sbox_located at = {.member = member, .index = i, .record = &all[i]};
        sbox_buf_add(&path, member->path.data, member->path.size);
        if (path.size > 0 && all[i].path_size > 0)
            sbox_buf_add_byte(&path, '/');
        sbox_buf_add(&path, all[i].path, all[i].path_size);
        sbox_buf_add_byte(&path, 0);
        if (sbox_buf_failed(&path))
            r = -ENOMEM;
        else if (wanted(x, tree->path, path.data))
            r = add_piece(pieces, &at, path.data, path.size - 1);
    }
    free(all);
    return r;
}

/* -- doing it ---------------------------------------------------------------------------------- */

static void put_back(struct restorer *x, const struct sbox_verified_tree *tree, int fd,
                     struct sbox_finder *finder, const struct piece *p)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_located at;
    int r = 0;
    if (!x->o->dry_run) {
        r = sbox_finder_locate(finder, p->path, strlen(p->path), &at);
        if (r == 0)
            r = sbox_restore_entry(&x->extract, fd, p->path, &at, x->o->remove_added, &err);
        if (r < 0 && !err.code)
            (void)sbox_error_set(&err, -r, "put back '%s'", sbox_esc(p->path));
    }
    note(x, r, &err);
    if (r == 0) {
        x->restored++;
        say(x, "restored", tree->path, p->path);
    }
}

/* The deepest first: a directory may take away the right to write into it. */
static void set_modes(struct restorer *x, int fd, const struct piece *pieces, size_t count)
{
    for (size_t i = count; i-- > 0 && !x->o->dry_run;) {
        struct sbox_error err = SBOX_ERROR_INIT;
        if (pieces[i].type == SBOX_ENTRY_DIRECTORY)
            note(x, sbox_restore_mode(fd, pieces[i].path, pieces[i].mode, &err), &err);
    }
}

static void remove_added(struct restorer *x, const struct sbox_verified_tree *tree)
{
    for (size_t i = tree->difference_count; i-- > 0;) {
        const struct sbox_difference *d = &tree->differences[i];
        struct sbox_error err = SBOX_ERROR_INIT;
        if (d->verdict != SBOX_VERDICT_ADDED || !wanted(x, tree->path, d->path))
            continue;
        if (!x->o->remove_added) {
            x->left++;
            continue;
        }
        int r = x->o->dry_run ? 0 : sbox_restore_remove(tree->fd, d->path, &err);
        note(x, r, &err);
        if (r == 0) {
            x->removed++;
            say(x, "removed", tree->path, d->path);
        }
    }
}

/* The directory of a tree that is gone. */
static int make_tree(struct restorer *x, const struct sbox_verified_tree *tree,
                     const struct sbox_stored_tree *was, struct sbox_error *err)
{
    int root = x->session->root.fd;
    if (tree->outside || was->link.data)
        return sbox_error_say(err, EOPNOTSUPP, "'%s' is gone and %s: put it back by hand",
                              sbox_esc(tree->path),
                              was->link.data ? "was a link" : "lies outside of the project");
    if (x->o->dry_run)
        return fcntl(root, F_DUPFD_CLOEXEC, 0);
    const char *slash = strrchr(tree->path, '/');
    _cleanup_close_ int parent = -1;
    if (slash) {
        _cleanup_free_ char *above = strndup(tree->path, (size_t)(slash - tree->path));
        parent = above ? sbox_open_beneath(root, above, O_PATH | O_DIRECTORY) : -ENOMEM;
    } else {
        parent = fcntl(root, F_DUPFD_CLOEXEC, 0);
    }
    if (parent < 0)
        return sbox_error_set(err, parent == -1 ? errno : -parent, "open the parent of '%s'",
                              sbox_esc(tree->path));
    const char *name = slash ? slash + 1 : tree->path;
    if (mkdirat(parent, name, 0700) < 0)
        return sbox_error_set(err, errno, "create '%s'", sbox_esc(tree->path));
    int fd = sbox_open_beneath(parent, name, O_PATH | O_DIRECTORY);
    return fd < 0 ? sbox_error_set(err, -fd, "open '%s'", sbox_esc(tree->path)) : fd;
}

static int gather(struct restorer *x, const struct sbox_verified_tree *tree,
                  const struct sbox_stored_tree *was, struct sbox_finder *finder,
                  struct sbox_buf *pieces)
{
    if (tree->state != SBOX_TREE_ABSENT)
        return add_differences(x, tree, finder, pieces);
    int r = 0;
    for (size_t i = 0; r == 0 && i < was->member_count; i++)
        r = add_member(x, tree, &was->members[i], pieces);
    return r;
}

static int restore_tree(struct restorer *x, const struct sbox_verified_tree *tree,
                        const struct sbox_stored_tree *was, struct sbox_error *err)
{
    _cleanup_buf_ struct sbox_buf buf = {0};
    _cleanup_close_ int made = -1;
    struct sbox_finder finder = {.tree = was};
    int r = gather(x, tree, was, &finder, &buf);
    struct piece *pieces = (void *)buf.data;
    size_t count = buf.size / sizeof *pieces;
    if (r < 0)
        r = sbox_error_set(err, -r, "restore '%s'", sbox_esc(tree->path));
    if (r == 0 && count > 0 && tree->state == SBOX_TREE_ABSENT)
        r = made = make_tree(x, tree, was, err);
    if (count > 0)
        qsort(pieces, count, sizeof *pieces, piece_order);
    int fd = made >= 0 ? made : tree->fd;
    for (size_t i = 0; r >= 0 && i < count; i++)
        put_back(x, tree, fd, &finder, &pieces[i]);
    if (r >= 0) {
        set_modes(x, fd, pieces, count);
        remove_added(x, tree);
    }
    for (size_t i = 0; i < count; i++)
        free(pieces[i].path);
    sbox_finder_release(&finder);
    return r < 0 ? r : 0;
}

static int restore_all(struct restorer *x, const struct sbox_verify_result *result,
                       struct sbox_error *err)
{
    const struct sbox_stored_lock *lock = sbox_verify_lock(result);
    int r = sbox_extract_init(&x->session->data, &x->extract, err);
    for (size_t i = 0; r == 0 && i < result->tree_count; i++) {
        const struct sbox_verified_tree *tree = &result->trees[i];
        if (tree->state != SBOX_TREE_DIFFERS && tree->state != SBOX_TREE_ABSENT)
            continue;
        for (size_t k = 0; r == 0 && k < lock->tree_count; k++)
            if (strcmp(lock->trees[k].path.data, tree->path) == 0)
                r = restore_tree(x, tree, &lock->trees[k], err);
    }
    sbox_extract_release(&x->extract);
    return r;
}

/* What was asked for and still differs, by the verdict of a second look. */
static int look_again(struct restorer *x, const struct sbox_options *whole, uint64_t *ret,
                      struct sbox_error *err)
{
    struct sbox_verify_result result = {0};
    int r = sbox_session_look(x->session, err);
    if (r == 0)
        r = sbox_verify_entered(x->session, whole, SBOX_VERIFY_FAST, &result, err);
    for (size_t i = 0; r == 0 && i < result.tree_count; i++) {
        const struct sbox_verified_tree *tree = &result.trees[i];
        *ret += tree->state == SBOX_TREE_ABSENT && wanted(x, tree->path, "");
        for (size_t k = 0; k < tree->difference_count; k++)
            *ret += tree->differences[k].verdict != SBOX_VERDICT_ADDED &&
                    wanted(x, tree->path, tree->differences[k].path);
    }
    sbox_verify_result_release(&result);
    return r;
}

static void add_summary(struct restorer *x)
{
    struct sbox_buf *out = &x->report->out;
    const char *would = x->o->dry_run ? "would be " : "";
    sbox_text_plural(out, x->restored, "entry", "entries");
    sbox_buf_addf(out, " %srestored", would);
    if (x->removed > 0) {
        sbox_buf_add_str(out, ", ");
        sbox_text_plural(out, x->removed, "entry", "entries");
        sbox_buf_addf(out, " %sremoved", would);
    }
    sbox_buf_add_byte(out, '\n');
    if (x->left > 0) {
        sbox_text_plural(out, x->left, "entry was", "entries were");
        sbox_buf_add_str(out, " added and left there ('--delete' removes them)\n");
    }
}

static int restore(struct restorer *x, struct sbox_error *err)
{
    struct sbox_verify_result result = {0};
    struct sbox_options whole = *x->o;
    struct sbox_json *j = &x->report->json;
    uint64_t remaining = 0;
    whole.arg_count = 0;
    int r = sbox_verify_entered(x->session, &whole, SBOX_VERIFY_FAST, &result, err);
    if (r == 0)
        r = sbox_path_filter_make(&x->session->root, x->o->args, x->o->arg_count, &x->only, err);
    if (x->o->json) {
        sbox_json_object(j, NULL);
        sbox_json_array(j, "entries");
    }
    if (r == 0)
        r = restore_all(x, &result, err);
    sbox_verify_result_release(&result);
    if (r == 0 && !x->o->dry_run && x->restored + x->failed > 0)
        r = look_again(x, &whole, &remaining, err);
    if (x->o->json) {
        sbox_json_end_array(j);
        sbox_json_bool(j, "preview", x->o->dry_run);
        sbox_json_uint(j, "left", x->left);
        sbox_json_uint(j, "remaining", remaining);
        sbox_json_end_object(j);
    } else if (r == 0) {
        add_summary(x);
    }
    if (r == 0 && x->failed > 0)
        return sbox_error_say(err, x->first.code, "%llu not put back, the first: %s",
                              (unsigned long long)x->failed, x->first.message);
    if (r == 0 && remaining > 0)
        return sbox_error_say(err, EAGAIN,
                              "%llu still different from the lock: 'sbox verify' "
                              "names them",
                              (unsigned long long)remaining);
    return r;
}

static int enter(struct sbox_session *s, const struct sbox_options *o, struct sbox_error *err)
{
    int r = sbox_session_find(s, o, err);
    if (r == 0 && !sbox_project_marked_locked(&s->data, s->root.path))
        r = sbox_verify_never_locked(&s->root, err);
    return r == 0 ? sbox_session_enter_exclusive(s, "restore", err) : r;
}

int sbox_cmd_restore(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_session session;
    sbox_report_init(&report, "restore", o->json, o->level == SBOX_LOG_QUIET, &err);
    sbox_session_init(&session);
    struct restorer x = {
        .o = o, .report = &report, .session = &session, .extract = SBOX_EXTRACT_NONE};
    int r = enter(&session, o, &err);
    report.root = session.root.path;
    if (r == 0)
        r = restore(&x, &err);
    int status = sbox_report_finish(&report, r < 0 ? SBOX_EXIT_UNKNOWN : SBOX_EXIT_OK);
    sbox_strv_release(&x.only);
    sbox_session_release(&session);
    return status;
}
