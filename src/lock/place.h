/* Where a tree is: what it is called in the manifest, and the directory behind that, held open. */
#ifndef SBOX_LOCK_PLACE_H
#define SBOX_LOCK_PLACE_H

#include "base/error.h"
#include "project/root.h"
#include "project/scan.h"

struct sbox_place {
    char *path; /* relative to the root; absolute when outside of it */
    enum sbox_tree_kind kind;
    bool outside; /* path is absolute */
    bool named;   /* no tree of the scan: it has to be named, or a link leads to it */
    char *link;   /* text, when the tree is a link; else NULL */
    char *real;   /* canonical path of what `fd` is */
    int fd;       /* O_PATH */
};

struct sbox_place_request {
    const struct sbox_root *root;
    const struct sbox_scan *scan;
    const char *home;
    bool allow_leaving; /* a link may leave the workspace: it was named */
};

/* The name in the manifest of a PATH that a person typed: canonical but for its last component.
 * -EINVAL, with the reason, for the root itself, for what lies inside of a tree or holds one. */
int sbox_place_name(const struct sbox_place_request *request, const char *typed, char **ret,
                    struct sbox_error *err);

/* Opens the tree of that name. -ENOENT: nothing there, or a link to nothing. -EPERM: a link that
 * leaves the workspace and was not named, or leads where sbox does not follow. -ENOTDIR. */
int sbox_place_open(const struct sbox_place_request *request, const char *path,
                    struct sbox_place *ret, struct sbox_error *err);
void sbox_place_release(struct sbox_place *place);

/* The entry of the scan with this path, or NULL. */
const struct sbox_scan_entry *sbox_place_scanned(const struct sbox_scan *scan, const char *path);

#define _cleanup_place_ __attribute__((cleanup(sbox_place_release)))

#endif
