/* The gateway: the only network that a run with network options has.
 *
 * Theory of operation (who has which address: net/layout.h)
 * 1. The process that becomes the command has made the sandbox's network namespace, with lo and
 *    nothing else. Beside init, which builds the view meanwhile, it makes a second one, owned by
 * the same user namespace, and a veth pair between the two.
 * 2. The gateway takes every address of the ranges, and each literal that is allowed, for its own:
 *    a `local` route. The listeners there are opened while there still are the capabilities for low
 *    ports, and handed to sbox-proxy; what was dialled is what getsockname(2) tells it.
 * 3. Back inside: routes to the ranges and the literals through the gateway, `prohibit` for all
 *    else, so that a program learns at once (EACCES) that there is no way.
 * 4. Here the listeners are closed, the namespace is kept by init: with the proxy dead, connections
 *    are refused. The gateway forwards nothing: it has no other interface.
 *
 * Without veth in the kernel the sandbox's own namespace is the gateway, too: the ranges are local
 * there, and the listeners are on every address of it. What is lost is that a server inside may use
 * the ports that are allowed outwards.
 *
 * The command has no capability: it changes no route, address or rule of either namespace, has no
 * descriptor of the gateway, and sends packets to it through the veth only, where nothing but the
 * listeners answers. A packet from 198.18.0.2 would be dropped as a martian if that address were
 * the gateway's own, like the rest of its range; hence the LINK routes. (IPv4 does without today:
 * the kernel keeps its two tables in one trie, and the pair's own /30 is more exact there.)
 *
 * Link-local addresses are given by hand: neighbour discovery asks from one, and whether the kernel
 * makes one by itself, which it then holds back for its first second, is a setting of the host's.
 */
#include "sandbox/gateway.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "net/layout.h"
#include "net/rtnl.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>

#define INSIDE_LINK  "sbox0"
#define GATEWAY_LINK "sbox1"
enum { LOOPBACK = 1 }; /* lo has this index in every network namespace */

/* One of the two namespaces. */
struct side {
    int rtnl;
    int link; /* its end of the pair */
    const char *own4, *own6;
    const char *other4, *other6;
    const char *link_local; /* any two that differ */
};

static struct sbox_address address_of(const char *text)
{
    struct sbox_address a = {.family = strchr(text, ':') ? 6 : 4};
    (void)inet_pton(a.family == 6 ? AF_INET6 : AF_INET, text, a.bytes);
    return a;
}

static int add_address(const struct side *s, const char *text, int prefix)
{
    const struct sbox_address a = address_of(text);
    return sbox_rtnl_address(s->rtnl, s->link, &a, prefix);
}

/* IPv6 may be switched off in the kernel or for new interfaces: then there is IPv4 only. */
static bool without_v6(int r)
{
    return r == -EAFNOSUPPORT || r == -EOPNOTSUPP || r == -EACCES;
}

/* Brings the link up with its addresses; what is on it directly is the other side. */
static int raise_link(struct side *s, const char *name, bool *v6)
{
    enum { PAIR4 = 30, PAIR6 = 126, LINK_LOCAL = 64 };
    s->link = (int)if_nametoindex(name);
    if (s->link == 0)
        return -errno;
    int r = *v6 ? sbox_rtnl_no_link_local(s->rtnl, s->link) : 0;
    *v6 = *v6 && !without_v6(r);
    if (r == 0 || !*v6)
        r = sbox_rtnl_up(s->rtnl, s->link);
    if (r == 0)
        r = add_address(s, s->own4, PAIR4);
    if (r < 0 || !*v6)
        return r;
    r = add_address(s, s->link_local, LINK_LOCAL);
    if (r == 0)
        r = add_address(s, s->own6, PAIR6);
    *v6 = !without_v6(r);
    return *v6 ? r : 0;
}

/* What no route can lead to is reached through the proxy's port only: an address that every
 * namespace has for itself, or that stands for many hosts; what lies in the ranges is routed
 * already. */
static bool routable(const struct sbox_address *a)
{
    const uint8_t *b = a->bytes;
    if (a->family == 4)
        return b[0] != 0 && b[0] != 127 && b[0] < 224 && !(b[0] == 198 && (b[1] & 0xfe) == 18);
    struct in6_addr v6;
    memcpy(&v6, b, sizeof v6);
    static const uint8_t range[] = {0x20, 0x01, 0, 2, 0, 0};
    return a->family == 6 && !IN6_IS_ADDR_UNSPECIFIED(&v6) && !IN6_IS_ADDR_LOOPBACK(&v6) &&
           !IN6_IS_ADDR_LINKLOCAL(&v6) && !IN6_IS_ADDR_MULTICAST(&v6) &&
           !IN6_IS_ADDR_V4MAPPED(&v6) && memcmp(b, range, sizeof range) != 0;
}

/* The ranges and the literals: the gateway's own on its side, through the gateway inside. */
static int add_routes(const struct side *s, enum sbox_route_kind kind,
                      const struct sbox_policy_network *network, bool v6)
{
    const struct sbox_address range4 = address_of(SBOX_NET_RANGE4);
    const struct sbox_address range6 = address_of(SBOX_NET_RANGE6);
    const struct sbox_address via4 = address_of(s->other4);
    const struct sbox_address via6 = address_of(s->other6);
    bool through = kind == SBOX_ROUTE_VIA;
    int link = through ? s->link : LOOPBACK;
    int r =
        sbox_rtnl_route(s->rtnl, kind, 4, &range4, SBOX_NET_PREFIX4, through ? &via4 : NULL, link);
    if (r == 0 && v6)
        r = sbox_rtnl_route(s->rtnl, kind, 6, &range6, SBOX_NET_PREFIX6, through ? &via6 : NULL,
                            link);
    for (size_t i = 0; r == 0 && i < network->literal_count; i++) {
        const struct sbox_address *a = &network->literals[i];
        bool six = a->family == 6;
        if (!routable(a) || (six && !v6))
            continue;
        r = sbox_rtnl_route(s->rtnl, kind, a->family, a, six ? 128 : 32,
                            !through ? NULL
                            : six    ? &via6
                                     : &via4,
                            link);
        if (r == -EEXIST) /* listed twice */
            r = 0;
    }
    return r;
}

static int prohibit_the_rest(const struct side *s, bool v6)
{
    int r = sbox_rtnl_route(s->rtnl, SBOX_ROUTE_PROHIBIT, 4, NULL, 0, NULL, 0);
    return r < 0 || !v6 ? r : sbox_rtnl_route(s->rtnl, SBOX_ROUTE_PROHIBIT, 6, NULL, 0, NULL, 0);
}

static int set_up_gateway(struct side *s, const struct sbox_policy_network *network, bool *v6)
{
    int r = sbox_rtnl_up(s->rtnl, LOOPBACK);
    if (r == 0)
        r = raise_link(s, GATEWAY_LINK, v6);
    const struct sbox_address inside4 = address_of(s->other4);
    const struct sbox_address inside6 = address_of(s->other6);
    if (r == 0)
        r = sbox_rtnl_route(s->rtnl, SBOX_ROUTE_LINK, 4, &inside4, 32, NULL, s->link);
    if (r == 0 && *v6)
        r = sbox_rtnl_route(s->rtnl, SBOX_ROUTE_LINK, 6, &inside6, 128, NULL, s->link);
    return r < 0 ? r : add_routes(s, SBOX_ROUTE_LOCAL, network, *v6);
}

static int set_up_inside(struct side *s, const struct sbox_policy_network *network, bool *v6)
{
    int r = raise_link(s, INSIDE_LINK, v6);
    if (r == 0)
        r = add_routes(s, SBOX_ROUTE_VIA, network, *v6);
    return r < 0 ? r : prohibit_the_rest(s, *v6);
}

/* Into the new namespace; the veth pair reaches back into the one that was left. */
static int enter_gateway(struct side *gateway, int own_ns, struct sbox_failure *failure)
{
    failure->stage = "make the gateway's network namespace";
    if (unshare(CLONE_NEWNET) < 0)
        return -errno;
    gateway->rtnl = sbox_rtnl_open();
    if (gateway->rtnl < 0)
        return gateway->rtnl;
    failure->stage = "make the veth pair";
    return sbox_rtnl_veth(gateway->rtnl, GATEWAY_LINK, INSIDE_LINK, own_ns);
}

static int build_apart(struct sbox_gateway *g, struct side *inside, struct side *gateway,
                       int own_ns, struct sbox_failure *failure)
{
    failure->stage = "set up the gateway's network";
    int r = set_up_gateway(gateway, g->network, &g->v6);
    if (r < 0)
        return r;
    failure->stage = "listen in the gateway";
    r = sbox_gateway_listen(g, SBOX_SIDE_GATEWAY);
    if (r < 0)
        return r;
    failure->stage = "set up the network inside";
    if (setns(own_ns, CLONE_NEWNET) < 0)
        return -errno;
    return set_up_inside(inside, g->network, &g->v6);
}

/* An address that is not loopback's counts as a configured family for getaddrinfo(3). */
static int build_on_loopback(struct sbox_gateway *g, struct side *inside, int own_ns,
                             struct sbox_failure *failure)
{
    failure->stage = "set up the network inside";
    if (setns(own_ns, CLONE_NEWNET) < 0)
        return -errno;
    inside->link = LOOPBACK;
    int r = add_address(inside, inside->own4, 32);
    int six = r == 0 ? add_address(inside, inside->own6, 128) : 0;
    g->v6 = !without_v6(six);
    if (r == 0 && g->v6)
        r = six;
    if (r == 0)
        r = add_routes(inside, SBOX_ROUTE_LOCAL, g->network, g->v6);
    if (r == 0)
        r = prohibit_the_rest(inside, g->v6);
    failure->stage = "listen inside";
    return r < 0 ? r : sbox_gateway_listen(g, SBOX_SIDE_GATEWAY);
}

static int build(struct sbox_gateway *g, struct side *inside, struct side *gateway, int own_ns,
                 struct sbox_failure *failure)
{
    int r = enter_gateway(gateway, own_ns, failure);
    g->on_loopback = r == -EOPNOTSUPP || (r == 0 && g->network->without_veth);
    if (g->on_loopback)
        r = build_on_loopback(g, inside, own_ns, failure);
    else if (r == 0)
        r = build_apart(g, inside, gateway, own_ns, failure);
    if (r < 0)
        return r;
    failure->stage = "listen inside";
    return sbox_gateway_listen(g, SBOX_SIDE_INSIDE);
}

int sbox_gateway_open(struct sbox_gateway *g, int own_ns, struct sbox_failure *failure)
{
    *failure = (struct sbox_failure){"open an rtnetlink socket", NULL};
    struct side inside = {.rtnl = sbox_rtnl_open(),
                          .own4 = SBOX_NET_INSIDE4,
                          .own6 = SBOX_NET_INSIDE6,
                          .other4 = SBOX_NET_GATEWAY4,
                          .other6 = SBOX_NET_GATEWAY6,
                          .link_local = "fe80::2"};
    struct side gateway = {.rtnl = -1,
                           .own4 = SBOX_NET_GATEWAY4,
                           .own6 = SBOX_NET_GATEWAY6,
                           .other4 = SBOX_NET_INSIDE4,
                           .other6 = SBOX_NET_INSIDE6,
                           .link_local = "fe80::1"};
    g->v6 = true;
    int r = inside.rtnl < 0 ? inside.rtnl : build(g, &inside, &gateway, own_ns, failure);
    sbox_close(inside.rtnl);
    if (r < 0)
        sbox_close(gateway.rtnl);
    return r < 0 ? r : gateway.rtnl;
}
