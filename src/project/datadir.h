/* sbox's own data directory: $XDG_DATA_HOME/sbox or ~/.local/share/sbox, mode 0700.
 *
 *     manifest.db               the locks (store/)
 *     snapshots/                copies of packages (cli/snapshots.h)
 *     projects/<id>/lease       who works on the project now (lease.h)
 *     projects/<id>/scan        cache of what lies in the workspace (scan.h); perishable
 *     projects/<id>/locked      exists from just before the first lock on: "ask the manifest".
 *                               Without it a run does not open the database at all
 *     projects/<id>/quarantine/ what a run planted for git
 *
 * <id> is the first 32 hex digits of SHA-256 of the project root's canonical path.
 */
#ifndef SBOX_PROJECT_DATADIR_H
#define SBOX_PROJECT_DATADIR_H

#include "base/error.h"

#include <stdbool.h>

enum { SBOX_PROJECT_ID_SIZE = 33 };

struct sbox_datadir {
    int fd;     /* O_RDONLY | O_DIRECTORY; -1 when it does not exist and `create` was false */
    char *path; /* canonical where it exists, else what it would be */
};

/* `home` and `xdg_data_home` are the caller's (either may be NULL or empty; a relative
 * xdg_data_home is ignored, as the XDG specification asks). Refuses a directory that belongs to
 * somebody else or that others can write (EPERM, with the chmod that helps). */
int sbox_datadir_open(const char *home, const char *xdg_data_home, bool create,
                      struct sbox_datadir *ret, struct sbox_error *err);
void sbox_datadir_release(struct sbox_datadir *d);

/* 0, or -EIO with an empty id when libcrypto has no SHA-256. */
void sbox_project_id(const char *root_path, char ret_id[SBOX_PROJECT_ID_SIZE]);

/* projects/<id> as a directory descriptor, or -ENOENT when it is not there and not created. */
int sbox_project_dir_open(const struct sbox_datadir *d, const char *root_path, bool create,
                          struct sbox_error *err);
/* Does projects/<id>/locked exist? Two system calls at most. */
bool sbox_project_marked_locked(const struct sbox_datadir *d, const char *root_path);
int sbox_project_mark_locked(int project_dirfd, struct sbox_error *err);

#endif
