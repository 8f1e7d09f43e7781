/* Pure rules on names: which paths may never be a project, whatever lies in them. */
#ifndef SBOX_PROJECT_ROOT_RULES_H
#define SBOX_PROJECT_ROOT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Why the canonical path `path` cannot be a project's root ("is a system directory"), or NULL.
 * `home` is canonical, or NULL when nobody knows it: then every likely home is refused. */
const char *sbox_root_forbidden(const char *path, const char *home);

/* Is `path` a place where homes lie by convention: /root, or a child of /home? */
bool sbox_root_looks_like_home(const char *path);

/* `.git` decides what git executes on the host, so it must be ours. Root may also work in a work
 * tree that wholly belongs to one other user. */
bool sbox_root_owner_fine(uid_t me, uid_t owner, uid_t directory_owner);

/* Files that make a directory a package: package.json, pyproject.toml ... NULL-terminated. */
extern const char *const sbox_root_manifests[];

#endif
