/* One entry of a dependency tree and its canonical form (docs/fingerprint.md).
 *
 * A unit is the list of the entries of one package (or of the rest of a tree). Its canonical form
 * is what sbox stores, names by its SHA-256 and compares. Integers are little-endian:
 *
 *     unit   = magic "SBXU" u8 version(1) u32 count record*
 *     record = u32 path_size path u8 type u32 mode u64 size sha256 xattr_sha256
 *              [u32 target_size target]        only for a link
 *
 * Paths are raw bytes relative to the unit ("" is the unit's own directory), sorted by
 * sbox_path_order(), unique, without empty, "." or ".." components. The form has no freedom: two
 * lists of equal entries have equal bytes, and the decoder refuses every other spelling.
 */
#ifndef SBOX_LOCK_RECORD_H
#define SBOX_LOCK_RECORD_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"

#include <sys/types.h>

enum sbox_entry_type {
    SBOX_ENTRY_FILE = 'f',
    SBOX_ENTRY_DIRECTORY = 'd',
    SBOX_ENTRY_LINK = 'l',
    SBOX_ENTRY_FIFO = 'p',
    SBOX_ENTRY_SOCKET = 's',
    SBOX_ENTRY_CHAR = 'c',
    SBOX_ENTRY_BLOCK = 'b',
};

enum {
    SBOX_RECORD_PATH_MAX = 1 << 20,  /* bytes of one path: deeper than PATH_MAX on purpose */
    SBOX_RECORD_TARGET_MAX = 4095,   /* PATH_MAX - 1: what symlink(2) takes */
    SBOX_UNIT_BYTES_MAX = 256 << 20, /* bytes of one unit's canonical form */
};

struct sbox_record {
    const char *path;   /* NUL-terminated only if the owner says so; use path_size */
    const char *target; /* of a link; NULL otherwise */
    uint32_t path_size;
    uint32_t target_size;
    uint32_t mode;              /* 07777: permission bits with setuid, setgid, sticky */
    uint8_t type;               /* enum sbox_entry_type */
    uint64_t size;              /* of a file or of a link's target; else 0 */
    struct sbox_digest content; /* of the content or of the target text; else zeros */
    struct sbox_digest xattrs;  /* docs/fingerprint.md "xattrs"; zeros: there are none */
};

/* The letter for st_mode, or 0. */
uint8_t sbox_entry_type_of(mode_t mode);
/* "file", "directory", "link" ... */
const char *sbox_entry_type_text(uint8_t type);

/* Canonical order: byte-wise, with "/" before every other byte, so that a directory is followed at
 * once by what it holds. */
int sbox_path_order(const char *a, size_t a_size, const char *b, size_t b_size);

/* Appends the canonical form. The records must be in order. */
void sbox_records_encode(struct sbox_buf *out, const struct sbox_record *records, size_t count);

/* Strict, bounded decoder of bytes from outside. *ret_records is malloc'ed; its pointers go into
 * `data`, which must live as long. -EBADMSG for anything that sbox_records_encode() would not have
 * written, -ENOMEM. */
int sbox_records_decode(const void *data, size_t size, struct sbox_record **ret_records,
                        size_t *ret_count, struct sbox_error *err);

#endif
