/* What init hands to sbox-proxy: listeners at the start, sockets of the sandbox when it wants them.
 * The proxy parses hostile bytes and may be somebody else's by then: init never waits for it
 * without a bound, and believes nothing but two small numbers. */
#include "sandbox/gateway.h"

#include "base/cleanup.h"
#include "net/layout.h"
#include "net/wire.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>

/* Sends on a non-blocking socket, waiting as long as is bearable before the command runs. */
static int hand_over(int socket, const struct sbox_gateway_message *m, int fd, int patience_ms)
{
    int r = sbox_wire_send(socket, m, sizeof *m, fd);
    while (r == -EAGAIN) {
        struct pollfd p = {.fd = socket, .events = POLLOUT};
        if (poll(&p, 1, patience_ms) <= 0)
            return -ETIMEDOUT;
        r = sbox_wire_send(socket, m, sizeof *m, fd);
    }
    return r == 0 ? -EPIPE : r < 0 ? r : 0;
}

struct listener {
    enum sbox_listener_kind kind;
    int family; /* AF_* */
    int type;
    const char *address;
    uint16_t port;
    bool shared; /* with other listeners on that port */
};

static int bind_to(int fd, const struct listener *l)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(l->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(l->port)};
    bool six = l->family == AF_INET6;
    void *at = six ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr;
    if (inet_pton(l->family, l->address, at) != 1)
        return -EINVAL;
    const struct sockaddr *name = six ? (const void *)&v6 : (const void *)&v4;
    return bind(fd, name, six ? sizeof v6 : sizeof v4) < 0 ? -errno : 0;
}

/* Two listeners may want one port, 198.18.0.1:53 and every address's 53: the kernel allows it to
 * sockets of one user that all say so, and gives a connection to the more exact one. Not where the
 * command could say so, too. */
static int set_options(int fd, const struct listener *l)
{
    const int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0)
        return -errno;
    if (l->shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0)
        return -errno;
    if (l->family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) < 0)
        return -errno;
    return 0;
}

static int open_listener(int socket_to_proxy, struct listener l)
{
    _cleanup_close_ int fd = socket(l.family, l.type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int r = set_options(fd, &l);
    if (r == 0)
        r = bind_to(fd, &l);
    if (r == 0 && l.type == SOCK_STREAM && listen(fd, SOMAXCONN) < 0)
        r = -errno;
    const struct sbox_gateway_message m = {.type = SBOX_GATEWAY_LISTENER,
                                           .kind = (uint8_t)l.kind,
                                           .family = l.family == AF_INET6 ? 6 : 4,
                                           .port = l.port};
    return r < 0 ? r : hand_over(socket_to_proxy, &m, fd, SBOX_GATEWAY_PATIENCE_MS);
}

/* One TCP port at an address of each family. */
static int open_both(int socket, struct listener l, const char *at4, const char *at6)
{
    l.type = SOCK_STREAM;
    l.family = AF_INET;
    l.address = at4;
    int r = open_listener(socket, l);
    if (r < 0 || !at6)
        return r;
    l.family = AF_INET6;
    l.address = at6;
    return open_listener(socket, l);
}

static int open_resolver(int socket, const char *at, bool shared)
{
    int r = open_listener(
        socket, (struct listener){SBOX_LISTENER_DNS_UDP, AF_INET, SOCK_DGRAM, at, 53, shared});
    return r < 0 ? r
                 : open_listener(socket, (struct listener){SBOX_LISTENER_DNS_TCP, AF_INET,
                                                           SOCK_STREAM, at, 53, shared});
}

static int listen_in_gateway(const struct sbox_gateway *g)
{
    const struct sbox_policy_network *n = g->network;
    bool shared = !g->on_loopback;
    int r =
        open_listener(n->socket, (struct listener){SBOX_LISTENER_PROXY, AF_INET, SOCK_STREAM,
                                                   SBOX_NET_GATEWAY4, SBOX_NET_PROXY_PORT, shared});
    if (r == 0)
        r = open_resolver(n->socket, SBOX_NET_GATEWAY4, shared);
    for (size_t i = 0; r == 0 && i < n->port_count; i++) {
        const struct listener l = {
            .kind = SBOX_LISTENER_TRANSPARENT, .port = n->ports[i], .shared = shared};
        r = open_both(n->socket, l, "0.0.0.0", g->v6 ? "::" : NULL);
        if (r == -EADDRINUSE && !shared) /* 53 or 3128: there it is the proxy's own */
            r = 0;
    }
    return r;
}

static int listen_inside(const struct sbox_gateway *g)
{
    const struct sbox_policy_network *n = g->network;
    int r = g->resolver_on_loopback ? open_resolver(n->socket, "127.0.0.1", false) : 0;
    for (size_t i = 0; r == 0 && i < n->host_port_count; i++) {
        const struct listener l = {.kind = SBOX_LISTENER_HOST_PORT, .port = n->host_ports[i]};
        r = open_both(n->socket, l, "127.0.0.1", g->v6 ? "::1" : NULL);
    }
    const struct sbox_gateway_message end = {.type = SBOX_GATEWAY_LISTENERS_END};
    return r < 0 ? r : hand_over(n->socket, &end, -1, SBOX_GATEWAY_PATIENCE_MS);
}

int sbox_gateway_listen(const struct sbox_gateway *g, enum sbox_gateway_side side)
{
    if (side == SBOX_SIDE_INSIDE)
        return listen_inside(g);
    return fcntl(g->network->socket, F_SETFL, O_NONBLOCK) < 0 ? -errno : listen_in_gateway(g);
}

static bool send_sockets(int to, const struct sbox_gateway_message *wanted, int patience_ms)
{
    enum { MOST = 16 };
    if (wanted->type != SBOX_GATEWAY_SOCKETS_WANTED || wanted->count < 1 || wanted->count > MOST ||
        (wanted->family != 4 && wanted->family != 6))
        return false;
    for (uint32_t i = 0; i < wanted->count; i++) {
        const struct sbox_gateway_message m = {.type = SBOX_GATEWAY_SOCKET,
                                               .family = wanted->family};
        _cleanup_close_ int fd = socket(wanted->family == 6 ? AF_INET6 : AF_INET,
                                        SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0) /* no IPv6 here: the proxy tries the other family */
            continue;
        if (hand_over(to, &m, fd, patience_ms) < 0)
            return false;
    }
    return true;
}

/* It may want its first sockets before it says that it listens. */
int sbox_gateway_wait(int socket)
{
    enum { MESSAGES_MAX = 64 };
    for (int i = 0; i < MESSAGES_MAX; i++) {
        struct sbox_gateway_message m;
        struct pollfd p = {.fd = socket, .events = POLLIN};
        int r = poll(&p, 1, SBOX_GATEWAY_PATIENCE_MS);
        if (r <= 0)
            return r < 0 ? -errno : -ETIMEDOUT;
        r = sbox_wire_receive(socket, &m, sizeof m, NULL);
        if (r <= 0)
            return r < 0 ? r : -EPIPE;
        if (m.type == SBOX_GATEWAY_LISTENING)
            return 0;
        if (!send_sockets(socket, &m, SBOX_GATEWAY_PATIENCE_MS))
            return -EPROTO;
    }
    return -EPROTO;
}

/* Without waiting: init has a command to look after, and what one order brings fits the socket's
 * buffer unless the proxy orders and does not take. */
bool sbox_gateway_serve(int socket)
{
    struct sbox_gateway_message m;
    int r = sbox_wire_receive(socket, &m, sizeof m, NULL);
    return r == -EAGAIN || (r > 0 && send_sockets(socket, &m, 0));
}
