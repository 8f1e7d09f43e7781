/* The variables by which programs learn of a proxy. Pure. */
#ifndef SBOX_SANDBOX_ENV_PROXY_H
#define SBOX_SANDBOX_ENV_PROXY_H

#include "base/strv.h"

/* Takes the host's proxy variables out of the environment, whatever the network: inside nothing
 * leads to the host's proxy, and a program that knows of one tries nothing else. With `network` and
 * `variables` those that lead to sbox-proxy come instead. What stands in `kept` (-e NAME, -e
 * NAME=VALUE) is the person's wish and stays. 0 or -ENOMEM. */
int sbox_env_proxy(struct sbox_strv *environment, const struct sbox_strv *kept, bool network,
                   bool variables);

#endif
