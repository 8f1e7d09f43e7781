/* Does a value hold a secret of a known form? Pure, linear in the size of the value. */
#ifndef SBOX_PROJECT_SECRET_H
#define SBOX_PROJECT_SECRET_H

#include <stddef.h>

/* What was found, as a static string ("GitHub token"), or NULL. Looks anywhere in the value: a
 * token inside JSON, a URL or a longer text counts. */
const char *sbox_secret_find(const char *value, size_t size);

#endif
