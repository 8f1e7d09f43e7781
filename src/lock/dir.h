/* Directories of a walk and their descriptors. A directory is opened from its parent's descriptor,
 * one component at a time, so that paths longer than PATH_MAX work and no link is ever followed.
 * The descriptor stays open until the last child has been opened from it. Above a limit of open
 * descriptors a directory is closed at once; its children then come back to it from the root, and
 * what they find on the way must be the same (dev, ino). */
#ifndef SBOX_LOCK_DIR_H
#define SBOX_LOCK_DIR_H

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"

#include <stdatomic.h>

struct sbox_entry;

enum { SBOX_DIR_DEPTH_MAX = 10000 };

struct sbox_dir {
    struct sbox_dir *parent;    /* NULL: the root */
    struct sbox_entry *self;    /* its own entry */
    const char *name;           /* NUL-terminated; "" for the root */
    struct sbox_entry *entries; /* sorted by name */
    uint32_t entry_count;
    uint32_t expected; /* item of the recorded tree, or SBOX_NO_ITEM */
    uint32_t depth;
    int fd;           /* -1: not open (any more) */
    atomic_uint uses; /* who still needs fd */
    struct sbox_fileid id;
};

/* A descriptor (O_RDONLY) of a directory that is not open yet, by way of its parent; -errno.
 * -EAGAIN when an ancestor that had to be opened again is another one now. */
int sbox_dir_open(const struct sbox_dir *dir);
/* A descriptor to work below `dir` with, for who comes back later: its own if that is open (then
 * *ret_owned is false), else one that the caller closes. */
int sbox_dir_reach(const struct sbox_dir *dir, bool *ret_owned);

/* Path below the tree, appended to `out`: of `dir`, or of `name` in it. */
void sbox_dir_path(const struct sbox_dir *dir, const char *name, struct sbox_buf *out);

#endif
