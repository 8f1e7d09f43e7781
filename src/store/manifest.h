/* The locks of all projects (db/schema.sql). A lock is a list of trees, a tree a list of members,
 * a member a unit at a place; a unit's bytes are stored once and named by their SHA-256, which is
 * checked again whenever they are read. What the bytes mean is src/lock's business. */
#ifndef SBOX_STORE_MANIFEST_H
#define SBOX_STORE_MANIFEST_H

#include "base/arena.h"
#include "base/error.h"
#include "base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SBOX_STORED_OUTSIDE = 1, /* its path is absolute: it lies outside of the project */
    SBOX_STORED_NAMED = 2,   /* somebody named it; it is no tree by the rules of the scan */
};

struct sbox_bytes {
    const char *data; /* with a NUL behind it when it was read; NULL where SQL has NULL */
    size_t size;
};

struct sbox_stored_member {
    struct sbox_bytes path; /* below the tree; "" for what belongs to no package */
    struct sbox_digest digest;
    struct sbox_bytes records; /* canonical form of the unit */
    struct sbox_bytes name;
    struct sbox_bytes version;
    struct sbox_bytes hooks; /* (name NUL command NUL)* */
    int64_t doubts;          /* pkgjson.h */
};

struct sbox_stored_tree {
    int64_t id; /* when read */
    struct sbox_bytes path;
    int64_t kind;
    int64_t flags;
    struct sbox_bytes link; /* text of the link that the tree is; data NULL: a directory */
    struct sbox_digest fingerprint;
    struct sbox_digest local;
    uint64_t entries;
    uint64_t bytes;
    struct sbox_stored_member *members; /* in byte order of their paths */
    size_t member_count;
    struct sbox_bytes stat; /* data NULL: there is none */
};

struct sbox_stored_lock {
    int64_t id;
    int64_t time;
    struct sbox_digest fingerprint;
    struct sbox_digest local;
    struct sbox_stored_tree *trees; /* in byte order of their paths */
    size_t tree_count;
    struct sbox_arena memory; /* of a lock that was read */
};

struct sbox_manifest;

/* See sbox_db_open() for the errors. */
int sbox_manifest_open(int dirfd, const char *path, bool create, struct sbox_manifest **ret,
                       struct sbox_error *err);
void sbox_manifest_close(struct sbox_manifest *m); /* accepts NULL */
void sbox_manifest_closep(struct sbox_manifest **m);

/* The latest lock of the project; -ENODATA when it has none; -EBADMSG when what is stored does not
 * agree with its digests. */
int sbox_manifest_read(struct sbox_manifest *m, const char *root, struct sbox_stored_lock *ret,
                       struct sbox_error *err);
/* The same of an earlier lock, by its id. */
int sbox_manifest_read_lock(struct sbox_manifest *m, const char *root, int64_t id,
                            struct sbox_stored_lock *ret, struct sbox_error *err);
void sbox_stored_lock_release(struct sbox_stored_lock *lock); /* only of one that was read */

/* One lock in one transaction; lock->id and the trees' ids are ignored. */
int sbox_manifest_write(struct sbox_manifest *m, const char *root,
                        const struct sbox_stored_lock *lock, int64_t *ret_id,
                        struct sbox_error *err);

/* Replaces the stat data of a tree of a lock that was read. Best effort: does not wait for other
 * writers (-EBUSY). */
int sbox_manifest_refresh(struct sbox_manifest *m, int64_t tree_id, const void *stat, size_t size,
                          struct sbox_error *err);

struct sbox_lock_summary {
    int64_t id;
    int64_t time;
    struct sbox_digest fingerprint;
    struct sbox_digest local;
    uint64_t trees;
    uint64_t packages;
    uint64_t entries;
    uint64_t bytes;
};
/* The latest `limit` locks of the project, the latest first; a negative return stops. */
typedef int sbox_manifest_each_fn(const struct sbox_lock_summary *lock, void *context);
int sbox_manifest_each(struct sbox_manifest *m, const char *root, unsigned limit,
                       sbox_manifest_each_fn *each, void *context, struct sbox_error *err);

/* Does any lock of any project hold a unit with this digest? 1, 0, or an error. */
int sbox_manifest_refers(struct sbox_manifest *m, const struct sbox_digest *digest,
                         struct sbox_error *err);
/* Removes all locks of the project, and the units that nobody refers to then: one transaction. */
int sbox_manifest_forget(struct sbox_manifest *m, const char *root, uint64_t *ret_locks,
                         struct sbox_error *err);
/* The second half of that alone. */
int sbox_manifest_drop_units(struct sbox_manifest *m, struct sbox_error *err);

#define _cleanup_manifest_ __attribute__((cleanup(sbox_manifest_closep)))

#endif
