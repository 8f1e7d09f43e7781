#ifndef SBOX_CLI_IN_PATH_H
#define SBOX_CLI_IN_PATH_H

#include <stdbool.h>

/* Is there a program of that name (no slash in it) in the caller's PATH? For messages only: the
 * name is looked up again inside the sandbox. */
bool sbox_in_path(const char *name);

#endif
