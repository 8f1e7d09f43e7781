/* --ro, --rw, --mask, --unmask: from what was typed to canonical paths that may be exposed.
 *
 * A path that lies, by its spelling, inside the workspace is opened beneath it without following
 * any link: a link that was planted there must not widen the view. Outside, links are the user's
 * own and are followed. Refused: sbox's data directory and, for --rw, whatever holds it; `/`,
 * `/proc`, `/dev`,
 * `/sys` and below; a --ro or --rw that shows the workspace a second time under another name (the
 * same file system subtree through another mount: compared by statx mnt_id and mountinfo's root),
 * since its masks lie on one name only. */
#ifndef SBOX_SANDBOX_POLICY_PATHS_H
#define SBOX_SANDBOX_POLICY_PATHS_H

#include "sandbox/policy.h"

int sbox_policy_path_resolve(const struct sbox_root *root, const char *data_path, const char *typed,
                             enum sbox_path_rule rule, struct sbox_policy_path *ret,
                             struct sbox_error *err);

#endif
