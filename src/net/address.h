/* Internet addresses as the network part of sbox knows them: bytes in network order, one spelling,
 * one class. Pure: no system call. Source: RFC 4291, RFC 5952, RFC 6052, RFC 6890 and IANA's
 * special-purpose registries, inet(3) for the old spellings. */
#ifndef SBOX_NET_ADDRESS_H
#define SBOX_NET_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct sbox_address {
    uint8_t family; /* 4 or 6; 0: none */
    uint8_t bytes[16];
};

enum { SBOX_ADDRESS_TEXT = 46 };

enum sbox_address_class {
    SBOX_ADDRESS_PUBLIC, /* may be dialled when a name leads to it; documentation ranges included */
    SBOX_ADDRESS_UNSPECIFIED,
    SBOX_ADDRESS_LOOPBACK,
    SBOX_ADDRESS_PRIVATE, /* RFC 1918, fc00::/7, fec0::/10 */
    SBOX_ADDRESS_LINK_LOCAL,
    SBOX_ADDRESS_CGNAT,
    SBOX_ADDRESS_METADATA, /* 169.254.169.254, fd00:ec2::254 and their like: never by name */
    SBOX_ADDRESS_MULTICAST,
    SBOX_ADDRESS_RESERVED, /* 0/8, 240/4, 198.18/15 and 2001:2::/48 (sbox's own inside), 192.0.0/24
                              ... */
};

/* Strict: four decimal numbers without leading zeros, or RFC 4291 without a zone, without brackets.
 * 0 or -EINVAL. */
int sbox_address_parse(const char *text, struct sbox_address *ret);

/* Any spelling that some resolver takes for an address: 2130706433, 0x7f.1, 0177.0.0.1, 127.1, with
 * a trailing dot, a zone (%lo), brackets. 0, -EINVAL when it is no address at all, -ERANGE when it
 * looks like one and is none (no host name either: the last label is all digits or 0x...).
 */
int sbox_address_parse_any(const char *text, struct sbox_address *ret);

/* ::ffff:a.b.c.d is how sockets write an IPv4 address: that one, or `a` itself. */
struct sbox_address sbox_address_unmap(const struct sbox_address *a);

/* ::ffff:a.b.c.d, ::a.b.c.d, 64:ff9b::/96, 64:ff9b:1::/48, 2002::/16, 2001::/32 (Teredo, its
 * client) hold an IPv4 address: true and that address. Its class counts, too. */
bool sbox_address_embedded(const struct sbox_address *a, struct sbox_address *ret);

/* The class of the address, or of an IPv4 address in it if that is the less public one. */
enum sbox_address_class sbox_address_classify(const struct sbox_address *a);
const char *sbox_address_class_text(enum sbox_address_class c); /* "loopback", "private" ... */

bool sbox_address_equal(const struct sbox_address *a, const struct sbox_address *b);
/* Is it in net/prefix? Never with another family. */
bool sbox_address_within(const struct sbox_address *a, const struct sbox_address *net, int prefix);
/* RFC 5952 text, "" without a family; returns `text`. */
const char *sbox_address_format(const struct sbox_address *a, char text[SBOX_ADDRESS_TEXT]);

/* To the kernel's form: its size, 0 without a family. From it, unmapped: 0 or -EAFNOSUPPORT. */
socklen_t sbox_address_to_sockaddr(const struct sbox_address *a, uint16_t port,
                                   struct sockaddr_storage *ret);
int sbox_address_from_sockaddr(const struct sockaddr_storage *s, struct sbox_address *ret,
                               uint16_t *ret_port);

#endif
