/* The parts of a git directory that make git on the host execute something: programs in hooks, and
 * whatever config names (core.fsmonitor, core.sshCommand, filters ...). See
 * gitrepository-layout(5). Those that exist become read-only. Parts that do not exist yet are the
 * guard's to watch.
 *
 * A read-only mount holds a file, but not the directories above it: renaming the parent of a
 * mountpoint succeeds, and a new one could be put in its place. So each directory between `.git`
 * and such a part is pinned: what is a mountpoint itself cannot be renamed. No directory more than
 * that, since git cannot rename across a pin (EXDEV).
 *
 * What is protected never depends on a file that a command may remove: if it did (say, on HEAD), a
 * first run would remove the file and a second one would change the config. */
#include "sandbox/protect_list.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/strv.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

enum { GIT_DEPTH_MAX = 24, GIT_ENTRIES_MAX = 100000 };

struct git_walk {
    struct sbox_protects *list;
    const struct sbox_root *root;
    struct sbox_error *err;
    size_t entries; /* looked at below modules and worktrees */
};

static int add(const struct git_walk *walk, enum sbox_protect_kind kind, const char *path,
               const struct stat *st, const char *why)
{
    int r = sbox_protects_add(walk->list, kind, path, st, why);
    return r < 0 ? sbox_error_set(walk->err, -r, "protect '%s'", sbox_esc(path)) : 0;
}

static int join(const struct git_walk *walk, const char *dir, const char *name, char *ret)
{
    int n = snprintf(ret, PATH_MAX, "%s/%s", dir, name);
    return n < 0 || n >= PATH_MAX
               ? sbox_error_set(walk->err, ENAMETOOLONG, "protect '%s'", sbox_esc(dir))
               : 0;
}

/* Pins the directories of the workspace that hold `path`. */
static int pin_parents(const struct git_walk *walk, const char *path)
{
    char parent[PATH_MAX];
    struct stat st;
    (void)snprintf(parent, sizeof parent, "%s", path);
    for (char *slash; (slash = strrchr(parent, '/'));) {
        *slash = '\0';
        _cleanup_close_ int fd = sbox_open_beneath(walk->root->fd, parent, O_PATH | O_NOFOLLOW);
        if (fd < 0 || fstat(fd, &st) < 0)
            return sbox_error_set(walk->err, fd < 0 ? -fd : errno, "protect '%s'",
                                  sbox_esc(parent));
        int r = add(walk, SBOX_PROTECT_PIN, parent, &st, "holds what a git link leads to");
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_config(const char *path)
{
    return sbox_str_ends(path, "/config") || sbox_str_ends(path, "/config.worktree");
}

/* Read-only; a config that holds a secret (a token in a remote's URL, CI's extraheader) is shown
 * without it. git could not work without any config, so that what is not understood is empty. */
static int add_read_only(const struct git_walk *walk, int fd, const char *path,
                         const struct stat *st, bool config)
{
    _cleanup_conf_ struct sbox_conf conf = {.verdict = SBOX_CONF_CLEAN};
    int r = 0;
    if (!config || !S_ISREG(st->st_mode) || sbox_protects_shows(walk->list, walk->root, path))
        return add(walk, SBOX_PROTECT_RO, path, st, "git obeys it");
    r = sbox_protect_conf_read(fd, SBOX_CONF_GIT, &conf);
    if (r == 0 && conf.verdict == SBOX_CONF_CLEAN)
        return add(walk, SBOX_PROTECT_RO, path, st, "git obeys it");
    if (r == 0)
        r = sbox_protects_add_filtered(walk->list, SBOX_PROTECT_FILTER_GIT, path, st, &conf);
    return r < 0 ? sbox_error_set(walk->err, -r, "protect '%s'", sbox_esc(path)) : 0;
}

/* A part that is a link, to hooks kept in the work tree say. The link is held like a file; what it
 * leads to would still be writable. Outside the workspace nothing is. */
static int protect_linked(const struct git_walk *walk, const char *path)
{
    char target[PATH_MAX];
    struct stat st;
    int r = sbox_protect_link_target(walk->root, path, target, sizeof target, &st);
    if (r == -EXDEV)
        return 0;
    if (r < 0)
        return sbox_error_say(walk->err, -r,
                              "'%s' is a link that leads nowhere, so that a command could put "
                              "there what git obeys: remove it",
                              sbox_esc(path));
    _cleanup_close_ int fd = sbox_open_beneath(walk->root->fd, target, O_PATH | O_NOFOLLOW);
    struct stat now;
    if (fd < 0 || fstat(fd, &now) < 0 ||
        !sbox_fileid_equal(sbox_fileid_of(&st), sbox_fileid_of(&now)))
        return sbox_error_set(walk->err, fd < 0 ? -fd : ESTALE, "protect '%s'", sbox_esc(target));
    r = add_read_only(walk, fd, target, &st, is_config(path));
    return r < 0 ? r : pin_parents(walk, target);
}

/* One name below the git directory `dir`. 1 when it is there. */
static int protect_part(const struct git_walk *walk, int dirfd, const char *dir, const char *name,
                        enum sbox_protect_kind kind, const char *why)
{
    char path[PATH_MAX];
    struct stat st;
    int r = join(walk, dir, name, path);
    if (r < 0)
        return r;
    _cleanup_close_ int fd = sbox_open_beneath(dirfd, name, O_PATH | O_NOFOLLOW);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return sbox_error_set(walk->err, fd < 0 ? -fd : errno, "protect '%s'", sbox_esc(path));
    r = kind == SBOX_PROTECT_RO ? add_read_only(walk, fd, path, &st, is_config(path))
                                : add(walk, kind, path, &st, why);
    if (r == 0 && S_ISLNK(st.st_mode))
        r = protect_linked(walk, path);
    return r < 0 ? r : 1;
}

/* How many parts there are, or an error. */
static int protect_parts(const struct git_walk *walk, int dirfd, const char *dir)
{
    static const char *const parts[] = {"config",    "hooks",  "config.worktree",
                                        "commondir", "gitdir", "info/attributes"};
    int found = 0;
    int r = 0;
    for (size_t i = 0; r >= 0 && i < sizeof parts / sizeof *parts; i++) {
        r = protect_part(walk, dirfd, dir, parts[i], SBOX_PROTECT_RO, "git obeys it");
        found += r > 0;
    }
    if (r == 1) /* the last one is there: hold the directory that it lies in */
        r = protect_part(walk, dirfd, dir, "info", SBOX_PROTECT_PIN, "cannot be replaced");
    return r < 0 ? r : found;
}

/* In a repository these hold objects and branches, never another repository, and may be large. */
static bool is_bulk(const char *name)
{
    static const char *const bulk[] = {"objects", "refs", "logs", "lfs", "hooks", "info"};
    for (size_t i = 0; i < sizeof bulk / sizeof *bulk; i++)
        if (strcmp(name, bulk[i]) == 0)
            return true;
    return false;
}

static int walk_dir(struct git_walk *walk, int parent, const char *parent_path, const char *name,
                    unsigned depth);

static int walk_names(struct git_walk *walk, DIR *d, const char *path, bool repository,
                      unsigned depth)
{
    int found = 0;
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(d);
        if (!e)
            return errno ? sbox_error_set(walk->err, errno, "read '%s'", sbox_esc(path)) : found;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (++walk->entries > GIT_ENTRIES_MAX)
            return sbox_error_say(walk->err, E2BIG, "too many files below '%s'", sbox_esc(path));
        bool other = e->d_type != DT_DIR && e->d_type != DT_UNKNOWN;
        if (other || (repository && is_bulk(e->d_name)))
            continue;
        int r = walk_dir(walk, dirfd(d), path, e->d_name, depth + 1);
        if (r < 0)
            return r;
        found += r;
    }
}

/* The directory `name`, which may be a repository, hold some, or both: a submodule's name may hold
 * slashes (modules/x and modules/x/y), and submodules have submodules (modules/a/modules/b). How
 * many parts were found in it and below, or an error. */
static int walk_dir(struct git_walk *walk, int parent, const char *parent_path, const char *name,
                    unsigned depth)
{
    char path[PATH_MAX];
    struct stat st;
    int r = join(walk, parent_path, name, path);
    if (r < 0)
        return r;
    if (depth > GIT_DEPTH_MAX)
        return sbox_error_say(walk->err, E2BIG, "directories too deep at '%s'", sbox_esc(path));
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    DIR *d = fd < 0 || fstat(fd, &st) < 0 ? NULL : fdopendir(fd);
    if (!d) {
        r = sbox_error_set(walk->err, errno, "read '%s'", sbox_esc(path));
        sbox_close(fd);
        return r;
    }
    int own = protect_parts(walk, fd, path);
    bool repository = own > 0 || faccessat(fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    int below = own < 0 ? own : walk_names(walk, d, path, repository, depth);
    (void)closedir(d);
    if (below < 0)
        return below;
    if (repository || below > 0)
        r = add(walk, SBOX_PROTECT_PIN, path, &st, "cannot be replaced");
    return r < 0 ? r : own + below + repository;
}

static int protect_repository(struct git_walk *walk, int fd, const char *path,
                              const struct stat *st)
{
    int r = add(walk, SBOX_PROTECT_PIN, path, st, "cannot be replaced");
    if (r == 0)
        r = protect_parts(walk, fd, path);
    /* `modules` holds the repositories of submodules; `worktrees` says to linked work trees, which
     * may lie elsewhere on the host, whose config they obey. */
    if (r >= 0)
        r = walk_dir(walk, fd, path, "modules", 0);
    if (r >= 0)
        r = walk_dir(walk, fd, path, "worktrees", 0);
    return r < 0 ? r : 0;
}

/* A `.git` that is a link: what it leads to is the repository. Where that is no directory of the
 * workspace, a command cannot change it, or git does not obey it. */
static int protect_linked_repository(struct git_walk *walk, const char *link)
{
    char path[PATH_MAX];
    struct stat st;
    int r = sbox_protect_link_target(walk->root, link, path, sizeof path, &st);
    if (r < 0 || !S_ISDIR(st.st_mode))
        return 0;
    _cleanup_close_ int fd = sbox_open_beneath(walk->root->fd, path, O_PATH | O_DIRECTORY);
    if (fd < 0)
        return sbox_error_set(walk->err, -fd, "protect '%s'", sbox_esc(path));
    r = protect_repository(walk, fd, path, &st);
    return r < 0 ? r : pin_parents(walk, path);
}

int sbox_protects_add_git(struct sbox_protects *p, const struct sbox_root *root,
                          const struct sbox_scan_entry *entry, struct sbox_error *err)
{
    struct git_walk walk = {.list = p, .root = root, .err = err};
    struct stat st = {.st_dev = entry->id.dev, .st_ino = entry->id.ino, .st_mode = entry->mode};
    if (S_ISDIR(entry->mode))
        return protect_repository(&walk, entry->fd, entry->path, &st);
    /* A file, "gitdir: ...", or a link: it may not be pointed elsewhere. */
    int r = add(&walk, SBOX_PROTECT_RO, entry->path, &st, "git follows it");
    return r == 0 && S_ISLNK(entry->mode) ? protect_linked_repository(&walk, entry->path) : r;
}
