/* `sbox lock`: hash the dependency trees of a project and record them.
 *
 * Nothing is taken over unverified from an earlier lock but the trees that were not named. The new
 * lock is written in one transaction: kill -9 or a full disk leaves the previous one valid.
 */
#ifndef SBOX_LOCK_LOCK_H
#define SBOX_LOCK_LOCK_H

#include "base/error.h"
#include "base/sha256.h"
#include "lock/progress.h"
#include "project/datadir.h"
#include "project/root.h"
#include "project/scan.h"
#include "store/manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One unit of the trees that were hashed, while they are held open: for a copy of its content. */
struct sbox_lock_unit {
    int root;                      /* descriptor of the tree (or of the file that it is) */
    const char *tree;              /* its name */
    const struct sbox_bytes *path; /* of the unit below the tree; "" for the rest of it */
    const struct sbox_digest *digest;
    const struct sbox_bytes *records; /* canonical form, record.h */
    uint64_t entries;
    uint64_t bytes;
    uint8_t type; /* enum sbox_entry_type: a unit may be one file, or a link */
};
/* Called before the lock is written; a negative return, with *err filled, means no lock. */
typedef int sbox_lock_keep_fn(const struct sbox_lock_unit *units, size_t count, void *context,
                              struct sbox_error *err);

struct sbox_lock_request {
    const struct sbox_datadir *datadir; /* opened with create = true */
    const struct sbox_root *root;
    const struct sbox_scan *scan;
    const char *const *paths;   /* as typed, relative to root->cwd; each names one tree */
    size_t path_count;          /* 0: every tree of the scan */
    const char *home;           /* may be NULL */
    unsigned threads;           /* 0: as many as there are processors */
    sbox_progress_fn *progress; /* may be NULL */
    void *progress_context;
    sbox_lock_keep_fn *keep; /* may be NULL */
    void *keep_context;
};

enum sbox_change_kind {
    SBOX_CHANGE_ADDED,
    SBOX_CHANGE_REMOVED,
    SBOX_CHANGE_VERSION, /* the version differs */
    SBOX_CHANGE_CONTENT, /* the content differs although name and version do not */
};

/* One package that differs from the previous lock. Strings belong to the result. */
struct sbox_lock_change {
    enum sbox_change_kind kind;
    char *tree; /* path of the tree, as in sbox_locked_tree */
    char *path; /* of the package below the tree; "" for what belongs to no package */
    char *name; /* "" where there is none */
    char *was;  /* version before, "" when unknown */
    char *is;   /* version now */
};

struct sbox_locked_tree {
    char *path; /* relative to the root; absolute when outside of it */
    enum sbox_tree_kind kind;
    bool carried; /* taken over from the previous lock, not hashed now */
    bool outside; /* the target of a link that leaves the workspace */
    uint64_t entries;
    uint64_t bytes;
    uint64_t packages;
    struct sbox_digest fingerprint;
    struct sbox_digest local;
};

/* A link inside a tree that leaves tree and workspace. */
struct sbox_leaving_link {
    char *tree;
    char *path;       /* below the tree */
    char *target;     /* its text */
    char *real;       /* where it leads, canonical; NULL: to nothing */
    bool interpreter; /* below /usr: not recorded */
};

struct sbox_lock_result {
    int64_t id;
    int64_t time; /* seconds since the epoch */
    bool first;   /* there was no lock before */
    struct sbox_digest fingerprint;
    struct sbox_digest local;
    uint64_t entries;
    uint64_t bytes;
    uint64_t packages;
    struct sbox_locked_tree *trees;
    size_t tree_count;
    struct sbox_lock_change *changes; /* by tree and path */
    size_t change_count;
    struct sbox_leaving_link *links;
    size_t link_count;
    char **caches; /* cache directories that hold files ("node_modules/.cache"): not recorded */
    size_t cache_count;
    uint64_t elapsed_ms;
};

/* 0; -ENOENT: no trees (nothing written); -EINVAL: a PATH that names no directory that can be a
 * tree; -EAGAIN: something changed while it was hashed; -EACCES: something cannot be read; -EBUSY:
 * the manifest stays locked; -ENOSPC ... The caller holds the project's exclusive lease. */
int sbox_lock_make(const struct sbox_lock_request *request, struct sbox_lock_result *ret,
                   struct sbox_error *err);
/* What a lock of every tree would change, after an install run. Writes nothing. Links that leave
 * the workspace are listed and not followed, a tree that has become one included: the install may
 * have made them. Without an earlier lock every package is `added`. Errors as above. */
int sbox_lock_preview(const struct sbox_lock_request *request, struct sbox_lock_result *ret,
                      struct sbox_error *err);
void sbox_lock_result_release(struct sbox_lock_result *result);

const char *sbox_change_text(enum sbox_change_kind kind); /* "added", "version" ... */

#endif
