/* Links that lead out of a tree and the workspace: what they lead to is code that runs too. */
#ifndef SBOX_LOCK_LEAVING_H
#define SBOX_LOCK_LEAVING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum sbox_leads {
    SBOX_LEADS_INSIDE,  /* within the tree or the workspace */
    SBOX_LEADS_NOWHERE, /* to nothing that is there (or that may be looked at) */
    SBOX_LEADS_SYSTEM,  /* below /usr, or to a device, socket ...: shown, not hashed */
    SBOX_LEADS_OUTSIDE, /* to a file or directory that has to be recorded */
};

/* Where does the link `base`/`path` with the text `target` lead? `base` is the canonical path of
 * the tree's directory, `root` that of the workspace. *ret_real (malloc'ed) is set for SYSTEM and
 * OUTSIDE. -ENAMETOOLONG when that cannot be told. */
int sbox_leads(const char *root, const char *base, const char *path, const char *target,
               enum sbox_leads *ret, char **ret_real);

/* Pure: the path that `target` names from within the directory of `base`/`path`, without following
 * links; malloc'ed, NULL when out of memory. */
char *sbox_leads_lexically(const char *base, const char *path, const char *target);

/* May sbox hash what lies at the canonical path `real`, on the word of a link? Not a directory that
 * holds the workspace or $HOME, no system directory as a whole, and nothing in a dot directory of
 * $HOME but toolchains. 0 or -EPERM with the reason. */
int sbox_leads_allowed(const char *real, const char *root, const char *home,
                       struct sbox_error *err);

#endif
