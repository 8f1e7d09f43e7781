/* sbox's side of sbox-proxy: finds the program, starts it, compiles the list through it, and takes
 * its messages while the run lasts. Links no network library: sbox itself starts as fast as before.
 */
#ifndef SBOX_PROXY_CLIENT_H
#define SBOX_PROXY_CLIENT_H

#include "base/error.h"
#include "base/strv.h"
#include "net/layout.h"
#include "net/wire.h"

#include <sys/types.h>

struct sbox_proxy_request {
    const struct sbox_strv *rules; /* HOST[:PORT] each */
    const uint16_t *host_ports;
    size_t host_port_count;
    const struct sbox_proxy_publish {
        struct sbox_address address;
        uint16_t outside;
        uint16_t inside;
    } * publish;
    size_t publish_count;
    const char *upstream_http; /* the host's HTTP_PROXY; NULL */
    const char *upstream_https;
    bool allow_private;
};

struct sbox_proxy {
    int control;
    int gateway; /* init's end of the second pair */
    pid_t pid;
    uint16_t ports[SBOX_NET_PORTS_MAX];
    size_t port_count;
    struct sbox_address literals[SBOX_NET_LITERALS_MAX];
    size_t literal_count;
    struct sbox_strv rules; /* canonical */
};

/* Starts sbox-proxy and has the request compiled. -EINVAL: the message is the usage error for the
 * user. On failure nothing is left running. */
int sbox_proxy_start(const struct sbox_proxy_request *request, struct sbox_proxy *ret,
                     struct sbox_error *err);
/* Hands over the proxy's end of the gateway pair; proxy->gateway is for init then. The proxy has
 * confined itself and opened its publishing listeners when this returns 0. */
int sbox_proxy_go(struct sbox_proxy *proxy, struct sbox_error *err);
/* Ends it: closes, takes the last messages, waits. */
void sbox_proxy_stop(struct sbox_proxy *proxy,
                     void (*take)(const struct sbox_wire_message *, void *), void *context);

#endif
