/* What sbox-archive takes from itself before it reads a byte; archive_confine.c. */
#ifndef SBOX_ARCHIVE_CONFINE_H
#define SBOX_ARCHIVE_CONFINE_H

#include "base/error.h"
#include "confine/landlock.h"

/* One rule a tree, before confine() enforces the rule set. */
int sbox_archive_root_allow(struct sbox_landlock *l, int root);
int sbox_archive_confine(struct sbox_landlock *l, struct sbox_error *err);

#endif
