/* Bytes between two sockets, both ways, until both have ended. */
#ifndef SBOX_PROXY_RELAY_H
#define SBOX_PROXY_RELAY_H

#include "proxy/flow.h"

/* Owns both sockets (which have TCP_NODELAY and SO_KEEPALIVE) and the flow (copied; the caller's
 * counts as closed). `first` are bytes that the client sent already. `sni`: the name that a TLS
 * hello must ask for; NULL: any (addresses, publishing). It counts as a client until it ends. */
void sbox_relay_start(struct sbox_server *s, int client, int server, struct sbox_flow *flow,
                      const uint8_t *first, size_t first_size, const struct sbox_host *sni);

#endif
