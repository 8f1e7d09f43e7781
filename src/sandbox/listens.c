#include "sandbox/listens.h"

#include "base/cleanup.h"
#include "net/layout.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <time.h>

enum {
    FIRST_MS = 1000,
    INTERVAL_MS = 2000,
    LOOKS = 60, /* two minutes: a server that builds first is found, an idle run is left alone */
    STATE_LISTEN = 10, /* TCP_LISTEN of the kernel's tcp_states.h */
    /* Where the kernel takes a port from when none was asked for: nobody waits for such a one. */
    EPHEMERAL_FIRST = 32768,
    EPHEMERAL_LAST = 60999,
};

static int64_t now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool among(const uint16_t *ports, size_t count, uint16_t port)
{
    for (size_t i = 0; i < count; i++)
        if (ports[i] == port)
            return true;
    return false;
}

static void add(struct sbox_ports *p, uint16_t port)
{
    if (p->count < SBOX_LISTENS_ROOM && !among(p->items, p->count, port))
        p->items[p->count++] = port;
}

/* Bytes of an address in network order; IPv4-mapped ones too. */
static bool loopback_or_any(uint8_t family, const void *address)
{
    struct in6_addr a;
    struct in_addr v4;
    memcpy(&a, address, sizeof a);
    memcpy(&v4, address, sizeof v4);
    if (family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&a))
        return IN6_IS_ADDR_UNSPECIFIED(&a) || IN6_IS_ADDR_LOOPBACK(&a);
    if (family == AF_INET6)
        memcpy(&v4, &a.s6_addr[12], sizeof v4);
    return v4.s_addr == 0 || (ntohl(v4.s_addr) >> 24) == 127;
}

int sbox_listens_parse(const void *packet, size_t size, struct sbox_ports *ports)
{
    const char *at = packet;
    struct nlmsghdr h;
    while (size >= sizeof h) {
        memcpy(&h, at, sizeof h);
        if (h.nlmsg_len < sizeof h || h.nlmsg_len > size)
            return -EPROTO;
        if (h.nlmsg_type == NLMSG_DONE)
            return 1;
        if (h.nlmsg_type == NLMSG_ERROR)
            return -EIO;
        struct inet_diag_msg m;
        if (h.nlmsg_len >= NLMSG_LENGTH(sizeof m)) {
            memcpy(&m, at + NLMSG_HDRLEN, sizeof m);
            if (m.idiag_state == STATE_LISTEN && loopback_or_any(m.idiag_family, m.id.idiag_src))
                add(ports, ntohs(m.id.idiag_sport));
        }
        size_t step = NLMSG_ALIGN(h.nlmsg_len) < size ? NLMSG_ALIGN(h.nlmsg_len) : size;
        at += step;
        size -= step;
    }
    return 0;
}

static bool of_interest(const struct sbox_listens *l, uint16_t port)
{
    const struct sbox_policy_network *n = l->network;
    if (port >= EPHEMERAL_FIRST && port <= EPHEMERAL_LAST)
        return false;
    /* Without veth the proxy's own listeners are seen, too. */
    return !n || !(port == SBOX_NET_PROXY_PORT || among(n->ports, n->port_count, port) ||
                   among(n->published, n->published_count, port) ||
                   among(n->host_ports, n->host_port_count, port));
}

size_t sbox_listens_news(struct sbox_listens *l, const struct sbox_ports *now,
                         uint16_t ret[SBOX_LISTENS_MOST])
{
    size_t n = 0;
    for (size_t i = 0; i < now->count; i++) {
        uint16_t port = now->items[i];
        if (l->named.count == SBOX_LISTENS_MOST)
            break;
        if (!of_interest(l, port) || among(l->named.items, l->named.count, port) ||
            !among(l->before.items, l->before.count, port))
            continue;
        add(&l->named, port);
        ret[n++] = port;
    }
    l->before = *now;
    return n;
}

static int ask(int diag, uint8_t family, struct sbox_ports *ports)
{
    const struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 body;
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.sdiag_family = family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = 1U << STATE_LISTEN},
    };
    if (send(diag, &request, sizeof request, 0) < 0)
        return -errno;
    for (;;) {
        char packet[8192];
        ssize_t n = recv(diag, packet, sizeof packet, 0);
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        int r = sbox_listens_parse(packet, (size_t)n, ports);
        if (r != 0)
            return r < 0 ? r : 0;
    }
}

/* A kernel without inet_diag cannot tell: then nothing is said. */
size_t sbox_listens_look(struct sbox_listens *l, uint16_t ret[SBOX_LISTENS_MOST])
{
    struct sbox_ports now = {.count = 0};
    _cleanup_close_ int diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int r = diag < 0 ? -errno : ask(diag, AF_INET, &now);
    if (r == 0)
        (void)ask(diag, AF_INET6, &now);
    l->looks_left = r < 0 ? 0 : l->looks_left - 1;
    l->next_ms = now_ms() + INTERVAL_MS;
    size_t n = r < 0 ? 0 : sbox_listens_news(l, &now, ret);
    if (l->named.count == SBOX_LISTENS_MOST)
        l->looks_left = 0;
    return n;
}

void sbox_listens_init(struct sbox_listens *l, bool on, const struct sbox_policy_network *network)
{
    *l = (struct sbox_listens){
        .network = network, .next_ms = on ? now_ms() + FIRST_MS : 0, .looks_left = on ? LOOKS : 0};
}

int sbox_listens_timeout(const struct sbox_listens *l)
{
    if (l->looks_left == 0)
        return -1;
    int64_t left = l->next_ms - now_ms();
    return left > 0 ? (int)left : 0;
}
