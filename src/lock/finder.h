/* Looking up what a lock recorded under a path. */
#ifndef SBOX_LOCK_FINDER_H
#define SBOX_LOCK_FINDER_H

#include "store/manifest.h"
#include "store/record.h"

/* Keeps the records of the package that was looked at last. Zero-initialise with `tree` set. */
struct sbox_finder {
    const struct sbox_stored_tree *tree;
    const struct sbox_stored_member *member;
    struct sbox_record *records;
    uint32_t count;
};

struct sbox_located {
    const struct sbox_stored_member *member;
    uint64_t index;                   /* of the record among the member's */
    const struct sbox_record *record; /* until the finder is used again */
};

/* `path` below the tree, raw bytes. 0; -ENOENT: nothing was recorded there; -EBADMSG, -ENOMEM. */
int sbox_finder_locate(struct sbox_finder *f, const char *path, size_t size,
                       struct sbox_located *ret);
void sbox_finder_release(struct sbox_finder *f);

#endif
