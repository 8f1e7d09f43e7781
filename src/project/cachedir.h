/* Where caches that outlive a run are kept: $XDG_CACHE_HOME/sbox/<id> or ~/.cache/sbox/<id>, mode
 * 0700, one a project (id as in datadir.h). Nothing of it is visible inside but what a run is
 * given:
 *
 *     <id>/home/.npm/{u,w}     the private cache of a package manager, by its place below $HOME:
 *                              content, and overlayfs's work directory (sandbox/home_caches.h)
 *     <id>/<tree>/.vite        --keep-cache
 */
#ifndef SBOX_PROJECT_CACHEDIR_H
#define SBOX_PROJECT_CACHEDIR_H

#include "base/error.h"

#include <stdbool.h>

struct sbox_cachedir {
    char *base; /* of all programs' caches: $XDG_CACHE_HOME or ~/.cache */
    char *top;  /* of all projects: base/sbox */
    char *path; /* of this one: base/sbox/<id> */
};

/* Names only, nothing is looked at. `xdg_cache_home` that is not absolute is ignored, as the XDG
 * specification asks. -ENOENT when neither gives a place, -ENOMEM. */
int sbox_cachedir_name(const char *home, const char *xdg_cache_home, const char *root_path,
                       struct sbox_cachedir *ret, struct sbox_error *err);
void sbox_cachedir_release(struct sbox_cachedir *c);

/* Is it there, and is what it holds to be trusted? Not in the workspace, where the command writes;
 * the user's own; writable for nobody else. 0, -ENOENT without a message, or -EPERM. */
int sbox_cachedir_check(const struct sbox_cachedir *c, const char *root_path,
                        struct sbox_error *err);

/* The same, and makes it where it is not there. */
int sbox_cachedir_make(const struct sbox_cachedir *c, const char *root_path,
                       struct sbox_error *err);

#endif
