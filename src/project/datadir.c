#include "project/datadir.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "base/strv.h"

#include <fcntl.h>
#include <limits.h>

/* Where the directory is meant to be; NULL with err filled. */
static char *wanted_path(const char *home, const char *xdg_data_home, struct sbox_error *err)
{
    char *path = NULL;
    int n;
    if (xdg_data_home && xdg_data_home[0] == '/') {
        n = asprintf(&path, "%s/sbox", xdg_data_home);
    } else if (home && home[0] == '/') {
        n = asprintf(&path, "%s/.local/share/sbox", home);
    } else {
        (void)sbox_error_say(err, EINVAL,
                             "no place for sbox's data: HOME is not set to an absolute path "
                             "(set HOME or XDG_DATA_HOME)");
        return NULL;
    }
    if (n < 0) {
        (void)sbox_error_set(err, ENOMEM, "name the data directory");
        return NULL;
    }
    return path;
}

/* realpath(3) of the longest part of `path` that exists, with the rest put behind it as it stands:
 * what the path will be once the directories are made. NULL: out of memory, or not even "/". */
static char *canonical_future(const char *path)
{
    _cleanup_free_ char *head = strdup(path);
    size_t cut = strlen(path);
    while (head) {
        char *real = realpath(cut > 0 ? head : "/", NULL);
        if (real) {
            char *whole = NULL;
            const char *base = strcmp(real, "/") == 0 && cut < strlen(path) ? "" : real;
            if (asprintf(&whole, "%s%s", base, path + cut) < 0)
                whole = NULL;
            free(real);
            return whole;
        }
        if (cut == 0)
            return NULL;
        while (cut > 0 && path[--cut] != '/')
            continue;
        head[cut] = '\0';
    }
    return NULL;
}

/* Whoever can write here decides what counts as locked. */
static int check_private(int fd, const char *path, struct sbox_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return sbox_error_set(err, errno, "stat '%s'", sbox_esc(path));
    if (st.st_uid != geteuid())
        return sbox_error_say(err, EPERM,
                              "the data directory '%s' belongs to another user (uid %u): set "
                              "XDG_DATA_HOME to a directory of your own",
                              sbox_esc(path), (unsigned)st.st_uid);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return sbox_error_say(err, EPERM,
                              "others can write to the data directory '%s': chmod 700 it",
                              sbox_esc(path));
    return 0;
}

static int make_directories(const char *path, struct sbox_error *err)
{
    _cleanup_close_ int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return sbox_error_set(err, errno, "open '/'");
    while (*path == '/')
        path++;
    int r = sbox_mkdir_parents(top, path, 0700);
    if (r < 0)
        return sbox_error_set(err, -r, "create the data directory '/%s'", sbox_esc(path));
    return 0;
}

/* The descriptor, or -ENOENT without a message. Links on the way are the user's own choice (a home
 * on another disk), hence no O_NOFOLLOW. */
static int open_directory(const char *path, struct sbox_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    if (errno == ENOENT)
        return -ENOENT;
    return sbox_error_set(err, errno, "open the data directory '%s'", sbox_esc(path));
}

int sbox_datadir_open(const char *home, const char *xdg_data_home, bool create,
                      struct sbox_datadir *ret, struct sbox_error *err)
{
    _cleanup_free_ char *path = wanted_path(home, xdg_data_home, err);
    if (!path)
        return err && err->code ? -err->code : -EINVAL;
    _cleanup_close_ int fd = open_directory(path, err);
    if (fd == -ENOENT && create) {
        int r = make_directories(path, err);
        if (r < 0)
            return r;
        fd = open_directory(path, err);
    }
    if (fd < 0 && (fd != -ENOENT || create))
        return fd == -ENOENT ? sbox_error_set(err, ENOENT, "open '%s'", sbox_esc(path)) : fd;
    if (fd >= 0) {
        int r = check_private(fd, path, err);
        if (r < 0)
            return r;
    }
    _cleanup_free_ char *canonical = canonical_future(path);
    if (!canonical)
        return sbox_error_set(err, ENOMEM, "resolve '%s'", sbox_esc(path));
    ret->path = TAKE_PTR(canonical);
    ret->fd = fd >= 0 ? TAKE_FD(fd) : -1;
    return 0;
}

void sbox_datadir_release(struct sbox_datadir *d)
{
    sbox_close(d->fd);
    free(d->path);
    *d = (struct sbox_datadir){.fd = -1};
}

void sbox_project_id(const char *root_path, char ret_id[SBOX_PROJECT_ID_SIZE])
{
    struct sbox_digest digest;
    sbox_sha256_small(root_path, strlen(root_path), &digest);
    sbox_hex(digest.bytes, (SBOX_PROJECT_ID_SIZE - 1) / 2, ret_id);
}

int sbox_project_dir_open(const struct sbox_datadir *d, const char *root_path, bool create,
                          struct sbox_error *err)
{
    char id[SBOX_PROJECT_ID_SIZE];
    sbox_project_id(root_path, id);
    if (d->fd < 0)
        return sbox_error_set(err, ENOENT, "open '%s'", sbox_esc(d->path));
    char name[sizeof "projects/" + SBOX_PROJECT_ID_SIZE];
    (void)snprintf(name, sizeof name, "projects/%s", id);
    int fd = sbox_open_beneath(d->fd, name, O_RDONLY | O_DIRECTORY);
    if (fd == -ENOENT && create) {
        int r = sbox_mkdir_parents(d->fd, name, 0700);
        if (r < 0)
            return sbox_error_set(err, -r, "create '%s/%s'", sbox_esc(d->path), name);
        fd = sbox_open_beneath(d->fd, name, O_RDONLY | O_DIRECTORY);
    }
    if (fd < 0)
        return sbox_error_set(err, -fd, "open '%s/%s'", sbox_esc(d->path), name);
    return fd;
}

bool sbox_project_marked_locked(const struct sbox_datadir *d, const char *root_path)
{
    char id[SBOX_PROJECT_ID_SIZE];
    if (d->fd < 0)
        return false;
    sbox_project_id(root_path, id);
    char name[sizeof "projects//locked" + SBOX_PROJECT_ID_SIZE];
    (void)snprintf(name, sizeof name, "projects/%s/locked", id);
    return faccessat(d->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* On disk before the manifest can say "locked": a lock that survives a crash without its marker
 * would not be asked for. */
int sbox_project_mark_locked(int project_dirfd, struct sbox_error *err)
{
    _cleanup_close_ int fd =
        openat(project_dirfd, "locked", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == EEXIST)
        return 0;
    if (fd < 0)
        return sbox_error_set(err, errno, "create the project's 'locked' marker");
    if (fsync(fd) < 0 || fsync(project_dirfd) < 0)
        return sbox_error_set(err, errno, "sync the project's 'locked' marker");
    return 0;
}
