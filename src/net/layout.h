/* Who has which address, for all runs: each run has network namespaces of its own.
 *
 *     sandbox  ── veth ──  gateway (a second namespace)  · · sockets · ·  sbox-proxy (host)
 *     198.18.0.2           198.18.0.1                                     dials
 *
 * 198.18.0.0/15 and 2001:2::/48 are set apart for benchmarks (RFC 2544, RFC 5180): no real host has
 * an address there. The gateway takes every address of them for its own (a `local` route); what a
 * client dialled is what getsockname() tells on the accepted socket. The resolver hands out one
 * address of each range for each allowed name. */
#ifndef SBOX_NET_LAYOUT_H
#define SBOX_NET_LAYOUT_H

#define SBOX_NET_GATEWAY4 "198.18.0.1"
#define SBOX_NET_INSIDE4  "198.18.0.2"
#define SBOX_NET_GATEWAY6 "2001:2::1"
#define SBOX_NET_INSIDE6  "2001:2::2"
#define SBOX_NET_RANGE4   "198.18.0.0" /* /15 */
#define SBOX_NET_RANGE6   "2001:2::"   /* /48 */
enum {
    SBOX_NET_PREFIX4 = 15,
    SBOX_NET_PREFIX6 = 48,
    SBOX_NET_PROXY_PORT = 3128,
    /* Synthetic addresses: 198.18.0.0 + n and 2001:2:0:1:: + n, with n from here on. */
    SBOX_NET_FIRST_NAME = 256,
    SBOX_NET_NAMES_MAX = 4096, /* the least recently used name gives its address up */
    SBOX_NET_PORTS_MAX = 64,
    SBOX_NET_LITERALS_MAX = 64,
    SBOX_NET_RULES_MAX = 1024,
    SBOX_NET_PUBLISH_MAX = 32,
    SBOX_NET_HOST_PORTS_MAX = 32,
};

/* The text put over /etc/resolv.conf inside. */
#define SBOX_NET_RESOLV_CONF "nameserver " SBOX_NET_GATEWAY4 "\noptions edns0 timeout:5\n"

#endif
