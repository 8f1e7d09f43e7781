/* Requests to the kernel's network configuration, in the network namespace that the socket was
 * opened in. No heap: safe after clone. Source: rtnetlink(7), veth(4), linux/if_link.h. All return
 * 0 or -errno.
 */
#ifndef SBOX_NET_RTNL_H
#define SBOX_NET_RTNL_H

#include "net/address.h"

/* A NETLINK_ROUTE socket, or -errno. It stays with its namespace when the thread leaves that. */
int sbox_rtnl_open(void);

/* No link-local IPv6 address of the kernel's own making; before the link is up. */
int sbox_rtnl_no_link_local(int rtnl, int index);
int sbox_rtnl_up(int rtnl, int index);
/* Makes the pair `name` here and `peer` in the namespace of `peer_ns`. -EOPNOTSUPP: no veth. */
int sbox_rtnl_veth(int rtnl, const char *name, const char *peer, int peer_ns);
/* Ready at once: no duplicate address detection. */
int sbox_rtnl_address(int rtnl, int index, const struct sbox_address *a, int prefix);

enum sbox_route_kind {
    SBOX_ROUTE_VIA,      /* through `via` on interface `index` */
    SBOX_ROUTE_LOCAL,    /* every address of it is this host's */
    SBOX_ROUTE_LINK,     /* a neighbour on interface `index`, though it lies in a LOCAL range */
    SBOX_ROUTE_PROHIBIT, /* EACCES at once */
};
/* `to` NULL with `family` (4 or 6) and prefix 0: the default route. */
int sbox_rtnl_route(int rtnl, enum sbox_route_kind kind, uint8_t family,
                    const struct sbox_address *to, int prefix, const struct sbox_address *via,
                    int index);

#endif
