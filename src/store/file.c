#include "store/file.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "store/db.h"

#include <fcntl.h>

enum { HEADER = 100, AT_USER_VERSION = 60, AT_APPLICATION_ID = 68 };

/* https://www.sqlite.org/fileformat.html#the_database_header: integers are big-endian. */
static int header_int(const unsigned char *header, int at)
{
    const unsigned char *p = header + at;
    return (int)((unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 | p[3]);
}

static int check_header(const unsigned char *header, ssize_t size, const char *name, int newest,
                        struct sbox_error *err)
{
    static const char magic[16] = "SQLite format 3";
    if (size == 0)
        return sbox_error_say(err, EBADMSG,
                              "%s is empty: it was cut off; move it away to start anew", name);
    if (size < HEADER || memcmp(header, magic, sizeof magic) != 0)
        return sbox_error_say(err, EBADMSG, "%s is not a database: it is damaged or foreign", name);
    if (header_int(header, AT_APPLICATION_ID) != SBOX_DB_APPLICATION_ID)
        return sbox_error_say(err, EBADMSG, "%s is a database of another program", name);
    int version = header_int(header, AT_USER_VERSION);
    if (version > newest || version < 0)
        return sbox_error_say(err, EPROTONOSUPPORT,
                              "%s is from a newer sbox (schema %d, known: %d)", name, version,
                              newest);
    return 0;
}

static int check_owner(const struct stat *st, const char *name, struct sbox_error *err)
{
    if (S_ISLNK(st->st_mode))
        return sbox_error_say(err, ELOOP, "%s is a link: sbox does not follow it", name);
    if (!S_ISREG(st->st_mode))
        return sbox_error_say(err, EBADMSG, "%s is not a regular file", name);
    if (st->st_uid != geteuid())
        return sbox_error_say(err, EPERM, "%s belongs to user %u, not to you", name,
                              (unsigned)st->st_uid);
    if (st->st_mode & 022)
        return sbox_error_say(err, EPERM, "others can write %s (mode %03o): chmod 600 it", name,
                              (unsigned)st->st_mode & 0777);
    return 0;
}

int sbox_store_file_check(int dirfd, const char *name, int newest_version, struct sbox_error *err)
{
    struct stat st;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? -ENOENT : sbox_error_set(err, errno, "look at %s", name);
    int r = check_owner(&st, name, err);
    if (r < 0)
        return r;
    /* This descriptor is closed before sqlite opens the file: closing any descriptor of a file
     * drops all of the process's POSIX locks on it (fcntl(2)), sqlite's too. */
    _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return sbox_error_set(err, errno, "open %s", name);
    unsigned char header[HEADER];
    ssize_t n = sbox_read_full(fd, header, sizeof header);
    if (n < 0)
        return sbox_error_set(err, (int)-n, "read %s", name);
    return check_header(header, n, name, newest_version, err);
}

static int fill(int fd, const void *data, size_t size)
{
    int r = sbox_write_full(fd, data, size);
    return r < 0 ? r : fsync(fd) < 0 ? -errno : 0;
}

/* A file without a name leaves nothing behind when the process dies. */
static int create_unnamed(int dirfd, const char *name, const void *data, size_t size)
{
    _cleanup_close_ int fd = openat(dirfd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int r = fill(fd, data, size);
    if (r < 0)
        return r;
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    /* link(2) refuses an existing name: nobody's manifest is ever replaced. */
    if (linkat(AT_FDCWD, path, dirfd, name, AT_SYMLINK_FOLLOW) < 0)
        return -errno;
    return 0;
}

static int create_named(int dirfd, const char *name, const void *data, size_t size)
{
    char temporary[64];
    (void)snprintf(temporary, sizeof temporary, ".%s-%ld", name, (long)getpid());
    _cleanup_close_ int fd =
        openat(dirfd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    int r = fill(fd, data, size);
    if (r == 0 && linkat(dirfd, temporary, dirfd, name, 0) < 0)
        r = -errno;
    (void)unlinkat(dirfd, temporary, 0);
    return r;
}

int sbox_store_file_create(int dirfd, const char *name, const void *data, size_t size,
                           struct sbox_error *err)
{
    int r = create_unnamed(dirfd, name, data, size);
    if (r == -EOPNOTSUPP || r == -EISDIR || r == -ENOENT)
        r = create_named(dirfd, name, data, size);
    if (r < 0 && r != -EEXIST)
        return sbox_error_set(err, -r, "create %s", name);
    return fsync(dirfd) < 0 ? sbox_error_set(err, errno, "write the data directory to disk") : 0;
}
