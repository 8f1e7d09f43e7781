/* Inside protect*.c: the list that is being gathered. */
#ifndef SBOX_SANDBOX_PROTECT_LIST_H
#define SBOX_SANDBOX_PROTECT_LIST_H

#include "sandbox/protect.h"

/* Appends an entry unless it is there already; `path` is copied. 0, -ENOMEM or -E2BIG. */
int sbox_protects_add(struct sbox_protects *p, enum sbox_protect_kind kind, const char *path,
                      const struct stat *st, const char *why);

/* Is `path` (relative to the root) to be shown as it is, by --allow-env or --unmask? */
bool sbox_protects_shows(const struct sbox_protects *p, const struct sbox_root *root,
                         const char *path);

/* What of a settings file may be shown; a file that cannot be read is hidden. -EINVAL when it is no
 * regular file. */
int sbox_protect_conf_read(int path_fd, enum sbox_conf_syntax syntax, struct sbox_conf *ret);
/* Appends FILTER or FILTER_GIT, or MASK instead of FILTER where nothing may be shown; nothing for a
 * file without secrets. Takes conf->text. Names of the environment are kept either way. */
int sbox_protects_add_filtered(struct sbox_protects *p, enum sbox_protect_kind kind,
                               const char *path, const struct stat *st, struct sbox_conf *conf);
/* One settings file of the scan (protect_conf.c). */
int sbox_protects_add_conf(struct sbox_protects *p, const struct sbox_root *root,
                           const struct sbox_scan_entry *entry);

/* What one `.git` of the scan needs (protect_git.c). */
int sbox_protects_add_git(struct sbox_protects *p, const struct sbox_root *root,
                          const struct sbox_scan_entry *entry, struct sbox_error *err);

/* Where the link at `path` (relative to the root) leads, relative to the root: 0. -EXDEV when that
 * is the root itself or outside of it, -ENOENT when the link dangles, or another -errno. */
int sbox_protect_link_target(const struct sbox_root *root, const char *path, char *ret_path,
                             size_t size, struct stat *ret_st);

#endif
