/* Does a value hold a secret of a known form? Pure, linear in the size of the value. */
#ifndef SBOX_SANDBOX_ENV_VALUES_H
#define SBOX_SANDBOX_ENV_VALUES_H

#include <stddef.h>

/* What was found, as a static string ("GitHub token"), or NULL. Looks anywhere in the value: a
 * token inside JSON, a URL or a longer text counts. */
const char *sbox_env_value_secret(const char *value, size_t size);

#endif
