/* What inside the workspace must be protected in this run, and how: from the scan to a list of
 * pins, read-only parts and masks. The only part of the policy that asks the file system, through
 * the descriptors of the scan. */
#ifndef SBOX_SANDBOX_PROTECT_H
#define SBOX_SANDBOX_PROTECT_H

#include "sandbox/policy.h"

struct sbox_protects {
    struct sbox_protect *items; /* path-sorted within a kind; no path twice within a kind */
    size_t count;
    size_t room;
    bool secret_tracked; /* a masked secret is in git's index: git add -A and the like will fail */
    bool secret_linked;  /* a masked secret has another hard link */
    const char *tracked_example; /* borrowed from the scan: for the message */
    const char *linked_example;
    const char *filtered_tracked; /* a filtered file in git's index; borrowed; NULL: none */
    struct sbox_strv conf_names;  /* of the environment, to which settings in the workspace refer */
    /* While it is gathered: what is to be shown. */
    const struct sbox_policy_path *paths;
    size_t path_count;
    bool show_all;
};

/* Secrets are masked unless allow_env, an UNMASK rule of `paths` names them, or they are tracked
 * templates. A link gets a mask, and what it leads to inside the workspace another one. Each `.git`
 * directory is pinned; its hooks, config, config.worktree, commondir, gitdir, info/attributes, and
 * the same of each repository below modules and worktrees, become read-only where they exist, and
 * what they lead to where they are links. Live sockets of host processes are masked
 * (a stale one, on which nobody listens, is left alone). Settings of package clients, and git's
 * config, that hold secrets are shown with these taken out, or masked where that cannot be done.
 * `paths` inside the workspace become RO or MASK entries. */
int sbox_protects_gather(const struct sbox_root *root, const struct sbox_scan *scan,
                         const struct sbox_policy_path *paths, size_t path_count, bool allow_env,
                         struct sbox_protects *ret, struct sbox_error *err);
void sbox_protects_release(struct sbox_protects *p);

#endif
