/* Reaching a network. A packet that leaves without an answer counts as OK: it has left. */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAIT_MS = 400 };

struct target {
    struct sockaddr_storage address;
    socklen_t size;
};

/* "127.0.0.1" or "2001:db8::1"; the port may stand in probe.conf (row->number 0). */
static struct target target_of(const struct probe_row *row, const char *conf_port)
{
    struct target t = {.size = sizeof(struct sockaddr_in)};
    long port = row->number ? row->number : probe_conf_number(conf_port);
    struct sockaddr_in *v4 = (struct sockaddr_in *)&t.address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&t.address;
    if (inet_pton(AF_INET, row->path, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
    } else {
        inet_pton(AF_INET6, row->path, &v6->sin6_addr);
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        t.size = sizeof *v6;
    }
    return t;
}

static int stream_connects(const struct probe_row *row, int protocol)
{
    struct target t = target_of(row, "tcp_port");
    int fd = socket(t.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&t.address, t.size) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return -errno;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (poll(&p, 1, WAIT_MS) == 0)
        return 0; /* the SYN is on its way */
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return -error;
}

static int tcp(const struct probe_row *row)
{
    return stream_connects(row, 0);
}

static int mptcp(const struct probe_row *row)
{
    return stream_connects(row, 262 /* IPPROTO_MPTCP */);
}

/* The first bytes ride on the SYN, without connect(2). */
static int tcp_fast_open(const struct probe_row *row)
{
    struct target t = target_of(row, "tcp_port");
    int fd = socket(t.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    ssize_t n = sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&t.address, t.size);
    return n < 0 && errno != EINPROGRESS ? -errno : 0;
}

/* To the loopback a datagram always goes; only the host's service answers. Elsewhere it has left.
 */
static int datagram_goes(const struct probe_row *row, int protocol)
{
    char reply[8];
    struct target t = target_of(row, "udp_port");
    int fd = socket(t.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        return -errno;
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&t.address, t.size) < 0)
        return -errno;
    if (send(fd, "x", 1, MSG_NOSIGNAL) < 0)
        return -errno;
    if (row->number)
        return 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, WAIT_MS) == 0)
        return probe_word("no answer");
    return probe_result(recv(fd, reply, sizeof reply, 0));
}

static int udp(const struct probe_row *row)
{
    return datagram_goes(row, 0);
}

static int udp_lite(const struct probe_row *row)
{
    return datagram_goes(row, IPPROTO_UDPLITE);
}

/* What the system's resolver would ask. */
static int dns(const struct probe_row *row)
{
    char line[256], server[64] = "";
    FILE *f = fopen("/etc/resolv.conf", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "nameserver %63s", server) == 1)
            break;
    if (f)
        fclose(f);
    struct probe_row there = {.path = server[0] ? server : "192.0.2.53", .number = row->number};
    return datagram_goes(&there, 0);
}

static int any_interface_but_lo(const struct probe_row *row)
{
    (void)row;
    struct ifaddrs *all, *i;
    if (getifaddrs(&all) < 0)
        return -errno;
    for (i = all; i; i = i->ifa_next)
        if (!(i->ifa_flags & IFF_LOOPBACK))
            return 0;
    return probe_word("none");
}

static int any_default_route(const struct probe_row *row)
{
    char line[256];
    FILE *f = fopen(row->path, "re");
    if (!f)
        return -errno;
    while (fgets(line, sizeof line, f))
        if (strstr(line, "\t00000000\t") ||
            strncmp(line, "00000000000000000000000000000000 00", 35) == 0)
            if (!strstr(line, " lo\n") && !strstr(line, "\tlo\t")) {
                fclose(f);
                return 0;
            }
    fclose(f);
    return probe_word("none");
}

static int opens_socket(const struct probe_row *row, int type, int protocol)
{
    int fd = socket((int)row->number, type | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

static int family_stream(const struct probe_row *row)
{
    return opens_socket(row, SOCK_STREAM, 0);
}

static int family_dgram(const struct probe_row *row)
{
    return opens_socket(row, SOCK_DGRAM, 0);
}

static int family_raw(const struct probe_row *row)
{
    return opens_socket(row, SOCK_RAW, 0);
}

static int family_seqpacket(const struct probe_row *row)
{
    return opens_socket(row, SOCK_SEQPACKET, 0);
}

static int raw_icmp(const struct probe_row *row)
{
    return opens_socket(row, SOCK_RAW, IPPROTO_ICMP);
}

static int raw_any(const struct probe_row *row)
{
    return opens_socket(row, SOCK_RAW, IPPROTO_RAW);
}

static int ping(const struct probe_row *row)
{
    return opens_socket(row, SOCK_DGRAM, row->number == AF_INET6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
}

static int sctp(const struct probe_row *row)
{
    return opens_socket(row, SOCK_STREAM, IPPROTO_SCTP);
}

static int dccp(const struct probe_row *row)
{
    return opens_socket(row, 6 /* SOCK_DCCP */, IPPROTO_DCCP);
}

static int netlink(const struct probe_row *row)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, (int)row->number);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

static const struct probe_row probe_net_rows[] = {
    {"net.tcp.localhost", tcp, "127.0.0.1", 0, 0},
    {"net.tcp.localhost-2", tcp, "127.0.0.2", 0, 0},
    {"net.tcp.localhost-v6", tcp, "::1", 0, 0},
    {"net.tcp.localhost-mapped", tcp, "::ffff:127.0.0.1", 0, 0},
    {"net.tcp.unspecified", tcp, "0.0.0.0", 0, 0},
    {"net.tcp.metadata", tcp, "169.254.169.254", 80, 0},
    {"net.tcp.outside", tcp, "192.0.2.1", 443, 0},
    {"net.tcp.outside-v6", tcp, "2001:db8::1", 443, 0},
    {"net.tcp.private", tcp, "10.0.0.1", 22, 0},
    {"net.tcp.fast-open", tcp_fast_open, "192.0.2.1", 443, 0},
    {"net.mptcp.outside", mptcp, "192.0.2.1", 443, 0},
    {"net.udp.localhost", udp, "127.0.0.1", 0, 0},
    {"net.udp.localhost-v6", udp, "::1", 0, 0},
    {"net.udp.outside", udp, "192.0.2.1", 443, 0},
    {"net.udp.outside-v6", udp, "2001:db8::1", 443, 0},
    {"net.udp.broadcast", udp, "255.255.255.255", 9, 0},
    {"net.udp.multicast", udp, "224.0.0.251", 5353, 0},
    {"net.udp.lite", udp_lite, "192.0.2.1", 443, 0},
    {"net.dns", dns, NULL, 53, 0},
    {"net.interfaces", any_interface_but_lo, NULL, 0, 0},
    {"net.route", any_default_route, "/proc/net/route", 0, 0},
    {"net.route-v6", any_default_route, "/proc/net/ipv6_route", 0, 0},
    {"net.icmp.ping", ping, NULL, AF_INET, 0},
    {"net.icmp.ping-v6", ping, NULL, AF_INET6, 0},
    {"net.raw.icmp", raw_icmp, NULL, AF_INET, 0},
    {"net.raw.any", raw_any, NULL, AF_INET, 0},
    {"net.raw.any-v6", raw_any, NULL, AF_INET6, 0},
    {"net.sctp", sctp, NULL, AF_INET, 0},
    {"net.dccp", dccp, NULL, AF_INET, 0},
    {"net.family.packet", family_raw, NULL, AF_PACKET, 0},
    {"net.family.packet-dgram", family_dgram, NULL, AF_PACKET, 0},
    {"net.family.vsock", family_stream, NULL, AF_VSOCK, 0},
    {"net.family.vsock-dgram", family_dgram, NULL, AF_VSOCK, 0},
    {"net.family.alg", family_seqpacket, NULL, AF_ALG, 0},
    {"net.family.key", family_raw, NULL, AF_KEY, 0},
    {"net.family.bluetooth", family_raw, NULL, AF_BLUETOOTH, 0},
    {"net.family.can", family_raw, NULL, AF_CAN, 0},
    {"net.family.tipc", family_stream, NULL, AF_TIPC, 0},
    {"net.family.rds", family_seqpacket, NULL, AF_RDS, 0},
    {"net.family.xdp", family_raw, NULL, AF_XDP, 0},
    {"net.family.smc", family_stream, NULL, AF_SMC, 0},
    {"net.family.qipcrtr", family_dgram, NULL, AF_QIPCRTR, 0},
    {"net.family.kcm", family_seqpacket, NULL, AF_KCM, 0},
    {"net.family.llc", family_stream, NULL, AF_LLC, 0},
    {"net.family.x25", family_seqpacket, NULL, AF_X25, 0},
    {"net.family.ax25", family_dgram, NULL, AF_AX25, 0},
    {"net.family.appletalk", family_dgram, NULL, AF_APPLETALK, 0},
    {"net.family.nfc", family_raw, NULL, AF_NFC, 0},
    {"net.family.phonet", family_dgram, NULL, AF_PHONET, 0},
    {"net.family.pppox", family_stream, NULL, AF_PPPOX, 0},
    {"net.family.unspec", family_stream, NULL, AF_UNSPEC, 0},
    {"net.family.unknown", family_stream, NULL, 46, 0},
    {"net.netlink.sock-diag", netlink, NULL, 4, 0},
    {"net.netlink.xfrm", netlink, NULL, 6, 0},
    {"net.netlink.audit", netlink, NULL, 9, 0},
    {"net.netlink.connector", netlink, NULL, 11, 0},
    {"net.netlink.netfilter", netlink, NULL, 12, 0},
    {"net.netlink.uevent", netlink, NULL, 15, 0},
    {"net.netlink.generic", netlink, NULL, 16, 0},
    {"net.netlink.crypto", netlink, NULL, 21, 0},
};
PROBE_TABLE(probe_net);
