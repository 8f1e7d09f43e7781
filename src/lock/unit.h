/* Which package does an entry belong to? Pure, and only about names: what a package says about
 * itself is read by package.h.
 *
 * node_modules: a directory directly below `node_modules` (at any depth), or below `@scope` in it.
 * Virtual environment: what lies directly in lib/pythonX.Y/site-packages. Everything else of a
 * tree, and all of a `vendor` or `.yarn` tree, is one unit with the path "". */
#ifndef SBOX_LOCK_UNIT_H
#define SBOX_LOCK_UNIT_H

#include "project/scan.h"

/* Length of the leading part of `path` that is the unit's own path; 0 for the rest of the tree. */
size_t sbox_unit_of(enum sbox_tree_kind kind, const char *path, size_t size, bool is_directory);

#endif
