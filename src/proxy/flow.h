/* A flow: one attempt to get from inside to a host. It is reported exactly once, when it ends. */
#ifndef SBOX_PROXY_FLOW_H
#define SBOX_PROXY_FLOW_H

#include "proxy/server.h"

struct sbox_flow {
    TAILQ_ENTRY(sbox_flow) entry; /* of server->flows */
    struct sbox_server *server;
    struct sbox_wire_connection record;
    uint64_t began_us; /* CLOCK_MONOTONIC */
    bool open;
    bool connected; /* bytes can pass: when the run ends now, it was a connection */
};

void sbox_flow_begin(struct sbox_flow *f, struct sbox_server *s, enum sbox_wire_way way);
/* What it is about; host may be NULL when it was not understood. */
void sbox_flow_name(struct sbox_flow *f, const struct sbox_host *host, uint16_t port);
/* Gives an open flow to another owner. */
void sbox_flow_move(struct sbox_flow *to, struct sbox_flow *from);
/* Does nothing for one that is not open. */
void sbox_flow_end(struct sbox_flow *f, enum sbox_wire_verdict verdict, int error);

/* The run is over: reports all that are open. */
void sbox_flow_end_all(struct sbox_server *s);

uint64_t sbox_clock_us(void); /* CLOCK_MONOTONIC */

#endif
