/* One entry of a dependency tree and its canonical form (docs/fingerprint.md).
 *
 * A unit is the list of the entries of one package (or of the rest of a tree). Its canonical form
 * is what sbox stores, names by its SHA-256 and compares. Integers are little-endian:
 *
 *     unit   = "SBXU" u8 version(1) u32 count record*
 *     record = u32 path_size path u8 type u16 mode u8 has_xattrs(0|1) [sha256]
 *              [u64 size sha256]               only for a file
 *              [u32 target_size target]        only for a link
 *
 * Paths are raw bytes relative to the unit ("" is the unit's own directory), sorted by
 * sbox_path_order(), unique, without empty, "." or ".." components. The form has no freedom: two
 * lists of equal entries have equal bytes, and the decoder refuses every other spelling.
 */
#ifndef SBOX_STORE_RECORD_H
#define SBOX_STORE_RECORD_H

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
    SBOX_UNIT_HEADER = 9,
};

/* Strings and digests belong to somebody else: to the bytes that were decoded, or to a walk. */
struct sbox_record {
    const char *path;                  /* not NUL-terminated */
    const char *target;                /* of a link; not NUL-terminated */
    const struct sbox_digest *content; /* of a file */
    const struct sbox_digest *xattrs;  /* NULL: there are none that matter (xattr.h) */
    uint64_t size;                     /* of a file */
    uint32_t path_size;
    uint16_t target_size;
    uint16_t mode; /* 07777: permission bits with setuid, setgid, sticky; 0 for a link */
    uint8_t type;  /* enum sbox_entry_type */
};

/* The letter for st_mode, or 0. */
uint8_t sbox_entry_type_of(mode_t mode);
/* "file", "directory", "link" ... */
const char *sbox_entry_type_text(uint8_t type);

/* Canonical order: byte-wise, with "/" before every other byte, so that a directory is followed at
 * once by what it holds. */
int sbox_path_order(const char *a, size_t a_size, const char *b, size_t b_size);

/* Canonical form: header, then the records in order. The header may be written again with the true
 * count once it is known. */
void sbox_unit_header(char ret[SBOX_UNIT_HEADER], uint32_t count);
void sbox_record_encode(struct sbox_buf *out, const struct sbox_record *record);

/* Strict, bounded decoder of bytes from outside, in two steps so that the caller finds the memory.
 * The records point into `data`. -EBADMSG for anything that the encoder would not have written. */
int sbox_unit_count(const void *data, size_t size, uint32_t *ret_count);
int sbox_unit_decode(const void *data, size_t size, struct sbox_record *ret_records,
                     uint32_t count);

#endif
