#include "net/rtnl.h"

#include "base/cleanup.h"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>

/* One request and its attributes; none of ours needs half of this room. */
struct request {
    struct nlmsghdr header;
    char room[512];
};

static void begin(struct request *q, uint16_t type, unsigned flags, const void *body, size_t size)
{
    *q = (struct request){.header = {.nlmsg_type = type, .nlmsg_seq = 1}};
    q->header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
    memcpy(q->room, body, size);
    q->header.nlmsg_len = (uint32_t)NLMSG_LENGTH(NLMSG_ALIGN(size));
}

static void *end_of(struct request *q)
{
    return q->room + q->header.nlmsg_len - sizeof q->header;
}

static void add(struct request *q, unsigned short type, const void *data, size_t size)
{
    const struct rtattr attribute = {.rta_len = (unsigned short)RTA_LENGTH(size), .rta_type = type};
    char *at = end_of(q);
    memcpy(at, &attribute, sizeof attribute);
    if (size)
        memcpy(at + RTA_LENGTH(0), data, size);
    q->header.nlmsg_len += (uint32_t)RTA_ALIGN(RTA_LENGTH(size));
}

/* A nest is an attribute whose length is known only when all in it is there. */
static struct rtattr *open_nest(struct request *q, unsigned short type)
{
    struct rtattr *nest = end_of(q);
    add(q, type, NULL, 0);
    return nest;
}

static void close_nest(struct request *q, struct rtattr *nest)
{
    nest->rta_len = (unsigned short)((char *)end_of(q) - (char *)nest);
}

/* Each request is acknowledged before the next is sent, so what comes is this one's answer. */
static int ask(int rtnl, const struct request *q)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char request[sizeof *q];
    } answer;
    ssize_t n = send(rtnl, q, q->header.nlmsg_len, 0);
    if (n < 0)
        return -errno;
    do
        n = recv(rtnl, &answer, sizeof answer, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    if ((size_t)n < NLMSG_LENGTH(sizeof answer.error) || answer.header.nlmsg_type != NLMSG_ERROR)
        return -EPROTO;
    return answer.error.error;
}

static uint8_t kernel_family(uint8_t family)
{
    return family == 6 ? AF_INET6 : AF_INET;
}

static void add_address(struct request *q, unsigned short type, const struct sbox_address *a)
{
    add(q, type, a->bytes, a->family == 6 ? 16 : 4);
}

int sbox_rtnl_open(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    return fd < 0 ? -errno : fd;
}

int sbox_rtnl_no_link_local(int rtnl, int index)
{
    const struct ifinfomsg body = {.ifi_family = AF_UNSPEC, .ifi_index = index};
    const uint8_t none = IN6_ADDR_GEN_MODE_NONE;
    struct request q;
    begin(&q, RTM_SETLINK, 0, &body, sizeof body);
    struct rtattr *families = open_nest(&q, IFLA_AF_SPEC);
    struct rtattr *v6 = open_nest(&q, AF_INET6);
    add(&q, IFLA_INET6_ADDR_GEN_MODE, &none, sizeof none);
    close_nest(&q, v6);
    close_nest(&q, families);
    return ask(rtnl, &q);
}

int sbox_rtnl_up(int rtnl, int index)
{
    const struct ifinfomsg body = {
        .ifi_family = AF_UNSPEC, .ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    struct request q;
    begin(&q, RTM_SETLINK, 0, &body, sizeof body);
    return ask(rtnl, &q);
}

int sbox_rtnl_veth(int rtnl, const char *name, const char *peer, int peer_ns)
{
    static const char kind[] = "veth";
    /* Nothing between the two ends needs small packets: as on the loopback. */
    static const uint32_t mtu = 65535;
    const struct ifinfomsg body = {.ifi_family = AF_UNSPEC};
    struct request q;
    begin(&q, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof body);
    add(&q, IFLA_IFNAME, name, strlen(name) + 1);
    add(&q, IFLA_MTU, &mtu, sizeof mtu);
    struct rtattr *info = open_nest(&q, IFLA_LINKINFO);
    add(&q, IFLA_INFO_KIND, kind, sizeof kind);
    struct rtattr *data = open_nest(&q, IFLA_INFO_DATA);
    struct rtattr *other = open_nest(&q, VETH_INFO_PEER);
    /* The peer's attributes follow a header of its own. */
    memcpy(end_of(&q), &body, sizeof body);
    q.header.nlmsg_len += (uint32_t)NLMSG_ALIGN(sizeof body);
    add(&q, IFLA_IFNAME, peer, strlen(peer) + 1);
    add(&q, IFLA_MTU, &mtu, sizeof mtu);
    add(&q, IFLA_NET_NS_FD, &peer_ns, sizeof peer_ns);
    close_nest(&q, other);
    close_nest(&q, data);
    close_nest(&q, info);
    return ask(rtnl, &q);
}

int sbox_rtnl_address(int rtnl, int index, const struct sbox_address *a, int prefix)
{
    const struct ifaddrmsg body = {.ifa_family = kernel_family(a->family),
                                   .ifa_prefixlen = (uint8_t)prefix,
                                   .ifa_flags = IFA_F_PERMANENT,
                                   .ifa_index = (uint32_t)index};
    const uint32_t flags = IFA_F_PERMANENT | IFA_F_NODAD;
    struct request q;
    begin(&q, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof body);
    add_address(&q, IFA_LOCAL, a);
    add_address(&q, IFA_ADDRESS, a);
    add(&q, IFA_FLAGS, &flags, sizeof flags);
    return ask(rtnl, &q);
}

/* What is looked up first is the table `local`: only a route there makes an address that no
 * interface has a source of answers, and only a route there is more than such a range. */
static struct rtmsg route_body(enum sbox_route_kind kind, uint8_t family, int prefix)
{
    struct rtmsg body = {.rtm_family = kernel_family(family),
                         .rtm_dst_len = (uint8_t)prefix,
                         .rtm_table = RT_TABLE_MAIN,
                         .rtm_protocol = RTPROT_STATIC,
                         .rtm_scope = RT_SCOPE_UNIVERSE,
                         .rtm_type = RTN_UNICAST};
    if (kind == SBOX_ROUTE_LOCAL || kind == SBOX_ROUTE_LINK)
        body.rtm_table = RT_TABLE_LOCAL;
    if (kind == SBOX_ROUTE_LOCAL) {
        body.rtm_type = RTN_LOCAL;
        body.rtm_scope = RT_SCOPE_HOST;
    }
    if (kind == SBOX_ROUTE_LINK)
        body.rtm_scope = RT_SCOPE_LINK;
    if (kind == SBOX_ROUTE_PROHIBIT)
        body.rtm_type = RTN_PROHIBIT;
    return body;
}

int sbox_rtnl_route(int rtnl, enum sbox_route_kind kind, uint8_t family,
                    const struct sbox_address *to, int prefix, const struct sbox_address *via,
                    int index)
{
    const struct rtmsg body = route_body(kind, family, prefix);
    struct request q;
    begin(&q, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof body);
    if (to)
        add_address(&q, RTA_DST, to);
    if (via)
        add_address(&q, RTA_GATEWAY, via);
    if (index)
        add(&q, RTA_OIF, &index, sizeof index);
    return ask(rtnl, &q);
}
