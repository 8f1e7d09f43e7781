/* The proxy's side of the control protocol (net/wire.h). sbox is trusted, all the more so as it has
 * read nothing of the network: what is malformed here is a fault, not an attack. */
#include "proxy/server.h"

#include "base/cleanup.h"
#include "proxy/reach.h"

#include <fcntl.h>

static int tell(struct sbox_server *s, const struct sbox_wire_message *m)
{
    int r = sbox_wire_send(s->control, m, sizeof *m, -1);
    return r == 1 ? 0 : r == 0 ? -EPIPE : r;
}

/* -- the request ------------------------------------------------------------------------------- */

static int take_upstream(struct sbox_server *s, const struct sbox_wire_message *m,
                         struct sbox_error *err)
{
    struct sbox_upstream **at = m->port == 443 ? &s->upstream_https : &s->upstream_http;
    struct sbox_upstream upstream;
    int r = sbox_upstream_parse(m->text, &upstream, err);
    if (r < 0)
        return r;
    if (!*at)
        *at = malloc(sizeof **at);
    if (!*at)
        return sbox_error_set(err, ENOMEM, "the host's proxy");
    **at = upstream;
    return 0;
}

static int take(struct sbox_server *s, const struct sbox_wire_message *m, struct sbox_error *err)
{
    switch (m->type) {
    case SBOX_WIRE_RULE:
        return sbox_allowlist_add(s->list, m->text, err);
    case SBOX_WIRE_HOST_PORT: /* init opens the listeners: their number is its */
        return 0;
    case SBOX_WIRE_PUBLISH:
        return sbox_publish_open(s, &m->address, m->port, m->port2, err);
    case SBOX_WIRE_UPSTREAM:
        return take_upstream(s, m, err);
    case SBOX_WIRE_OPTIONS:
        s->allow_private = m->flags & SBOX_WIRE_ALLOW_PRIVATE;
        return 0;
    default:
        return sbox_error_say(err, EPROTO, "sbox sends message %u to sbox-proxy", m->type);
    }
}

/* -- the answer -------------------------------------------------------------------------------- */

static int refuse(struct sbox_server *s, const struct sbox_error *err)
{
    struct sbox_wire_message m = {.type = SBOX_WIRE_REFUSED, .code = err->code};
    (void)snprintf(m.text, sizeof m.text, "%s", err->message);
    int r = tell(s, &m);
    return r < 0 ? r : -err->code;
}

static int tell_ports(struct sbox_server *s, struct sbox_error *err)
{
    uint16_t ports[SBOX_NET_PORTS_MAX];
    size_t count = sbox_allowlist_ports(s->list, ports, SBOX_NET_PORTS_MAX);
    if (count > SBOX_NET_PORTS_MAX)
        return sbox_error_say(err, E2BIG, "%zu different ports in the list of hosts, at most %d",
                              count, SBOX_NET_PORTS_MAX);
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct sbox_wire_message m = {.type = SBOX_WIRE_PORT, .port = ports[i]};
        r = tell(s, &m);
    }
    return r;
}

static int tell_literals(struct sbox_server *s, struct sbox_error *err)
{
    struct sbox_address addresses[SBOX_NET_LITERALS_MAX];
    size_t count = sbox_allowlist_literals(s->list, addresses, SBOX_NET_LITERALS_MAX);
    if (count > SBOX_NET_LITERALS_MAX)
        return sbox_error_say(err, E2BIG, "%zu addresses in the list of hosts, at most %d", count,
                              SBOX_NET_LITERALS_MAX);
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct sbox_wire_message m = {.type = SBOX_WIRE_LITERAL, .address = addresses[i]};
        r = tell(s, &m);
    }
    return r;
}

static int tell_texts(struct sbox_server *s)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < sbox_allowlist_count(s->list); i++) {
        struct sbox_wire_message m = {.type = SBOX_WIRE_TEXT_OF};
        if (sbox_allowlist_text(s->list, i, m.text, sizeof m.text) >= 0)
            r = tell(s, &m);
    }
    return r;
}

static int answer(struct sbox_server *s, struct sbox_error *err)
{
    const struct sbox_wire_message compiled = {.type = SBOX_WIRE_COMPILED};
    int r = tell_ports(s, err);
    if (r == 0)
        r = tell_literals(s, err);
    if (r < 0)
        return err->code ? refuse(s, err) : r;
    r = tell_texts(s);
    return r == 0 ? tell(s, &compiled) : r;
}

int sbox_control_compile(struct sbox_server *s)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    for (;;) {
        struct sbox_wire_message m;
        int fd = -1;
        int r = sbox_wire_receive(s->control, &m, sizeof m, &fd);
        if (r <= 0)
            return r;
        if (m.type != SBOX_WIRE_CONNECTION)
            m.text[sizeof m.text - 1] = '\0';
        if (m.type == SBOX_WIRE_GATEWAY && fd >= 0) {
            s->gateway = fd;
            return 1;
        }
        sbox_close_p(&fd);
        /* The first complaint is kept: sbox listens only after COMPILE. */
        if (m.type != SBOX_WIRE_COMPILE) {
            if (err.code == 0)
                (void)take(s, &m, &err);
            continue;
        }
        r = err.code ? refuse(s, &err) : answer(s, &err);
        if (r < 0)
            return r;
    }
}

/* -- while it serves --------------------------------------------------------------------------- */

/* sbox says nothing more: whatever comes is the end. */
static void on_control(evutil_socket_t fd, short what, void *context)
{
    struct sbox_server *s = context;
    struct sbox_wire_message m;
    (void)what;
    if (sbox_wire_receive(fd, &m, sizeof m, NULL) == -EAGAIN)
        return;
    sbox_reports_end(s);
    (void)event_base_loopbreak(s->base);
}

int sbox_control_serve(struct sbox_server *s)
{
    const struct sbox_wire_message ready = {.type = SBOX_WIRE_READY};
    if (fcntl(s->control, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    s->control_event = event_new(s->base, s->control, EV_READ | EV_PERSIST, on_control, s);
    if (!s->control_event || event_add(s->control_event, NULL) < 0)
        return -ENOMEM;
    return tell(s, &ready);
}
