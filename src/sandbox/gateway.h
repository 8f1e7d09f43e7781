/* The network of a run with network options (gateway.c): a second namespace whose listeners
 * sbox-proxy accepts on (net/layout.h, net/wire.h). It is made by the process that becomes the
 * command and served by init, both after clone: no heap, no stdio. */
#ifndef SBOX_SANDBOX_GATEWAY_H
#define SBOX_SANDBOX_GATEWAY_H

#include "sandbox/policy.h"
#include "sandbox/view.h"

#define SBOX_GATEWAY_STAGE_WAIT "wait for sbox-proxy"

/* What a run's network needs beside the policy. */
struct sbox_gateway {
    const struct sbox_policy_network *network;
    bool resolver_on_loopback; /* names are asked of 127.0.0.1, too */
    bool v6;                   /* found out on the way, as is: */
    bool on_loopback;          /* there is no veth: all of it is in the sandbox's own namespace */
};

/* For the process that becomes the command, in the sandbox's network namespace, which `own_ns` is
 * open on. Makes the namespace, the way to it and the listeners, and hands them over. Returns a
 * descriptor that keeps the namespace until init ends, so that without the proxy connections are
 * refused; or -errno. */
int sbox_gateway_open(struct sbox_gateway *gateway, int own_ns, struct sbox_failure *failure);

/* For init. Until the proxy accepts. 0; -ETIMEDOUT, -EPIPE when it ended, or another -errno. */
int sbox_gateway_wait(int socket);

/* The socket is readable: makes the sockets that the proxy wants. False: poll it no longer. */
bool sbox_gateway_serve(int socket);

/* gateway_sockets.c: */
enum { SBOX_GATEWAY_PATIENCE_MS = 10000 };
enum sbox_gateway_side { SBOX_SIDE_GATEWAY, SBOX_SIDE_INSIDE };
/* Opens and hands over what listens on that side. 0 or -errno. */
int sbox_gateway_listen(const struct sbox_gateway *gateway, enum sbox_gateway_side side);

#endif
