/* A finished walk as what will be stored: units, digests, stat data. */
#ifndef SBOX_LOCK_COLLECT_H
#define SBOX_LOCK_COLLECT_H

#include "lock/unit.h"
#include "lock/walk.h"
#include "store/manifest.h"

/* A link of the tree, for leaving.h. */
struct sbox_collected_link {
    struct sbox_bytes path; /* below the tree */
    struct sbox_bytes target;
};

struct sbox_collected {
    struct sbox_stored_tree tree; /* all but path, kind, flags and link */
    struct sbox_collected_link *links;
    size_t link_count;
    uint64_t packages; /* members with a path */
    struct sbox_arena memory;
};

/* `root` is the descriptor that was walked. */
int sbox_collect(const struct sbox_walk *walk, enum sbox_tree_kind kind, int root,
                 struct sbox_collected *ret, struct sbox_error *err);
void sbox_collected_release(struct sbox_collected *c);

/* Stat data of a walk that had a recorded tree to compare with and found it equal. */
int sbox_collect_stat(const struct sbox_walk *walk, const struct sbox_tree *tree,
                      struct sbox_buf *ret);

#endif
