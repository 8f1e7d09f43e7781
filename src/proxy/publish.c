/* Ports of the host that lead to a server inside (-p). The listener is opened before confinement
 * takes listening away. A connection inside starts from a socket that init made in the sandbox's
 * namespace: this process never enters it. A few are kept ready, so that a browser with six
 * connections at once does not wait for each.
 *
 * Where a server inside listens nobody says: its IPv4 loopback, then IPv6, then the address that
 * the outside of the sandbox would see (a server bound to 0.0.0.0 has all three). */
#include "proxy/server.h"

#include "base/escape.h"
#include "base/fd.h"
#include "proxy/reach.h"
#include "proxy/relay.h"

#include <netinet/tcp.h>

enum { FAMILIES = 2, READY = 4, STOCK_MAX = 16, PLACES = 3 };

struct entry {
    struct sbox_address address;
    uint16_t outside, inside;
    int fd;
};

/* Sockets of one family. */
struct stock {
    uint8_t family;
    int fds[STOCK_MAX];
    size_t count;
    size_t asked; /* of init, and not here yet */
};

struct visit;
struct sbox_publisher {
    struct entry entries[SBOX_NET_PUBLISH_MAX];
    size_t count;
    struct stock stocks[FAMILIES];
    TAILQ_HEAD(, visit) queue; /* waiting for a socket */
};

/* A connection from the host. */
struct visit {
    TAILQ_ENTRY(visit) entry;
    struct sbox_server *server;
    struct sbox_flow flow;
    uint16_t port;
    int outside, inside;
    size_t place; /* being tried */
    bool queued;
    struct event *event; /* connected, or out of patience */
};

static const struct sbox_address places[PLACES] = {
    {4, {127, 0, 0, 1}}, {6, {[15] = 1}}, {4, {198, 18, 0, 2}}};

static struct stock *stock_of(struct sbox_publisher *p, uint8_t family)
{
    return &p->stocks[family == 6 ? 1 : 0];
}

/* -- sockets of the sandbox -------------------------------------------------------------------- */

static void order(struct sbox_server *s, struct stock *k)
{
    if (s->gateway < 0 || k->count + k->asked >= READY)
        return;
    const struct sbox_gateway_message m = {.type = SBOX_GATEWAY_SOCKETS_WANTED,
                                           .family = k->family,
                                           .count = (uint32_t)(READY - k->count - k->asked)};
    if (sbox_wire_send(s->gateway, &m, sizeof m, -1) == 1)
        k->asked += m.count;
}

/* -- a visit ----------------------------------------------------------------------------------- */

static void leave_queue(struct visit *v)
{
    if (v->queued)
        TAILQ_REMOVE(&v->server->publisher->queue, v, entry);
    v->queued = false;
}

static void end_visit(struct visit *v, int error)
{
    const struct linger hard = {.l_onoff = 1, .l_linger = 0};
    leave_queue(v);
    if (v->event)
        event_free(v->event);
    sbox_close(v->inside);
    (void)setsockopt(v->outside, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    sbox_close(v->outside);
    v->server->clients--;
    sbox_flow_end(&v->flow, SBOX_VERDICT_FAILED, error);
    free(v);
}

static void arrive(struct visit *v)
{
    const int on = 1;
    event_free(v->event);
    (void)setsockopt(v->inside, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(v->inside, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    v->flow.record.address = places[v->place];
    sbox_relay_start(v->server, v->inside, v->outside, &v->flow, NULL, 0, NULL);
    free(v);
}

static void try_place(struct visit *v);

static void try_next(struct visit *v, int error)
{
    sbox_close(v->inside);
    v->inside = -1;
    if (++v->place == PLACES)
        end_visit(v, error);
    else
        try_place(v);
}

static void on_event(evutil_socket_t fd, short what, void *context)
{
    struct visit *v = context;
    int error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (fd < 0 || !(what & EV_WRITE)) { /* no socket came, or the server does not answer */
        end_visit(v, error);
        return;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        error = errno;
    if (error == 0)
        arrive(v);
    else
        try_next(v, error);
}

/* fd -1: only the patience. */
static void wait_for(struct visit *v, int fd)
{
    const struct timeval patience = {.tv_sec = SBOX_PROXY_DIAL_SECONDS};
    if (v->event)
        event_free(v->event);
    v->event = event_new(v->server->base, fd, fd < 0 ? 0 : EV_WRITE, on_event, v);
    if (!v->event || event_add(v->event, &patience) < 0)
        end_visit(v, ENOMEM);
}

static void connect_inside(struct visit *v)
{
    struct sockaddr_storage to;
    socklen_t size = sbox_address_to_sockaddr(&places[v->place], v->port, &to);
    if (connect(v->inside, (struct sockaddr *)&to, size) < 0 && errno != EINPROGRESS)
        try_next(v, errno);
    else
        wait_for(v, v->inside);
}

static void try_place(struct visit *v)
{
    struct sbox_publisher *p = v->server->publisher;
    struct stock *k = stock_of(p, places[v->place].family);
    if (k->count > 0) {
        v->inside = k->fds[--k->count];
        order(v->server, k);
        connect_inside(v);
        return;
    }
    order(v->server, k);
    TAILQ_INSERT_TAIL(&p->queue, v, entry);
    v->queued = true;
    wait_for(v, -1);
}

static void take_visitor(struct sbox_listener *l, int fd, const struct sockaddr_storage *from)
{
    struct sbox_server *s = l->server;
    struct visit *v = calloc(1, sizeof *v);
    const struct entry *e = l->context;
    const struct sbox_host host = {.address = e->address};
    (void)from;
    if (!v) {
        sbox_close(fd);
        s->clients--;
        return;
    }
    *v = (struct visit){.server = s, .port = e->inside, .outside = fd, .inside = -1};
    sbox_flow_begin(&v->flow, s, SBOX_WAY_PUBLISHED);
    sbox_flow_name(&v->flow, &host, l->port);
    try_place(v);
}

void sbox_publish_supply(struct sbox_server *s, uint8_t family, int fd)
{
    struct sbox_publisher *p = s->publisher;
    struct stock *k = p ? stock_of(p, family) : NULL;
    struct visit *v;
    if (!k || k->count == STOCK_MAX) {
        sbox_close(fd);
        return;
    }
    k->asked -= k->asked > 0;
    TAILQ_FOREACH(v, &p->queue, entry)
    if (places[v->place].family == k->family)
        break;
    if (!v) {
        k->fds[k->count++] = fd;
        return;
    }
    leave_queue(v);
    v->inside = fd;
    connect_inside(v);
    order(s, k);
}

void sbox_publish_start(struct sbox_server *s)
{
    for (size_t i = 0; s->publisher && i < FAMILIES; i++)
        order(s, &s->publisher->stocks[i]);
}

/* -- opening ----------------------------------------------------------------------------------- */

static int listen_at(const struct sbox_address *address, uint16_t port)
{
    struct sockaddr_storage at;
    const int on = 1;
    socklen_t size = sbox_address_to_sockaddr(address, port, &at);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->family == 6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&at, size) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    int error = errno;
    sbox_close(fd);
    return -error;
}

static struct sbox_publisher *publisher_new(void)
{
    struct sbox_publisher *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    TAILQ_INIT(&p->queue);
    p->stocks[0].family = 4;
    p->stocks[1].family = 6;
    return p;
}

int sbox_publish_open(struct sbox_server *s, const struct sbox_address *address, uint16_t outside,
                      uint16_t inside, struct sbox_error *err)
{
    char text[SBOX_ADDRESS_TEXT];
    if (!s->publisher)
        s->publisher = publisher_new();
    if (!s->publisher)
        return sbox_error_set(err, ENOMEM, "--publish");
    if (s->publisher->count == SBOX_NET_PUBLISH_MAX)
        return sbox_error_say(err, E2BIG, "more than %d ports to publish", SBOX_NET_PUBLISH_MAX);
    int fd = listen_at(address, outside);
    if (fd < 0)
        return sbox_error_set(err, -fd, "publish port %u at %s", outside,
                              sbox_address_format(address, text));
    struct entry *e = &s->publisher->entries[s->publisher->count++];
    *e = (struct entry){.address = *address, .outside = outside, .inside = inside, .fd = fd};
    int r = sbox_listener_add(s, outside, fd, take_visitor, e);
    return r < 0 ? sbox_error_set(err, -r, "publish port %u", outside) : 0;
}
