#include "sandbox/quarantine.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "project/git.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <time.h>

enum { CONFIG_MAX = 1 << 20, MODULE_DEPTH_MAX = 12, TREE_DEPTH_MAX = 64 };

struct quarantine {
    const struct sbox_root *root;
    const struct sbox_protect *protects;
    size_t protect_count;
    int project_dirfd;
    struct sbox_strv *moved;
    struct sbox_error *err;
};

/* -- judging --------------------------------------------------------------------------------------
 */

static int refuse_harmful(const char *key, const char *value, void *context)
{
    (void)context;
    return sbox_git_config_key_harmless(key, value) ? 0 : 1;
}

static bool config_harmless(int git)
{
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    int r = sbox_read_file_at(git, "config", CONFIG_MAX, &data, &size);
    if (r == -ENOENT)
        return true;
    return r == 0 && sbox_git_config_walk(data, size, refuse_harmful, NULL) == 0;
}

static bool hooks_harmless(int git)
{
    int fd = openat(git, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        (void)close(fd);
        return false;
    }
    bool harmless = true;
    const struct dirent *entry;
    while (harmless && (entry = readdir(dir)))
        harmless = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                   sbox_str_ends(entry->d_name, ".sample");
    (void)closedir(dir);
    return harmless;
}

static bool absent(int git, const char *name)
{
    return faccessat(git, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

bool sbox_repository_harmless(int git)
{
    return config_harmless(git) && hooks_harmless(git) && absent(git, "commondir") &&
           absent(git, "config.worktree");
}

static bool was_protected(const struct quarantine *q, const char *path)
{
    char config[PATH_MAX];
    if ((size_t)snprintf(config, sizeof config, "%s/config", path) >= sizeof config)
        return false;
    for (size_t i = 0; i < q->protect_count; i++)
        if ((q->protects[i].kind == SBOX_PROTECT_RO ||
             q->protects[i].kind == SBOX_PROTECT_FILTER_GIT) &&
            strcmp(q->protects[i].path, config) == 0)
            return true;
    return false;
}

/* What git itself writes for a linked work tree: .git/worktrees/NAME, which borrows the config of
 * the repository two directories up, and of no other. */
static bool worktree_harmless(int git, const char *path)
{
    static const char parent[] = ".git/worktrees/";
    _cleanup_free_ char *common = NULL;
    if (!sbox_str_starts(path, parent) || strchr(path + sizeof parent - 1, '/') ||
        !absent(git, "config.worktree") ||
        sbox_read_file_at(git, "commondir", 64, &common, NULL) < 0)
        return false;
    return strcmp(common, "../..\n") == 0 || strcmp(common, "../..") == 0;
}

/* Where a `.git` file leads, relative to the root and without ".."; false where that is not inside
 * the project's own repository. An absolute path is taken by its spelling, a relative one only in
 * git's own: up to the root, then down. */
static bool inside_own_git(const struct quarantine *q, const struct sbox_scan_entry *e,
                           const char *target, char *ret, size_t size)
{
    const char *at = target[0] == '/' ? sbox_path_below(target, q->root->path) : target;
    if (target[0] != '/') {
        for (const char *s = e->path; at && (s = strchr(s, '/')); s++)
            at = sbox_str_starts(at, "../") ? at + 3 : NULL;
    }
    if (!at || (strcmp(at, ".git") != 0 && !sbox_str_starts(at, ".git/")) || strstr(at, ".."))
        return false;
    return (size_t)snprintf(ret, size, "%s", at) < size;
}

static bool git_file_target(const struct quarantine *q, const struct sbox_scan_entry *e, char *ret,
                            size_t size)
{
    _cleanup_free_ char *data = NULL;
    _cleanup_free_ char *target = NULL;
    size_t length = 0;
    _cleanup_close_ int fd = sbox_open_beneath(q->root->fd, e->path, O_RDONLY | O_NONBLOCK);
    return fd >= 0 && sbox_read_file_fd(fd, 8192, &data, &length) == 0 &&
           sbox_git_file_parse(data, length, &target) == 0 &&
           inside_own_git(q, e, target, ret, size);
}

/* A `.git` file may lead into the project's own repository, to what was protected, or to what is
 * harmless where it really lies: a name below `.git` may be new, or a link to somewhere else. */
static bool git_file_harmless(const struct quarantine *q, const struct sbox_scan_entry *e)
{
    char path[PATH_MAX];
    if (!git_file_target(q, e, path, sizeof path))
        return false;
    _cleanup_close_ int git = sbox_open_beneath(q->root->fd, path, O_PATH | O_DIRECTORY);
    return git >= 0 && (was_protected(q, path) || sbox_repository_harmless(git) ||
                        worktree_harmless(git, path));
}

static bool harmless(const struct quarantine *q, const struct sbox_scan_entry *e)
{
    if (S_ISREG(e->mode))
        return git_file_harmless(q, e);
    return S_ISDIR(e->mode) && sbox_repository_harmless(e->fd);
}

/* The file was there before, but what it leads to may not have been: a stale work tree, a submodule
 * that was never fetched. Elsewhere than in `.git` it is the user's own arrangement. */
static bool old_file_turned(const struct quarantine *q, const struct sbox_scan_entry *e)
{
    char path[PATH_MAX];
    struct stat st;
    return S_ISREG(e->mode) && git_file_target(q, e, path, sizeof path) &&
           fstatat(q->root->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && !git_file_harmless(q, e);
}

/* -- moving ---------------------------------------------------------------------------------------
 */

static int move_away(struct quarantine *q, const char *path)
{
    char name[64];
    char aside[PATH_MAX];
    if (q->project_dirfd < 0)
        return -ENOTDIR;
    if (mkdirat(q->project_dirfd, "quarantine", 0700) < 0 && errno != EEXIST)
        return sbox_error_set(q->err, errno, "make the quarantine");
    (void)snprintf(name, sizeof name, "quarantine/%lld-%zu", (long long)time(NULL),
                   q->moved->count);
    int r = 0;
    if (renameat(q->root->fd, path, q->project_dirfd, name) < 0)
        r = -errno;
    if (r == -EXDEV) {
        if ((size_t)snprintf(aside, sizeof aside, "%s.quarantined-by-sbox", path) >= sizeof aside)
            return sbox_error_set(q->err, ENAMETOOLONG, "quarantine '%.200s'", sbox_esc(path));
        r = renameat(q->root->fd, path, q->root->fd, aside) < 0 ? -errno : 0;
    }
    if (r < 0)
        return sbox_error_set(q->err, -r, "quarantine '%s'", sbox_esc(path));
    return sbox_strv_add(q->moved, path) < 0 ? sbox_error_set(q->err, ENOMEM, "quarantine") : 0;
}

/* -- looking --------------------------------------------------------------------------------------
 */

static const struct sbox_scan_entry *was_there(const struct sbox_scan *before,
                                               const struct sbox_scan_entry *e)
{
    for (size_t i = 0; i < before->count; i++)
        if (before->entries[i].kind == e->kind && strcmp(before->entries[i].path, e->path) == 0)
            return sbox_fileid_equal(before->entries[i].id, e->id) ? &before->entries[i] : NULL;
    return NULL;
}

static int look_at_modules(struct quarantine *q, int parent, const char *parent_path,
                           const char *name, unsigned depth)
{
    char path[PATH_MAX];
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -errno;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        (void)close(fd);
        return -ENOMEM;
    }
    int r = depth > MODULE_DEPTH_MAX ||
                    (size_t)snprintf(path, sizeof path, "%s/%s", parent_path, name) >= sizeof path
                ? -ENAMETOOLONG
                : 0;
    bool repository = r == 0 && faccessat(fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (repository && !was_protected(q, path) && !sbox_repository_harmless(fd)) {
        r = move_away(q, path);
    } else if (repository) {
        r = look_at_modules(q, fd, path, "modules", depth + 1);
    } else {
        const struct dirent *entry;
        while (r == 0 && (entry = readdir(dir)))
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                r = look_at_modules(q, fd, path, entry->d_name, depth + 1);
    }
    (void)closedir(dir);
    return r;
}

/* What cannot be judged must not keep the rest from being judged; and that something must be moved
 * (-ENOTDIR: there is no place yet) is news before any failure. */
static int first_failure(int earlier, int r)
{
    if (earlier == -ENOTDIR || r == -ENOTDIR)
        return -ENOTDIR;
    return earlier < 0 ? earlier : r;
}

static int look_below(struct quarantine *q, const struct sbox_scan_entry *e, unsigned depth);

/* An entry of a scan of directory `above`, in which nothing was protected: all of it is judged. */
static int look_at_unprotected(struct quarantine *q, const struct sbox_scan_entry *above,
                               const struct sbox_scan_entry *e, unsigned depth)
{
    char path[PATH_MAX];
    struct sbox_scan_entry whole = *e;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", above->path, e->path) >= sizeof path)
        return -ENAMETOOLONG;
    whole.path = path;
    if (e->kind == SBOX_SCAN_GIT)
        return harmless(q, &whole) ? 0 : move_away(q, path);
    return look_below(q, &whole, depth + 1);
}

/* The scan does not enter trees, nor hidden directories (`.env.d`), but git does. */
static int look_below(struct quarantine *q, const struct sbox_scan_entry *e, unsigned depth)
{
    struct sbox_scan scan = {0};
    struct sbox_scan_request request = {.root_fd = e->fd, .project_dirfd = -1, .alone = true};
    if (!S_ISDIR(e->mode))
        return 0;
    if (depth > TREE_DEPTH_MAX)
        return sbox_error_say(q->err, E2BIG, "trees in trees, too deep, at '%s'",
                              sbox_esc(e->path));
    int r = sbox_scan_run(&request, &scan, q->err);
    for (size_t i = 0; i < scan.count; i++)
        r = first_failure(r, look_at_unprotected(q, e, &scan.entries[i], depth));
    sbox_scan_release(&scan);
    return r;
}

static int look_at_git(struct quarantine *q, const struct sbox_scan *before,
                       const struct sbox_scan_entry *e)
{
    if (!was_there(before, e))
        return harmless(q, e) ? 0 : move_away(q, e->path);
    if (old_file_turned(q, e))
        return move_away(q, e->path);
    return S_ISDIR(e->mode) ? look_at_modules(q, e->fd, e->path, "modules", 0) : 0;
}

/* A tree that was there lay behind a throw-away layer, unless git tracks it: then it was writable.
 * A hidden directory that was there was hidden. */
static int look_at_entry(struct quarantine *q, const struct sbox_scan *before,
                         const struct sbox_scan_entry *e)
{
    if (e->kind == SBOX_SCAN_GIT)
        return look_at_git(q, before, e);
    if (e->kind != SBOX_SCAN_TREE && e->kind != SBOX_SCAN_SECRET)
        return 0;
    const struct sbox_scan_entry *old = was_there(before, e);
    bool writable = !old || (e->kind == SBOX_SCAN_TREE && old->tracked);
    return writable ? look_below(q, e, 0) : 0;
}

int sbox_quarantine_run(const struct sbox_root *root, const struct sbox_scan *before,
                        const struct sbox_protect *protects, size_t protect_count,
                        int project_dirfd, struct sbox_strv *ret_moved, struct sbox_error *err)
{
    struct quarantine q = {.root = root,
                           .protects = protects,
                           .protect_count = protect_count,
                           .project_dirfd = project_dirfd,
                           .moved = ret_moved,
                           .err = err};
    struct sbox_scan after = {0};
    struct sbox_scan_request request = {
        .root_fd = root->fd, .project_dirfd = project_dirfd, .alone = true};
    int r = sbox_scan_run(&request, &after, err);
    for (size_t i = 0; i < after.count; i++)
        r = first_failure(r, look_at_entry(&q, before, &after.entries[i]));
    if (r < 0 && err && err->code == 0)
        (void)sbox_error_set(err, -r, "look at new repositories");
    sbox_scan_release(&after);
    return r;
}
