/* The units of a tree that was just hashed, for who keeps their content. */
#ifndef SBOX_LOCK_UNITS_H
#define SBOX_LOCK_UNITS_H

#include "base/buf.h"
#include "lock/lock.h"

/* Appends struct sbox_lock_unit to `out`, pointing into `tree`. 0, -ENOMEM, -EBADMSG. */
int sbox_units_of_tree(const struct sbox_stored_tree *tree, int root, struct sbox_buf *out);

#endif
