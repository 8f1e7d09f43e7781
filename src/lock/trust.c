#include "lock/trust.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

enum { TICKS_NS = 20 * 1000 * 1000 }; /* two ticks of the slowest clock (CONFIG_HZ=100) */

static int64_t ns(int64_t seconds, int64_t nanoseconds)
{
    return seconds * 1000000000 + nanoseconds;
}

struct sbox_stat sbox_stat_of(const struct stat *st)
{
    return (struct sbox_stat){
        .dev = st->st_dev,
        .ino = st->st_ino,
        .size = (uint64_t)st->st_size,
        .mtime = ns(st->st_mtim.tv_sec, st->st_mtim.tv_nsec),
        .ctime = ns(st->st_ctim.tv_sec, st->st_ctim.tv_nsec),
        .mode = st->st_mode,
    };
}

int sbox_stat_at(int dirfd, const char *name, struct sbox_stat *ret)
{
    struct statx sx;
    if (statx(dirfd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_SYNC_AS_STAT,
              STATX_BASIC_STATS, &sx) < 0)
        return -errno;
    *ret = (struct sbox_stat){
        .dev = makedev(sx.stx_dev_major, sx.stx_dev_minor),
        .ino = sx.stx_ino,
        .size = sx.stx_size,
        .mtime = ns(sx.stx_mtime.tv_sec, sx.stx_mtime.tv_nsec),
        .ctime = ns(sx.stx_ctime.tv_sec, sx.stx_ctime.tv_nsec),
        .mode = sx.stx_mode,
    };
    return 0;
}

int sbox_stat_fd(int fd, struct sbox_stat *ret)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    *ret = sbox_stat_of(&st);
    return 0;
}

int64_t sbox_trust_now(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) < 0)
        return 0; /* nothing is older: nothing is trusted */
    return ns(now.tv_sec, now.tv_nsec);
}

bool sbox_trust_filesystem(int fd)
{
    struct statfs fs;
    if (fstatfs(fd, &fs) < 0)
        return false;
    switch ((unsigned long)fs.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
        return true;
    default:
        return false;
    }
}

struct sbox_stat_row sbox_trust_row(const struct sbox_stat *st, uint64_t dev, int64_t started)
{
    if (st->dev != dev || st->ctime >= started - TICKS_NS)
        return (struct sbox_stat_row){0};
    return (struct sbox_stat_row){.ino = st->ino, .mtime = st->mtime, .ctime = st->ctime};
}

bool sbox_trust_same(const struct sbox_stat *st, const struct sbox_record *record,
                     const struct sbox_stat_table *table, size_t index)
{
    if (index >= table->count || st->dev != table->dev)
        return false;
    const struct sbox_stat_row *row = &table->rows[index];
    if (row->ino == 0 || row->ino != st->ino || row->ctime != st->ctime || row->mtime != st->mtime)
        return false;
    if (sbox_entry_type_of(st->mode) != record->type)
        return false;
    if (record->type == SBOX_ENTRY_LINK)
        return st->size == record->target_size;
    if (record->type == SBOX_ENTRY_FILE && st->size != record->size)
        return false;
    return (st->mode & 07777) == record->mode;
}

int sbox_trust_flush(int fd)
{
    if (sync_file_range(fd, 0, 0,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                            SYNC_FILE_RANGE_WAIT_AFTER) == 0)
        return 0;
    /* Not for every file system; and a disk that cannot write is not our answer to give. */
    return errno == ENOMEM || errno == EBADF ? -errno : 0;
}

enum { TABLE_VERSION = 1 };

struct table_header {
    char magic[4];
    uint32_t version;
    uint64_t count;
    uint64_t dev;
};

void sbox_stat_table_encode(struct sbox_buf *out, const struct sbox_stat_table *table)
{
    struct table_header header = {
        .magic = {'S', 'B', 'X', 'S'},
        .version = TABLE_VERSION,
        .count = table->count,
        .dev = table->dev,
    };
    sbox_buf_add(out, &header, sizeof header);
    sbox_buf_add(out, table->rows, table->count * sizeof *table->rows);
}

struct sbox_stat_table sbox_stat_table_parse(const void *data, size_t size, size_t entries)
{
    struct table_header header;
    struct sbox_stat_table none = {0};
    if (!data || size < sizeof header)
        return none;
    memcpy(&header, data, sizeof header);
    if (memcmp(header.magic, "SBXS", 4) != 0 || header.version != TABLE_VERSION ||
        header.count != entries || (size - sizeof header) != entries * sizeof(struct sbox_stat_row))
        return none;
    const void *rows = (const char *)data + sizeof header;
    return (struct sbox_stat_table){.dev = header.dev, .rows = rows, .count = entries};
}
