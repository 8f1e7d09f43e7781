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

/* Starts sbox-proxy, nothing more: its start-up then runs beside what sbox does meanwhile. */
int sbox_proxy_spawn(struct sbox_proxy *ret, struct sbox_error *err);
/* Sends the request; the proxy compiles it, and opens what is published, while sbox does other
 * things. */
int sbox_proxy_ask(const struct sbox_proxy *proxy, const struct sbox_proxy_request *request,
                   struct sbox_error *err);
/* Waits for the answer. -EINVAL: the message is the usage error for the user; -EADDRINUSE ...: a
 * port to publish cannot be had. */
int sbox_proxy_answer(struct sbox_proxy *proxy, struct sbox_error *err);
/* Hands over the proxy's end of the gateway pair; proxy->gateway is for init then. Does not wait:
 * the proxy confines itself while sbox builds the sandbox, before it reads from any network; init
 * waits for it (LISTENING). When it cannot, REFUSED comes by sbox_proxy_take. */
int sbox_proxy_go(struct sbox_proxy *proxy, struct sbox_error *err);
/* One message of a running proxy, without waiting: 1, 0 when it is gone, -EAGAIN, -EPROTO. Texts
 * are terminated, but not escaped. */
int sbox_proxy_take(struct sbox_proxy *proxy, struct sbox_wire_message *ret);
/* Tells it to end, gives the last messages to `take` (may be NULL), and waits for it. Accepts one
 * that never started or failed. */
void sbox_proxy_stop(struct sbox_proxy *proxy,
                     void (*take)(const struct sbox_wire_message *message, void *context),
                     void *context);

#endif
