/* What comes from init: listeners until LISTENERS_END, then sockets of the sandbox as they are
 * asked for. When init closes its end nothing ends: what is established goes on until sbox says
 * so. */
#include "proxy/server.h"

#include "base/fd.h"

#include <fcntl.h>

static int take_listener(struct sbox_server *s, const struct sbox_gateway_message *m, int fd)
{
    switch (m->kind) {
    case SBOX_LISTENER_PROXY:
        return sbox_listener_add(s, m->port, fd, sbox_front_take, NULL);
    case SBOX_LISTENER_DNS_UDP:
        return sbox_dns_serve_udp(s, fd);
    case SBOX_LISTENER_DNS_TCP:
        return sbox_listener_add(s, m->port, fd, sbox_dns_take, NULL);
    case SBOX_LISTENER_TRANSPARENT:
        s->v6 = s->v6 || m->family == 6;
        return sbox_listener_add(s, m->port, fd, sbox_transparent_take, NULL);
    case SBOX_LISTENER_HOST_PORT:
        return sbox_listener_add(s, m->port, fd, sbox_host_port_take, NULL);
    default:
        sbox_close(fd);
        return -EPROTO;
    }
}

static int begin(struct sbox_server *s)
{
    const struct sbox_gateway_message listening = {.type = SBOX_GATEWAY_LISTENING};
    /* First: init waits for this message and no other. */
    int r = sbox_wire_send(s->gateway, &listening, sizeof listening, -1);
    s->listening = true;
    sbox_publish_start(s);
    return r == 1 ? 0 : -EPIPE;
}

/* A listener that comes late is not init's doing: it has promised the end of them. */
static int obey(struct sbox_server *s, const struct sbox_gateway_message *m, int fd)
{
    if (m->type == SBOX_GATEWAY_LISTENER && fd >= 0 && !s->listening)
        return take_listener(s, m, fd);
    if (m->type == SBOX_GATEWAY_SOCKET && fd >= 0) {
        sbox_publish_supply(s, m->family, fd);
        return 0;
    }
    sbox_close(fd);
    return m->type == SBOX_GATEWAY_LISTENERS_END && !s->listening ? begin(s) : -EPROTO;
}

static void on_gateway(evutil_socket_t fd, short what, void *context)
{
    struct sbox_server *s = context;
    (void)what;
    for (;;) {
        struct sbox_gateway_message m;
        int with = -1;
        int r = sbox_wire_receive(fd, &m, sizeof m, &with);
        if (r == -EAGAIN)
            return;
        if (r <= 0 || obey(s, &m, with) < 0)
            break;
    }
    event_free(s->gateway_event);
    s->gateway_event = NULL;
    sbox_close(s->gateway);
    s->gateway = -1;
}

int sbox_gateway_link(struct sbox_server *s)
{
    if (fcntl(s->gateway, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    s->gateway_event = event_new(s->base, s->gateway, EV_READ | EV_PERSIST, on_gateway, s);
    return s->gateway_event && event_add(s->gateway_event, NULL) == 0 ? 0 : -ENOMEM;
}
