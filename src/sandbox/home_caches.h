/* Caches of package managers: which there are, and what of them a run gets.
 *
 * An install run writes into private caches that are kept per project (project/cachedir.h), never
 * into the host's: `_npx`, built wheels and unpacked sources are code that nobody checks. An
 * ordinary run reads them and writes into a layer that is thrown away. Where the content is
 * verified by the tool, or sources are needed to work without a network, the host's own cache is a
 * layer below both. */
#ifndef SBOX_SANDBOX_HOME_CACHES_H
#define SBOX_SANDBOX_HOME_CACHES_H

#include "project/cachedir.h"
#include "sandbox/policy.h"

struct sbox_home_caches {
    struct sbox_policy_cache *items;
    size_t count;
};

struct sbox_home_caches_request {
    const char *home;
    const struct sbox_cachedir *dir;
    const char *root_path;
    const char *program; /* sbox_install_program() of the command; may be NULL */
    bool install;        /* the private ones are made where they are not there */
};

/* Looks for what is there: nothing is nearly free. 0 or -errno; a private directory that is not to
 * be trusted is an error of an install run and none at all for an ordinary one. */
int sbox_home_caches_gather(const struct sbox_home_caches_request *request,
                            struct sbox_home_caches *ret, struct sbox_error *err);
/* After an install run: overlayfs leaves a directory with mode 0 behind, over which the user's
 * `rm -r` would stumble. Best effort. */
void sbox_home_caches_settle(const struct sbox_home_caches *c);
void sbox_home_caches_release(struct sbox_home_caches *c);

#endif
