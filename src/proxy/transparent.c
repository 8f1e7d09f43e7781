/* A connection that was dialled without knowing of a proxy. The gateway takes every address for its
 * own, so getsockname(2) tells what the client dialled: a synthetic address stands for a name, any
 * other for itself. And the host's own ports (--allow-host-port), which need no decision. */
#include "proxy/server.h"

#include "base/fd.h"
#include "proxy/names.h"
#include "proxy/reach.h"
#include "proxy/relay.h"

#include <netinet/tcp.h>

struct direct {
    struct sbox_server *server;
    struct sbox_flow flow;
    struct sbox_host host;
    struct sbox_reach *reach;
    int fd;
    bool gate;
};

/* RST: "refused", as a host would answer; FIN would look like an empty answer. */
static void refuse(struct sbox_server *s, int fd)
{
    const struct linger hard = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    sbox_close(fd);
    s->clients--;
}

/* A client that hangs up meanwhile is noticed by the relay: the dial is bounded, and a client that
 * has only ended its sending (`echo x | nc`) looks the same from here. */
static void on_reached(void *context, int fd, enum sbox_wire_verdict verdict, int error)
{
    struct direct *d = context;
    d->reach = NULL;
    if (fd < 0) {
        sbox_flow_end(&d->flow, verdict, error);
        refuse(d->server, d->fd);
    } else {
        sbox_relay_start(d->server, d->fd, fd, &d->flow, NULL, 0, d->gate ? &d->host : NULL);
    }
    free(d);
}

static void start(struct sbox_listener *l, int fd, enum sbox_wire_way way,
                  enum sbox_reach_kind kind, const struct sbox_host *host, uint16_t port)
{
    struct sbox_server *s = l->server;
    struct direct *d = calloc(1, sizeof *d);
    if (!d) {
        refuse(s, fd);
        return;
    }
    *d = (struct direct){.server = s, .host = *host, .fd = fd};
    d->gate = kind == SBOX_REACH_TUNNEL && host->address.family == 0;
    sbox_flow_begin(&d->flow, s, way);
    enum sbox_wire_verdict v =
        sbox_reach_start(s, kind, host, port, &d->flow, on_reached, d, &d->reach);
    if (v != SBOX_VERDICT_ALLOWED) {
        sbox_flow_end(&d->flow, v, EACCES);
        refuse(s, fd);
        free(d);
    }
}

void sbox_transparent_take(struct sbox_listener *l, int fd, const struct sockaddr_storage *from)
{
    struct sockaddr_storage dialled;
    socklen_t size = sizeof dialled;
    struct sbox_host host = {0};
    struct sbox_address four;
    uint16_t port = 0;
    (void)from;
    if (getsockname(fd, (struct sockaddr *)&dialled, &size) < 0 ||
        sbox_address_from_sockaddr(&dialled, &host.address, &port) < 0) {
        refuse(l->server, fd);
        return;
    }
    if (!sbox_names_restore(l->server->names, &host) &&
        sbox_address_embedded(&host.address, &four) && host.address.bytes[10] == 0xff)
        host.address = four; /* an IPv4 connection on a dual-stack listener */
    start(l, fd, SBOX_WAY_TRANSPARENT, SBOX_REACH_TUNNEL, &host, port);
}

void sbox_host_port_take(struct sbox_listener *l, int fd, const struct sockaddr_storage *from)
{
    const struct sbox_host host = {.address = {4, {127, 0, 0, 1}}};
    (void)from;
    start(l, fd, SBOX_WAY_HOST_PORT, SBOX_REACH_HOST_PORT, &host, l->port);
}
