/* When may stat data stand for content?
 *
 * Theory of operation. The kernel sets ctime to the present on every write, truncate, chmod, link,
 * setxattr and rename of an inode, and no system call lets a user set it back. So a file whose
 * (dev, ino, size, mode, mtime, ctime) are those that were seen when it was hashed has the content
 * that was hashed, with these exceptions, each closed here:
 *
 *  1. Timestamps move in ticks of up to 10 ms (before Linux 6.13 always, after it unless somebody
 *     looked at them in between). A write in the tick in which the file was hashed leaves ctime as
 *     it is. So an entry is trusted only if its ctime was older than the start of hashing by more
 *     than a tick; any other is marked and hashed again each time until it has aged.
 *  2. A page that is dirty through mmap(2) can be written again without ctime moving, until the
 *     page is written back and write-protected. So a file is flushed before it is hashed.
 *     sync_file_range(2) with all three flags does it for the one file, without a journal commit
 *     and without waiting for the rest of the disk as syncfs(2) would; clean files cost 0.1 us. All
 *     three: SYNC_FILE_RANGE_WRITE alone passes over pages that are under writeback.
 *  3. File systems whose ctime comes from elsewhere or is kept loosely (tmpfs, FUSE, NFS, overlay):
 *     only ext4, xfs, btrfs and f2fs are trusted, everywhere else everything is hashed.
 *  4. A clock that was set back could repeat a ctime: only root can do that.
 *
 * A directory is trusted by the same rule: then its names are those that were recorded.
 */
#ifndef SBOX_LOCK_TRUST_H
#define SBOX_LOCK_TRUST_H

#include "base/arena.h"
#include "store/record.h"

#include <stdbool.h>
#include <sys/stat.h>

struct sbox_stat {
    uint64_t dev;
    uint64_t ino;
    uint64_t size;
    int64_t mtime; /* nanoseconds since the epoch */
    int64_t ctime;
    uint32_t mode; /* st_mode with the type */
};

/* One row of stored stat data; mode and size stand in the record. ino 0: not to be trusted. */
struct sbox_stat_row {
    uint64_t ino;
    int64_t mtime;
    int64_t ctime;
};

/* Stat data of one tree: row i belongs to entry i in canonical order. Written and read on one
 * machine only, in its own byte order. */
struct sbox_stat_table {
    uint64_t dev;
    const struct sbox_stat_row *rows;
    size_t count;
};

struct sbox_stat sbox_stat_of(const struct stat *st);
/* statx(2) of `name` below `dirfd`, no link followed; 0 or -errno. */
int sbox_stat_at(int dirfd, const char *name, struct sbox_stat *ret);
int sbox_stat_fd(int fd, struct sbox_stat *ret);

int64_t sbox_trust_now(void); /* the coarse clock that timestamps are taken from, nanoseconds */
bool sbox_trust_filesystem(int fd);
/* What may be stored for an entry seen as `st` by a walk that began at `started`. */
struct sbox_stat_row sbox_trust_row(const struct sbox_stat *st, uint64_t dev, int64_t started);
bool sbox_trust_same(const struct sbox_stat *st, const struct sbox_record *record,
                     const struct sbox_stat_table *table, size_t index);
/* Exception 2; 0 or -errno. */
int sbox_trust_flush(int fd);

/* The stored form. Parsing yields no rows for anything that is not understood: then nothing is
 * trusted. `data` must be aligned for 8 bytes and stay. */
void sbox_stat_table_encode(struct sbox_buf *out, const struct sbox_stat_table *table);
struct sbox_stat_table sbox_stat_table_parse(const void *data, size_t size, size_t entries);

#endif
