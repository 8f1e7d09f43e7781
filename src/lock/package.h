/* What a package says about itself: name and version from its package.json or dist-info. Only for
 * reports; what is read must have the digest that the walk saw. */
#ifndef SBOX_LOCK_PACKAGE_H
#define SBOX_LOCK_PACKAGE_H

#include "lock/unit.h"
#include "store/manifest.h"
#include "store/pkgjson.h"

/* The file of a unit that tells, as the walk saw it. */
struct sbox_package_source {
    bool there;
    uint64_t size;
    struct sbox_digest content;
};

/* Name of that file in a unit of this kind: "package.json", "RECORD", or NULL. */
const char *sbox_package_file(enum sbox_tree_kind kind, const struct sbox_bytes *unit);

/* Fills name, version, hooks and doubts of all members; sources[i] belongs to members[i]. The
 * tree's directory is `root`. -EAGAIN when a file is not what the walk saw. */
int sbox_package_identify(enum sbox_tree_kind kind, int root, struct sbox_stored_member *members,
                          const struct sbox_package_source *sources, size_t count,
                          struct sbox_arena *memory, struct sbox_error *err);

#endif
