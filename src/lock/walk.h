/* The walk over one tree: lists, looks at and hashes every entry, on threads, and compares with a
 * recorded tree where one is given.
 *
 * Theory of operation.
 *
 *  1. The unit of work is a directory, or a slice of a large one. Jobs lie on one stack under a
 *     mutex: last in, first out keeps few directories open. Workers end when all of them wait.
 *  2. A directory is opened from its parent (dir.h), its names are sorted, and matched against the
 *     recorded children, which are in the same order: names left over on either side are `added`
 *     or `removed`.
 *  3. A file is opened O_NOFOLLOW | O_NONBLOCK and only if the directory says that it is a regular
 *     file; FIFOs, sockets and devices are never opened. fstat(2) before and after reading must
 *     agree, else "changed while it was read".
 *  4. With trusted stat data (trust.h) an entry that is unchanged costs one statx(2), and a
 *     directory that is unchanged is not listed: its names are those that were recorded.
 *  5. What cannot be read stops the walk with an error that names it, unless the recorded mode
 *     already tells the difference. Nothing is skipped but the caches directly below the root
 *     (sbox_tree_caches), and those are reported when they hold something.
 *
 * What ordinary commands leave in a tree, `.package-lock.json` and `__pycache__`, is recorded like
 * everything else, because it is executed or steers what is executed. That gives no false alarms:
 * ordinary runs see the tree through a throw-away layer and cannot leave anything in it.
 */
#ifndef SBOX_LOCK_WALK_H
#define SBOX_LOCK_WALK_H

#include "lock/compare.h"
#include "lock/dir.h"
#include "lock/progress.h"
#include "lock/tree.h"

#include <stdatomic.h>

struct sbox_entry {
    const char *name; /* NUL-terminated */
    const char *target;
    struct sbox_dir *dir; /* of a directory that was entered */
    struct sbox_stat stat;
    struct sbox_digest content;
    struct sbox_digest xattrs;
    uint32_t name_size;
    uint32_t expected; /* item of the recorded tree, or SBOX_NO_ITEM */
    uint16_t target_size;
    uint8_t type; /* enum sbox_entry_type; 0: not known yet */
    bool has_xattrs;
    bool looked; /* stat is filled in */
};

/* A difference, with whatever side there is. */
struct sbox_found {
    enum sbox_verdict verdict;
    uint32_t expected;              /* SBOX_NO_ITEM: added */
    const struct sbox_dir *dir;     /* holds `entry` */
    const struct sbox_entry *entry; /* NULL: removed */
};

struct sbox_walk_request {
    int root;          /* the directory, or the regular file, that is the tree (any descriptor) */
    const char *label; /* for messages: what the tree is called */
    const struct sbox_tree *expected; /* NULL: nothing to compare with */
    bool trust;                       /* unchanged stat data stands for content */
    bool skip_caches;
    unsigned threads;           /* 0: as many as there are processors */
    struct sbox_progress *base; /* what earlier trees added up to; NULL: nothing */
    sbox_progress_fn *progress;
    void *progress_context;
};

struct sbox_walk {
    struct sbox_entry *root;
    struct sbox_dir *top;     /* NULL when the root is a file */
    struct sbox_found *found; /* in no order */
    size_t found_count;
    uint64_t entries;
    uint64_t bytes;   /* read and hashed */
    uint64_t hashed;  /* files that were read */
    uint64_t drifted; /* entries whose stored stat data did not vouch for them */
    int64_t started;  /* trust.h */
    bool trusted_filesystem;
    struct sbox_buf caches; /* names, each with a NUL */
    struct sbox_arena memory;
};

int sbox_walk_run(const struct sbox_walk_request *request, struct sbox_walk *ret,
                  struct sbox_error *err);
void sbox_walk_release(struct sbox_walk *walk);

/* The entry as a record with the given path; points into the entry. */
struct sbox_record sbox_entry_record(const struct sbox_entry *entry, const char *path,
                                     size_t path_size);

/* Visits every entry in canonical order with its path below the tree; a negative return stops. */
typedef int sbox_walk_each(const struct sbox_entry *entry, const char *path, size_t path_size,
                           void *context);
int sbox_walk_visit(const struct sbox_walk *walk, sbox_walk_each *each, void *context);

#endif
