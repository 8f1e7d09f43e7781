/* manifest.db as a file, before sqlite sees it (the first step of db.h). */
#ifndef SBOX_STORE_FILE_H
#define SBOX_STORE_FILE_H

#include "base/error.h"

#include <stddef.h>

/* 0 when the file can be given to sqlite, -ENOENT when there is none, else as sbox_db_open(). */
int sbox_store_file_check(int dirfd, const char *name, int newest_version, struct sbox_error *err);

/* Puts a complete file in place, on disk and whole, unless another process was faster (which is
 * fine: 0). A crash leaves nothing or all of it. */
int sbox_store_file_create(int dirfd, const char *name, const void *data, size_t size,
                           struct sbox_error *err);

#endif
