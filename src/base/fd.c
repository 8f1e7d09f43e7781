#include "base/fd.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <sys/syscall.h>

void sbox_close(int fd)
{
    sbox_close_p(&fd);
}

ssize_t sbox_read_full(int fd, void *buffer, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, (char *)buffer + done, size - done);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

int sbox_write_full(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

int sbox_read_file_fd(int fd, size_t max, char **ret_data, size_t *ret_size)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    if (st.st_size < 0 || (uint64_t)st.st_size > max)
        return -EFBIG;
    /* Files of procfs and sysfs say size 0, and any file may grow: read up to the limit. */
    size_t room = st.st_size > 0 ? (size_t)st.st_size : 4096;
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    for (;;) {
        char *grown = realloc(data, room + 1);
        if (!grown)
            return -ENOMEM;
        data = grown;
        ssize_t n = sbox_read_full(fd, data + size, room + 1 - size);
        if (n < 0)
            return (int)n;
        size += (size_t)n;
        if (size <= room)
            break;
        if (size > max)
            return -EFBIG;
        room = room * 2 > max ? max : room * 2;
    }
    data[size] = '\0';
    *ret_data = TAKE_PTR(data);
    if (ret_size)
        *ret_size = size;
    return 0;
}

int sbox_read_file_at(int dirfd, const char *name, size_t max, char **ret_data, size_t *ret_size)
{
    _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    return sbox_read_file_fd(fd, max, ret_data, ret_size);
}

int sbox_open_beneath(int dirfd, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    for (int attempt = 0;; attempt++) {
        long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof how);
        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN || attempt == 64)
            return -errno;
    }
}

int sbox_mkdir_parents(int dirfd, const char *path, mode_t mode)
{
    _cleanup_free_ char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    for (char *at = copy + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char end = *at;
        *at = '\0';
        if (mkdirat(dirfd, copy, mode) < 0 && errno != EEXIST)
            return -errno;
        if (end == '\0')
            return 0;
        *at = end;
    }
}

int sbox_write_file_atomic(int dirfd, const char *name, const void *data, size_t size, mode_t mode,
                           bool sync)
{
    static atomic_uint serial;
    char temporary[64];
    (void)snprintf(temporary, sizeof temporary, ".tmp-%ld-%u", (long)getpid(),
                   atomic_fetch_add(&serial, 1));
    _cleanup_close_ int fd =
        openat(dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return -errno;
    int r = sbox_write_full(fd, data, size);
    if (r == 0 && sync && fsync(fd) < 0)
        r = -errno;
    if (r == 0 && renameat(dirfd, temporary, dirfd, name) < 0)
        r = -errno;
    if (r < 0)
        (void)unlinkat(dirfd, temporary, 0);
    return r;
}

int sbox_pidfd_open(pid_t pid)
{
    long fd = syscall(SYS_pidfd_open, pid, 0);
    return fd < 0 ? -errno : (int)fd;
}
