/* Inside protect*.c: the list that is being gathered. */
#ifndef SBOX_SANDBOX_PROTECT_LIST_H
#define SBOX_SANDBOX_PROTECT_LIST_H

#include "sandbox/protect.h"

/* Appends an entry unless it is there already; `path` is copied. 0, -ENOMEM or -E2BIG. */
int sbox_protects_add(struct sbox_protects *p, enum sbox_protect_kind kind, const char *path,
                      const struct stat *st, const char *why);

/* What one `.git` of the scan needs (protect_git.c). */
int sbox_protects_add_git(struct sbox_protects *p, const struct sbox_root *root,
                          const struct sbox_scan_entry *entry, struct sbox_error *err);

/* Where the link at `path` (relative to the root) leads, relative to the root: 0. -EXDEV when that
 * is the root itself or outside of it, -ENOENT when the link dangles, or another -errno. */
int sbox_protect_link_target(const struct sbox_root *root, const char *path, char *ret_path,
                             size_t size, struct stat *ret_st);

#endif
