/* Does the name of an environment variable say that it holds a secret? Pure. */
#ifndef SBOX_SANDBOX_ENV_NAMES_H
#define SBOX_SANDBOX_ENV_NAMES_H

#include "sandbox/env_scrub.h"

/* SBOX_ENV_KEPT, NAME, AGENT or FUNCTION. *ret_detail (may be NULL) is a static string. */
enum sbox_env_reason sbox_env_name_reason(const char *name, size_t size, const char **ret_detail);

#endif
