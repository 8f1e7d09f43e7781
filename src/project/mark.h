/* projects/<id>/marked: a tree lost its protection while a command ran in it (somebody outside
 * replaced it), so the next ordinary run refuses, whatever the tree holds by then. `sbox lock`
 * takes the mark away. */
#ifndef SBOX_PROJECT_MARK_H
#define SBOX_PROJECT_MARK_H

#include "base/error.h"

int sbox_mark_set(int project_dirfd, const char *what, struct sbox_error *err);
/* What was marked, malloc'ed, NULL when nothing is; or -errno. */
int sbox_mark_get(int project_dirfd, char **ret, struct sbox_error *err);
int sbox_mark_clear(int project_dirfd, struct sbox_error *err);

#endif
