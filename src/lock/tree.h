/* A recorded tree, ready to be compared with a directory: the members' records spliced into one
 * list in canonical order, in which a directory knows where its subtree ends. */
#ifndef SBOX_LOCK_TREE_H
#define SBOX_LOCK_TREE_H

#include "lock/trust.h"
#include "store/manifest.h"

#define SBOX_NO_ITEM UINT32_MAX

struct sbox_item {
    const struct sbox_record *record;
    const char *name; /* last component; not NUL-terminated; "" for the root */
    uint32_t name_size;
    uint32_t member; /* index into members */
    uint32_t end;    /* index after the last entry below this one */
};

struct sbox_tree {
    const struct sbox_stored_member **members; /* in canonical order of their paths */
    size_t member_count;
    struct sbox_item *items; /* items[0] is the root */
    uint32_t count;
    struct sbox_stat_table stat;
    struct sbox_arena memory;
};

/* `stored` must outlive *ret. -EBADMSG when the members do not make a tree: a directory that is
 * missing, an order that is not canonical. */
int sbox_tree_load(const struct sbox_stored_tree *stored, struct sbox_tree *ret,
                   struct sbox_error *err);
void sbox_tree_release(struct sbox_tree *tree);

/* Path of an item below the tree, appended to `out`. */
void sbox_tree_path(const struct sbox_tree *tree, uint32_t item, struct sbox_buf *out);

/* Children of directory `i`: for (c = i + 1; c < items[i].end; c = items[c].end). */

#endif
