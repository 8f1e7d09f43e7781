/* What changed between two locks, package by package. */
#ifndef SBOX_LOCK_CHANGES_H
#define SBOX_LOCK_CHANGES_H

#include "base/buf.h"
#include "lock/lock.h"
#include "store/manifest.h"

/* Appends struct sbox_lock_change to `out`. Either side may be NULL: a tree that is new or gone. */
int sbox_changes_of_tree(const struct sbox_stored_tree *was, const struct sbox_stored_tree *is,
                         struct sbox_buf *out);
void sbox_change_release(struct sbox_lock_change *change);

#endif
