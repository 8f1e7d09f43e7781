/* Descriptors: everything is opened O_CLOEXEC, relative to a descriptor, and never through a
 * link unless the function says so. */
#ifndef SBOX_BASE_FD_H
#define SBOX_BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Who a file is, for comparing two descriptors. */
struct sbox_fileid {
    uint64_t dev;
    uint64_t ino;
};

static inline struct sbox_fileid sbox_fileid_of(const struct stat *st)
{
    return (struct sbox_fileid){.dev = (uint64_t)st->st_dev, .ino = (uint64_t)st->st_ino};
}

static inline bool sbox_fileid_equal(struct sbox_fileid a, struct sbox_fileid b)
{
    return a.dev == b.dev && a.ino == b.ino;
}

void sbox_close(int fd); /* ignores -1, keeps errno */

/* Reads until `size` bytes or end of file; returns the count or -errno. */
ssize_t sbox_read_full(int fd, void *buffer, size_t size);
/* Writes all of it; 0 or -errno. */
int sbox_write_full(int fd, const void *data, size_t size);

/* The whole regular file behind `fd` from its start, NUL-terminated (the NUL is not counted).
 * -EFBIG when larger than `max`, -EINVAL when not a regular file. *ret_data is malloc'ed. */
int sbox_read_file_fd(int fd, size_t max, char **ret_data, size_t *ret_size);
/* The same by name below `dirfd`, O_NOFOLLOW | O_NONBLOCK. */
int sbox_read_file_at(int dirfd, const char *name, size_t max, char **ret_data, size_t *ret_size);

/* openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS: `path` (relative)
 * below `dirfd`, no component of it a link, the last one included. O_CLOEXEC is added. Retried
 * on EAGAIN, which the kernel gives when a rename raced with the walk. Descriptor or -errno. */
int sbox_open_beneath(int dirfd, const char *path, int flags);

/* mkdir -p of `path` (relative, no "..") below `dirfd`; existing directories are fine. */
int sbox_mkdir_parents(int dirfd, const char *path, mode_t mode);

/* Creates or replaces `name` in `dirfd` atomically: temporary file, optional fsync, rename. */
int sbox_write_file_atomic(int dirfd, const char *name, const void *data, size_t size, mode_t mode,
                           bool sync);

/* A pollable handle of the process, CLOEXEC; -errno. */
int sbox_pidfd_open(pid_t pid);

#endif
