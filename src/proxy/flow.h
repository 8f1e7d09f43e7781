/* A flow: one attempt to get from inside to a host. It is reported exactly once, when it ends. */
#ifndef SBOX_PROXY_FLOW_H
#define SBOX_PROXY_FLOW_H

#include "proxy/server.h"

struct sbox_flow {
    struct sbox_server *server;
    struct sbox_wire_connection record;
    uint64_t began_us; /* CLOCK_MONOTONIC */
    bool open;
};

void sbox_flow_begin(struct sbox_flow *f, struct sbox_server *s, enum sbox_wire_way way);
/* What it is about; host may be NULL when it was not understood. */
void sbox_flow_name(struct sbox_flow *f, const struct sbox_host *host, uint16_t port);
/* Does nothing for one that is not open. */
void sbox_flow_end(struct sbox_flow *f, enum sbox_wire_verdict verdict, int error);

uint64_t sbox_clock_us(void); /* CLOCK_MONOTONIC */

#endif
