/* How a root is found.
 *
 * 1. The starting directory is opened, and its canonical path is asked from the kernel
 *    (/proc/self/fd), so that a deleted directory, a link or /proc/self/fd/N all end in one place.
 * 2. The ancestors are looked at by name, upwards: first for a locked project and a `.git`, then,
 *    if there is none, for a package manifest. A parent that cannot be searched has neither.
 *    Places that may not be a root (root_rules.h) are passed over: a `~/.git` with dotfiles or a
 *    `/tmp/package.json` that somebody planted must not widen the workspace.
 * 3. The result is opened again from `/` without following any link, and compared with what was
 *    found in step 1: a directory that was swapped in between is refused. */
#include "project/root.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/strv.h"
#include "project/root_rules.h"

#include <fcntl.h>
#include <limits.h>

/* One directory on the way, and what the walk upwards needs to judge it. */
struct search {
    const struct sbox_root_request *request;
    char *home;  /* canonical, or NULL */
    char *start; /* canonical starting directory */
    int start_fd;
    uid_t start_owner;
};

static void search_release(struct search *s)
{
    free(s->home);
    free(s->start);
    sbox_close(s->start_fd);
}

const char *sbox_root_kind_text(enum sbox_root_kind kind)
{
    switch (kind) {
    case SBOX_ROOT_GIVEN:
        return "--workspace";
    case SBOX_ROOT_LOCKED:
        return "locked project";
    case SBOX_ROOT_GIT:
        return "git work tree";
    case SBOX_ROOT_MANIFEST:
        return "package manifest";
    case SBOX_ROOT_CWD:
        return "current directory";
    }
    return "?";
}

void sbox_root_release(struct sbox_root *root)
{
    free(root->path);
    free(root->cwd);
    sbox_close(root->fd);
    *root = (struct sbox_root){.fd = -1};
}

/* The kernel's own name of an open directory. It says nothing about deleted ones reliably in the
 * text (a directory may be called "x (deleted)"), hence st_nlink. */
static int canonical_path(int fd, const char *shown, char **ret, struct stat *ret_st,
                          struct sbox_error *err)
{
    char link[64];
    char path[PATH_MAX];
    if (fstat(fd, ret_st) < 0)
        return sbox_error_set(err, errno, "stat '%s'", sbox_esc(shown));
    if (ret_st->st_nlink == 0)
        return sbox_error_say(err, ENOENT,
                              "%s was deleted: change to a directory that exists, or use -C DIR",
                              strcmp(shown, ".") == 0 ? "the current directory" : sbox_esc(shown));
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path);
    if (n < 0)
        return sbox_error_set(err, errno, "find the path of '%s' (is /proc mounted?)",
                              sbox_esc(shown));
    if ((size_t)n >= sizeof path - 1)
        return sbox_error_set(err, ENAMETOOLONG, "'%s'", sbox_esc(shown));
    path[n] = '\0';
    if (path[0] != '/')
        return sbox_error_say(err, EINVAL,
                              "'%s' cannot be reached from the root directory: use -C DIR",
                              sbox_esc(shown));
    *ret = strdup(path);
    return *ret ? 0 : sbox_error_set(err, ENOMEM, "remember the path of a directory");
}

/* `shown` may be any name a caller gives, links included: what counts is where it leads. */
static int open_named(const char *name, int *ret_fd, char **ret_path, struct stat *ret_st,
                      struct sbox_error *err)
{
    _cleanup_close_ int fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return sbox_error_set(err, errno, "open the directory '%s'", sbox_esc(name));
    int r = canonical_path(fd, name, ret_path, ret_st, err);
    if (r == 0)
        *ret_fd = TAKE_FD(fd);
    return r;
}

/* An absolute canonical path, opened without following a link. */
static int open_canonical(const char *path)
{
    _cleanup_close_ int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return -errno;
    while (*path == '/')
        path++;
    return sbox_open_beneath(top, *path ? path : ".", O_PATH | O_DIRECTORY);
}

/* --- may it be one? --------------------------------------------------------------------------- */

static int check_git_owner(int fd, const char *path, uid_t directory_owner, struct sbox_error *err)
{
    static const int ways[] = {AT_SYMLINK_NOFOLLOW, 0}; /* a link, and where it leads */
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct stat st;
        if (fstatat(fd, ".git", &st, ways[i]) == 0 &&
            !sbox_root_owner_fine(geteuid(), st.st_uid, directory_owner))
            return sbox_error_say(err, EPERM,
                                  "'%s/.git' belongs to another user (uid %u): work as that user, "
                                  "or choose another root with --workspace DIR",
                                  sbox_esc(path), (unsigned)st.st_uid);
    }
    return 0;
}

static int check_data_directory(const char *path, const struct sbox_datadir *d,
                                struct sbox_error *err)
{
    if (!d || !d->path)
        return 0;
    if (sbox_path_within(d->path, path))
        return sbox_error_say(err, EPERM,
                              "'%s' holds sbox's own data directory '%s': choose another root with "
                              "--workspace DIR, or another place for the data with XDG_DATA_HOME",
                              sbox_esc(path), sbox_esc(d->path));
    if (sbox_path_within(path, d->path))
        return sbox_error_say(err, EPERM, "'%s' lies in sbox's own data directory: use -C DIR",
                              sbox_esc(path));
    return 0;
}

static int check_allowed(const struct search *s, const struct sbox_root *root,
                         struct sbox_error *err)
{
    const char *why = sbox_root_forbidden(root->path, s->home);
    if (!why && root->kind == SBOX_ROOT_CWD && sbox_root_looks_like_home(root->path))
        why = "looks like a home directory";
    if (why)
        return sbox_error_say(err, EPERM,
                              "'%s' %s and cannot be a project: change to the project, or use "
                              "-C DIR or --workspace DIR",
                              sbox_esc(root->path), why);
    int r = check_data_directory(root->path, s->request->datadir, err);
    return r < 0 ? r : check_git_owner(root->fd, root->path, root->owner, err);
}

/* --- where is it? ----------------------------------------------------------------------------- */

static bool has_git(const char *directory)
{
    char name[PATH_MAX];
    struct stat st;
    int n = snprintf(name, sizeof name, "%s/.git", directory);
    return n > 0 && (size_t)n < sizeof name &&
           fstatat(AT_FDCWD, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Only what its owner and we could have put there: anybody can drop a package.json into a scratch
 * directory above the project. */
static bool has_manifest(const char *directory, uid_t start_owner)
{
    char name[PATH_MAX];
    struct stat st;
    for (size_t i = 0; sbox_root_manifests[i]; i++) {
        int n = snprintf(name, sizeof name, "%s/%s", directory, sbox_root_manifests[i]);
        if (n > 0 && (size_t)n < sizeof name &&
            fstatat(AT_FDCWD, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            (st.st_uid == geteuid() || st.st_uid == start_owner))
            return true;
    }
    return false;
}

static bool is_kind(const struct search *s, const char *directory, enum sbox_root_kind kind)
{
    if (kind == SBOX_ROOT_LOCKED)
        return s->request->datadir && sbox_project_marked_locked(s->request->datadir, directory);
    if (sbox_root_forbidden(directory, s->home))
        return false;
    return kind == SBOX_ROOT_GIT ? has_git(directory) : has_manifest(directory, s->start_owner);
}

/* The nearest ancestor-or-self of the start of that kind, as the length of its path; 0: none. */
static size_t nearest(const struct search *s, enum sbox_root_kind kind)
{
    char path[PATH_MAX];
    size_t n = strlen(s->start);
    memcpy(path, s->start, n + 1);
    while (n > 1) {
        if (is_kind(s, path, kind))
            return n;
        while (n > 0 && path[--n] != '/')
            continue;
        path[n] = '\0';
    }
    return 0;
}

/* Fills path and kind. */
static int choose(const struct search *s, struct sbox_root *root, struct sbox_error *err)
{
    static const enum sbox_root_kind order[] = {SBOX_ROOT_LOCKED, SBOX_ROOT_GIT,
                                                SBOX_ROOT_MANIFEST};
    size_t length = strlen(s->start);
    root->kind = SBOX_ROOT_CWD;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        size_t n = nearest(s, order[i]);
        if (n > 0) {
            root->kind = order[i];
            length = n;
            break;
        }
    }
    root->path = strndup(s->start, length);
    return root->path ? 0 : sbox_error_set(err, ENOMEM, "remember the project's root");
}

/* --- the two ways to a root ------------------------------------------------------------------- */

/* Opens root->path and makes sure that the starting directory is still where it was seen. */
static int open_found(const struct search *s, struct sbox_root *root, struct sbox_error *err)
{
    _cleanup_close_ int fd = open_canonical(root->path);
    if (fd < 0)
        return sbox_error_set(err, -fd, "open the project's root '%s'", sbox_esc(root->path));
    const char *below = sbox_path_below(s->start, root->path);
    _cleanup_close_ int again =
        sbox_open_beneath(fd, below && *below ? below : ".", O_PATH | O_DIRECTORY);
    struct stat was, is;
    if (again < 0 || fstat(again, &is) < 0 || fstat(s->start_fd, &was) < 0 ||
        !sbox_fileid_equal(sbox_fileid_of(&was), sbox_fileid_of(&is)))
        return sbox_error_say(err, EAGAIN,
                              "'%s' is not what its path leads to (moved, or mounted over): change "
                              "to it again, or use -C DIR",
                              sbox_esc(s->start));
    root->cwd = strdup(s->start);
    root->fd = TAKE_FD(fd);
    return root->cwd ? 0 : sbox_error_set(err, ENOMEM, "remember the starting directory");
}

/* --workspace: the start is the current directory or -C where that lies inside, else the workspace
 * itself; a -C outside is a contradiction. */
static int open_given(const struct search *s, struct sbox_root *root, struct sbox_error *err)
{
    struct stat st;
    root->kind = SBOX_ROOT_GIVEN;
    int r = open_named(s->request->workspace, &root->fd, &root->path, &st, err);
    if (r < 0)
        return r;
    bool inside = s->start && sbox_path_within(s->start, root->path);
    if (!inside && s->request->directory)
        return sbox_error_say(err, EINVAL, "-C '%s' lies outside the workspace '%s'",
                              sbox_esc(s->request->directory), sbox_esc(root->path));
    root->cwd = strdup(inside ? s->start : root->path);
    return root->cwd ? 0 : sbox_error_set(err, ENOMEM, "remember the starting directory");
}

static int describe(const struct search *s, struct sbox_root *root, struct sbox_error *err)
{
    struct stat st;
    if (fstat(root->fd, &st) < 0)
        return sbox_error_set(err, errno, "stat '%s'", sbox_esc(root->path));
    root->id = sbox_fileid_of(&st);
    root->owner = st.st_uid;
    root->locked =
        s->request->datadir && sbox_project_marked_locked(s->request->datadir, root->path);
    return 0;
}

static int start_search(struct search *s, struct sbox_error *err)
{
    const struct sbox_root_request *q = s->request;
    struct stat st;
    /* With --workspace alone, a current directory that was deleted does not matter. */
    bool needed = q->directory || !q->workspace;
    if (q->home && q->home[0] == '/')
        s->home = realpath(q->home, NULL);
    int r = open_named(q->directory ? q->directory : ".", &s->start_fd, &s->start, &st,
                       needed ? err : NULL);
    if (r == 0)
        s->start_owner = st.st_uid;
    return needed ? r : 0;
}

int sbox_root_find(const struct sbox_root_request *request, struct sbox_root *ret,
                   struct sbox_error *err)
{
    _cleanup_(search_release) struct search s = {.request = request, .start_fd = -1};
    _cleanup_(sbox_root_release) struct sbox_root root = {.fd = -1};
    int r = start_search(&s, err);
    if (r == 0 && request->workspace)
        r = open_given(&s, &root, err);
    else if (r == 0 && (r = choose(&s, &root, err)) == 0)
        r = open_found(&s, &root, err);
    if (r == 0)
        r = describe(&s, &root, err);
    if (r == 0)
        r = check_allowed(&s, &root, err);
    if (r < 0)
        return r;
    *ret = root;
    root = (struct sbox_root){.fd = -1};
    return 0;
}
