/* Variables that tell a package client where its registry is. Pure. */
#ifndef SBOX_SANDBOX_ENV_REGISTRY_H
#define SBOX_SANDBOX_ENV_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

/* Is it one of those whose value is one or more URLs, of use without the user and password in them?
 */
bool sbox_env_is_registry(const char *name, size_t size);

/* Such a value without the users and passwords; NULL when what is left still looks like a secret,
 * or when out of memory: then the variable goes. */
char *sbox_env_registry_cut(const char *value);

#endif
