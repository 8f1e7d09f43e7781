/* The two digests of a tree, and of a lock, by the rule of docs/fingerprint.md. */
#ifndef SBOX_LOCK_FINGERPRINT_H
#define SBOX_LOCK_FINGERPRINT_H

#include "store/record.h"

/* Feed the entries of a tree in canonical order, with paths below the tree. */
struct sbox_fingerprint {
    struct sbox_sha256 *portable;
    struct sbox_sha256 *local;
    struct sbox_buf scratch;
};

int sbox_fingerprint_init(struct sbox_fingerprint *f); /* 0, -ENOTSUP, -EIO */
int sbox_fingerprint_add(struct sbox_fingerprint *f, const struct sbox_record *record);
int sbox_fingerprint_end(struct sbox_fingerprint *f, struct sbox_digest *ret_fingerprint,
                         struct sbox_digest *ret_local);
void sbox_fingerprint_release(struct sbox_fingerprint *f);

/* The digests of a lock, from those of its trees in byte order of their paths. `portable`: this
 * tree counts for the fingerprint; one outside of the project counts for the local digest only. */
struct sbox_tree_digests {
    const char *path;
    size_t path_size;
    struct sbox_digest fingerprint;
    struct sbox_digest local;
    bool portable;
};
int sbox_fingerprint_of_lock(const struct sbox_tree_digests *trees, size_t count,
                             struct sbox_digest *ret_fingerprint, struct sbox_digest *ret_local);

#endif
