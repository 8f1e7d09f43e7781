/* One canonical form for host names: lower-case A-labels without a trailing dot. Pure, bounded.
 * Source: RFC 1123, RFC 5890 to 5892, UTS 46 (libidn2, non-transitional), RFC 3986. */
#ifndef SBOX_PROXY_HOST_H
#define SBOX_PROXY_HOST_H

#include "net/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SBOX_HOST_SIZE = 254 }; /* 253 bytes and NUL */

/* What a client or a rule names: an address (family 4 or 6) or a name. */
struct sbox_host {
    struct sbox_address address;
    char name[SBOX_HOST_SIZE]; /* "" for an address */
};

/* `text` of `size` bytes: a name or an address in any spelling, brackets allowed around IPv6; an
 * IPv4-mapped address becomes the IPv4 address that it is. Underscores are allowed in labels (real
 * ones exist), NUL, '%', '@', '/', blanks, empty labels, hyphens at the ends of a label, a label
 * over 63 or a name over 253 bytes are not, nor is a name that some resolver reads as a number
 * (`1.2.3.4.5`, `example.0x7f`). -EINVAL: not a host. */
int sbox_host_parse(const char *text, size_t size, struct sbox_host *ret);

/* HOST:PORT as in CONNECT, or HOST alone when `default_port` is not 0; IPv6 in brackets. Ports: 1
 * to 5 decimal digits without sign or leading zero, 1 to 65535. */
int sbox_host_port_parse(const char *text, size_t size, uint16_t default_port,
                         struct sbox_host *ret, uint16_t *ret_port);

/* The same name or the same address, both canonical. */
static inline bool sbox_host_equal(const struct sbox_host *a, const struct sbox_host *b)
{
    return sbox_address_equal(&a->address, &b->address) && strcmp(a->name, b->name) == 0;
}

/* Canonical text of name or address (IPv6 without brackets); returns `text`. */
const char *sbox_host_format(const struct sbox_host *h, char text[SBOX_HOST_SIZE]);

#endif
