/* Which directory is the project, and may it be one?
 *
 * The nearest ancestor-or-self of the starting directory that is a locked project; else the git
 * work tree; else the nearest ancestor with a package manifest; else the directory itself.
 * Refused: `/`, $HOME and what is above it, /tmp, /var/tmp, /home, system directories, a root whose
 * .git belongs to another user, a root that holds sbox's data directory.
 */
#ifndef SBOX_PROJECT_ROOT_H
#define SBOX_PROJECT_ROOT_H

#include "base/error.h"
#include "base/fd.h"
#include "project/datadir.h"

enum sbox_root_kind {
    SBOX_ROOT_GIVEN,    /* --workspace */
    SBOX_ROOT_LOCKED,   /* a locked project */
    SBOX_ROOT_GIT,      /* a git work tree */
    SBOX_ROOT_MANIFEST, /* package.json, pyproject.toml, Cargo.toml, go.mod ... */
    SBOX_ROOT_CWD,
};

struct sbox_root_request {
    const char *directory; /* -C; NULL: the current directory */
    const char *workspace; /* --workspace; NULL: find it */
    const char *home;      /* may be NULL */
    const struct sbox_datadir *datadir;
};

struct sbox_root {
    char *path; /* canonical (realpath); may hold any byte but NUL */
    char *cwd;  /* canonical starting directory; within `path` */
    int fd;     /* O_PATH | O_DIRECTORY on the root */
    struct sbox_fileid id;
    uid_t owner;
    enum sbox_root_kind kind;
    bool locked; /* the marker of datadir.h is there */
};

/* 0, or -EINVAL/-EPERM/-ENOENT... with a message that says why and what to do instead. */
int sbox_root_find(const struct sbox_root_request *request, struct sbox_root *ret,
                   struct sbox_error *err);
void sbox_root_release(struct sbox_root *root);
const char *sbox_root_kind_text(enum sbox_root_kind kind); /* "git work tree" ... */

#endif
