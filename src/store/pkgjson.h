/* package.json as written by anybody: name, version, install scripts, and whether parsers may
 * disagree about it. Read by sqlite's json_each, where duplicate keys stay visible (JSON.parse of
 * npm takes the last, others the first). The file is data from an attacker: bounded, never run. */
#ifndef SBOX_STORE_PKGJSON_H
#define SBOX_STORE_PKGJSON_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

enum { SBOX_PKGJSON_MAX = 4 << 20 };

/* Why a reader may see something else than we do. */
enum sbox_pkgjson_doubt {
    SBOX_PKGJSON_DUPLICATE = 1, /* a key twice, at the top or among the scripts */
    SBOX_PKGJSON_BOM = 2,       /* a byte order mark; it is passed over */
    SBOX_PKGJSON_NUL = 4,       /* a NUL byte or a \u0000 */
    SBOX_PKGJSON_INVALID = 8,   /* not JSON (RFC 8259), not UTF-8, or not an object */
    SBOX_PKGJSON_TOO_BIG = 16,
};

struct sbox_pkgjson {
    char *name;    /* "" when absent or no string */
    char *version; /* "" when absent or no string */
    /* Scripts that a package manager runs by itself when it installs the package, in byte order:
     * (name NUL command NUL)*. */
    struct sbox_buf hooks;
    unsigned doubts; /* enum sbox_pkgjson_doubt */
};

struct sbox_pkgjson_reader; /* one connection to an empty database; not for two threads */

int sbox_pkgjson_reader_new(struct sbox_pkgjson_reader **ret, struct sbox_error *err);
void sbox_pkgjson_reader_free(struct sbox_pkgjson_reader *r); /* accepts NULL */
void sbox_pkgjson_reader_freep(struct sbox_pkgjson_reader **r);

/* Bad contents are no error but a doubt; -ENOMEM or -EIO only. */
int sbox_pkgjson_read(struct sbox_pkgjson_reader *r, const void *data, size_t size,
                      struct sbox_pkgjson *ret, struct sbox_error *err);
void sbox_pkgjson_release(struct sbox_pkgjson *p);

#define _cleanup_pkgjson_ __attribute__((cleanup(sbox_pkgjson_release)))

#endif
