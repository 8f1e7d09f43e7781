#ifndef SBOX_CLI_IN_PATH_H
#define SBOX_CLI_IN_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Is there a program of that name (no slash in it) in the caller's PATH? For messages only: the
 * name is looked up again inside the sandbox. */
bool sbox_in_path(const char *name);
/* The same with the file's name, as PATH spells it. */
bool sbox_find_in_path(const char *name, char *ret, size_t room);

#endif
