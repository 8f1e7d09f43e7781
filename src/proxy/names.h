/* The synthetic addresses: one of each family for each allowed name that was asked for
 * (net/layout.h). The name that was used least recently gives its place up when all are taken. */
#ifndef SBOX_PROXY_NAMES_H
#define SBOX_PROXY_NAMES_H

#include "proxy/host.h"

struct sbox_names;

struct sbox_names *sbox_names_new(void);
void sbox_names_free(struct sbox_names *n);

/* The address of `family` for the name; the same one again as long as it is remembered. */
void sbox_names_address(struct sbox_names *n, const char *name, uint8_t family,
                        struct sbox_address *ret);
/* The name behind a synthetic address; NULL when there is none. Valid until the next call. */
const char *sbox_names_find(struct sbox_names *n, const struct sbox_address *a);
/* A client that resolves by itself dials, or names to the proxy, a synthetic address: the host
 * becomes the name behind it. True when it did. */
bool sbox_names_restore(struct sbox_names *n, struct sbox_host *host);

#endif
