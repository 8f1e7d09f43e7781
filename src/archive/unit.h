/* The two things that sbox-archive does: a unit's files into a tar.zst, and back. The records that
 * the manifest has of the unit decide about everything: which entries an archive must have, in
 * which order, under which names, with which sizes, and with which content. */
#ifndef SBOX_ARCHIVE_UNIT_H
#define SBOX_ARCHIVE_UNIT_H

#include "archive/wire.h"
#include "base/buf.h"
#include "store/record.h"

struct archive;

/* Why something failed: what goes into SBOX_ARCHIVE_FAILED. */
struct sbox_unit_failure {
    uint64_t record; /* index, or SBOX_ARCHIVE_NO_RECORD */
    const char *why; /* constant text; NULL: what the errno says */
};

struct sbox_unit {
    char *data;
    struct sbox_record *records; /* into data */
    uint32_t count;
};

/* The canonical records behind `fd`, decoded. -EBADMSG when they are not canonical. */
int sbox_unit_load(int fd, struct sbox_unit *ret);
void sbox_unit_release(struct sbox_unit *unit);

/* Name of an entry in an archive, NUL-terminated, in `scratch`: its path, "." for the unit's own
 * directory, "content" for a unit that is one file. NULL: out of memory. */
const char *sbox_unit_name(const struct sbox_record *record, struct sbox_buf *scratch);
/* Files, directories and links are archived; FIFOs, sockets and devices are records only. */
bool sbox_unit_archived(const struct sbox_record *record);
/* Takes libarchive's last error for one of ours. */
int sbox_unit_errno(struct archive *a, int otherwise);

/* One per process: buffers and the hash, made before the process confines itself. */
struct sbox_unit_tools {
    struct sbox_sha256 *hash;
    char *buffer;
    struct sbox_buf name;
};
enum { SBOX_UNIT_BUFFER = 256 << 10 };

/* Writes the archive to `output`. `directory` is the unit's directory, or the file that the unit
 * is. -EAGAIN: a file is not what was recorded, it changed since it was hashed. */
int sbox_unit_write(struct sbox_unit_tools *tools, const struct sbox_unit *unit, int directory,
                    int output, uint64_t *ret_bytes, struct sbox_unit_failure *failure);

struct sbox_unit_reader {
    struct archive *archive;
    const struct sbox_unit *unit;
    uint32_t next; /* index of the record that the next entry must be */
};

int sbox_unit_reader_init(struct sbox_unit_reader *r, const struct sbox_unit *unit, int source,
                          struct sbox_unit_failure *failure);
/* Writes the content of the file with this record to `output`. -EBADMSG when the archive is not the
 * one that was made from these records; -EINVAL: no file, or one that was passed already. */
int sbox_unit_reader_take(struct sbox_unit_reader *r, struct sbox_unit_tools *tools, uint64_t index,
                          int output, struct sbox_unit_failure *failure);
void sbox_unit_reader_release(struct sbox_unit_reader *r);

#endif
