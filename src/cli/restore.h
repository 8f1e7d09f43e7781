/* Putting one locked entry back into a tree.
 *
 * Nothing is written through a name: a file is made without one, filled, checked against the lock
 * by sbox-archive, given its mode, and only then put in the place of what is there. So a file is
 * the old one or the locked one at any moment, a hard link into a store is broken instead of
 * written through, and no link is ever followed: parents are opened component by component below
 * the tree's descriptor. */
#ifndef SBOX_CLI_RESTORE_H
#define SBOX_CLI_RESTORE_H

#include "cli/extract.h"
#include "lock/finder.h"

/* `path` below the directory `tree`. A directory is made with mode 0700, for what comes into it;
 * sbox_restore_mode() gives it its own afterwards. With `replace` a directory that stands where
 * something else was locked is removed with all it holds; without, -EISDIR. -ENODATA: there is no
 * copy; -EBADMSG: it is damaged; -EOPNOTSUPP: what cannot be made (a socket, a device, attributes).
 */
int sbox_restore_entry(struct sbox_extract *x, int tree, const char *path,
                       const struct sbox_located *at, bool replace, struct sbox_error *err);
/* The permission bits of a directory. */
int sbox_restore_mode(int tree, const char *path, mode_t mode, struct sbox_error *err);
/* Removes what was added; a directory with all it holds. That it is gone already is fine. */
int sbox_restore_remove(int tree, const char *path, struct sbox_error *err);

#endif
