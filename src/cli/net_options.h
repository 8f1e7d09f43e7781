/* Ports as they are typed: --publish [ADDR:]PORT[:PORT], --allow-host-port PORT. Pure. */
#ifndef SBOX_CLI_NET_OPTIONS_H
#define SBOX_CLI_NET_OPTIONS_H

#include "proxy/client.h"

/* -EINVAL with a sentence that shows the right spelling. */
int sbox_net_publish_parse(const char *text, struct sbox_proxy_publish *ret,
                           struct sbox_error *err);
int sbox_net_port_parse(const char *text, uint16_t *ret, struct sbox_error *err);

#endif
