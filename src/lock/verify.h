/* `sbox verify`, `sbox status`, and the check before `sbox run`: are the trees what was locked? */
#ifndef SBOX_LOCK_VERIFY_H
#define SBOX_LOCK_VERIFY_H

#include "base/error.h"
#include "base/sha256.h"
#include "lock/compare.h"
#include "lock/progress.h"
#include "project/datadir.h"
#include "project/root.h"
#include "project/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sbox_verify_mode {
    SBOX_VERIFY_FAST, /* unchanged stat data is trusted where it can be (trust.h) */
    SBOX_VERIFY_FULL, /* everything is read and hashed */
};

struct sbox_verify_request {
    const struct sbox_datadir *datadir;
    const struct sbox_root *root;
    const struct sbox_scan *scan;
    const char *const *paths; /* as typed, relative to root->cwd; only these trees */
    size_t path_count;        /* 0: every tree of the scan and of the lock */
    enum sbox_verify_mode mode;
    unsigned threads;           /* 0: as many as there are processors */
    sbox_progress_fn *progress; /* may be NULL */
    void *progress_context;
};

enum sbox_tree_state {
    SBOX_TREE_EQUAL,
    SBOX_TREE_UNLOCKED, /* found, never locked */
    SBOX_TREE_ABSENT,   /* locked, not there */
    SBOX_TREE_DIFFERS,
};

struct sbox_difference {
    enum sbox_verdict verdict;
    uint8_t type;        /* enum sbox_entry_type: of what is there, or was (removed) */
    char *path;          /* below the tree, raw bytes; "" is the tree's own directory */
    const char *package; /* name from package.json or the dist-info; "" for none */
    const char *version; /* "" when unknown */
};

struct sbox_verified_tree {
    char *path; /* relative to the root; absolute when outside of it */
    enum sbox_tree_kind kind;
    enum sbox_tree_state state;
    bool outside;     /* outside the root: named by `sbox lock PATH`, or the target of a link */
    int fd;           /* O_PATH of the directory that was verified, held open; -1 when absent */
    uint64_t entries; /* looked at */
    uint64_t bytes;   /* hashed */
    uint64_t hashed;  /* files that were read */
    struct sbox_digest fingerprint; /* as locked */
    struct sbox_digest local;
    struct sbox_difference *differences; /* in canonical path order */
    size_t difference_count;
};

struct sbox_verify_result {
    bool same;       /* every tree is SBOX_TREE_EQUAL */
    int64_t lock_id; /* the lock that was compared with */
    int64_t lock_time;
    struct sbox_digest fingerprint; /* of that lock */
    struct sbox_digest local;
    struct sbox_verified_tree *trees; /* in path order */
    size_t tree_count;
    char **caches; /* cache directories that hold files; not a difference */
    size_t cache_count;
    uint64_t packages;
    uint64_t elapsed_ms;
    void *owned; /* what the strings point into */
};

/* 0 when an answer could be had, be it good or bad (ret->same). Else "could not tell":
 * -ENODATA: the project was never locked (message with the way out); -EBADMSG: the manifest is
 * damaged or foreign; -EPROTONOSUPPORT: it is from a newer sbox; -EBUSY: it stays locked; -EAGAIN:
 * something changed while it was read; -EACCES: something cannot be read ...
 * The caller holds the project's shared lease. */
int sbox_verify_run(const struct sbox_verify_request *request, struct sbox_verify_result *ret,
                    struct sbox_error *err);
void sbox_verify_result_release(struct sbox_verify_result *result);

struct sbox_stored_lock;
/* What it was compared with; belongs to the result. */
const struct sbox_stored_lock *sbox_verify_lock(const struct sbox_verify_result *result);

/* What to say where no lock exists, shared with `run`; fills err, returns -ENODATA. */
int sbox_verify_never_locked(const struct sbox_root *root, struct sbox_error *err);

const char *sbox_tree_state_text(enum sbox_tree_state state); /* "equal", "unlocked" ... */

#endif
