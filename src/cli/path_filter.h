/* PATHs of diff and restore: they name files, directories or whole trees. */
#ifndef SBOX_CLI_PATH_FILTER_H
#define SBOX_CLI_PATH_FILTER_H

#include "base/error.h"
#include "base/strv.h"
#include "project/root.h"

/* As typed, relative to root->cwd -> as trees are named, from the root (absolute when outside).
 * Pure: nothing is looked at, a file that is gone can be named. */
int sbox_path_filter_make(const struct sbox_root *root, char *const *typed, size_t count,
                          struct sbox_strv *ret, struct sbox_error *err);
/* Is `path` one of them, or below one? An empty list passes everything. */
bool sbox_path_filter_passes(const struct sbox_strv *filter, const char *path);

#endif
