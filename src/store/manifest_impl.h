/* Shared by manifest_read.c and manifest_write.c only. */
#ifndef SBOX_STORE_MANIFEST_IMPL_H
#define SBOX_STORE_MANIFEST_IMPL_H

#include "store/manifest.h"

#include <sqlite3.h>

struct sbox_manifest {
    sqlite3 *db;
    struct sbox_sha256 *hash;
};

#endif
