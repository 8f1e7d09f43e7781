#include "cli/restore.h"

#include "archive/reach.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static const char temporary[] = ".sbox-restore";

/* The directory that holds `path`, and its last component. */
static int open_parent(int tree, const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    *ret_name = slash ? slash + 1 : path;
    return sbox_reach(tree, path, slash ? (size_t)(slash - path) : 0, O_PATH | O_DIRECTORY);
}

/* -- removing ---------------------------------------------------------------------------------- */

static int remove_at(int dirfd, const char *name, unsigned depth);

static int empty_directory(int dirfd, const char *name, unsigned depth)
{
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        int saved = errno;
        sbox_close(fd);
        return -saved;
    }
    int r = 0;
    for (struct dirent *e; r == 0 && (e = readdir(dir)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = remove_at(fd, e->d_name, depth + 1);
    (void)closedir(dir);
    return r;
}

static int remove_at(int dirfd, const char *name, unsigned depth)
{
    enum { DEPTH_MAX = 500 }; /* descriptors: one a level */
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return -errno;
    if (depth > DEPTH_MAX)
        return -ELOOP;
    int r = empty_directory(dirfd, name, depth);
    if (r < 0)
        return r;
    return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int sbox_restore_remove(int tree, const char *path, struct sbox_error *err)
{
    const char *name;
    _cleanup_close_ int parent = open_parent(tree, path, &name);
    if (parent == -ENOENT || parent == -ENOTDIR)
        return 0;
    int r = parent < 0 ? parent : remove_at(parent, name, 0);
    return r < 0 ? sbox_error_set(err, -r, "remove '%s'", sbox_esc(path)) : 0;
}

/* -- putting back ------------------------------------------------------------------------------ */

/* Makes room where a directory is or has to be: rename(2) does not replace the one by the other. */
static int clear_place(int parent, const char *name, bool directory_wanted, bool replace)
{
    struct stat st;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISDIR(st.st_mode) == directory_wanted)
        return 0;
    if (S_ISDIR(st.st_mode) && !replace)
        return -EISDIR;
    return S_ISDIR(st.st_mode) || directory_wanted ? remove_at(parent, name, 0) : 0;
}

/* `fd` has no name yet. */
static int give_name(int parent, int fd, const char *name)
{
    char self[32];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, self, parent, name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != EEXIST)
        return -errno;
    /* From here to the rename a kill leaves the file under a second name. */
    (void)unlinkat(parent, temporary, 0);
    if (linkat(AT_FDCWD, self, parent, temporary, AT_SYMLINK_FOLLOW) < 0)
        return -errno;
    return renameat(parent, temporary, parent, name) < 0 ? -errno : 0;
}

static int put_file(struct sbox_extract *x, int parent, const char *name,
                    const struct sbox_located *at, struct sbox_error *err)
{
    _cleanup_close_ int fd = openat(parent, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int r = sbox_extract_file(x, at->member, at->index, fd, err);
    if (r < 0)
        return r;
    if (fchmod(fd, at->record->mode) < 0)
        return -errno;
    return give_name(parent, fd, name);
}

static int put_link(int parent, const char *name, const struct sbox_record *record)
{
    char target[SBOX_RECORD_TARGET_MAX + 1];
    memcpy(target, record->target, record->target_size);
    target[record->target_size] = '\0';
    (void)unlinkat(parent, temporary, 0);
    if (symlinkat(target, parent, temporary) < 0)
        return -errno;
    return renameat(parent, temporary, parent, name) < 0 ? -errno : 0;
}

static int put_fifo(int parent, const char *name, mode_t mode)
{
    (void)unlinkat(parent, name, 0);
    if (mkfifoat(parent, name, 0600) < 0)
        return -errno;
    return fchmodat(parent, name, mode, 0) < 0 ? -errno : 0;
}

static int put(struct sbox_extract *x, int parent, const char *name, const struct sbox_located *at,
               struct sbox_error *err)
{
    const struct sbox_record *record = at->record;
    if (record->xattrs)
        return -EOPNOTSUPP; /* the lock has a digest of them, not their values */
    switch (record->type) {
    case SBOX_ENTRY_DIRECTORY:
        return mkdirat(parent, name, 0700) < 0 && errno != EEXIST ? -errno : 0;
    case SBOX_ENTRY_FILE:
        return put_file(x, parent, name, at, err);
    case SBOX_ENTRY_LINK:
        return put_link(parent, name, record);
    case SBOX_ENTRY_FIFO:
        return put_fifo(parent, name, record->mode);
    default:
        return -EOPNOTSUPP;
    }
}

int sbox_restore_entry(struct sbox_extract *x, int tree, const char *path,
                       const struct sbox_located *at, bool replace, struct sbox_error *err)
{
    struct sbox_error inner = SBOX_ERROR_INIT;
    const char *name;
    if (*path == '\0') /* the tree's own directory is there, its mode comes later */
        return at->record->type == SBOX_ENTRY_DIRECTORY ? 0 : -EOPNOTSUPP;
    _cleanup_close_ int parent = open_parent(tree, path, &name);
    int r = parent < 0
                ? parent
                : clear_place(parent, name, at->record->type == SBOX_ENTRY_DIRECTORY, replace);
    if (r == 0)
        r = put(x, parent, name, at, &inner);
    if (r < 0 && inner.code)
        return sbox_error_say(err, -r, "'%s': %s", sbox_esc(path), inner.message);
    if (r == -EISDIR)
        return sbox_error_say(err, EISDIR, "'%s' is a directory now: --delete removes it",
                              sbox_esc(path));
    return r < 0 ? sbox_error_set(err, -r, "put back '%s'", sbox_esc(path)) : 0;
}

int sbox_restore_mode(int tree, const char *path, mode_t mode, struct sbox_error *err)
{
    char self[32];
    _cleanup_close_ int fd = sbox_reach(tree, path, strlen(path), O_PATH | O_DIRECTORY);
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (fd < 0 || chmod(self, mode) < 0)
        return sbox_error_set(err, fd < 0 ? -fd : errno, "set the mode of '%s'", sbox_esc(path));
    return 0;
}
