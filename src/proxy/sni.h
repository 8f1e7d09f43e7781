/* The server name in a TLS ClientHello. Pure, bounded at 16 KB of records; the message may be cut
 * into several records. RFC 8446 section 4.1.2 and 5.1, RFC 6066 section 3.
 *
 * The answer for some bytes never depends on those after them. An encrypted ClientHello counts by
 * the name outside. An SSL 2 hello has no place for a name: NOT_TLS, as good as NONE. */
#ifndef SBOX_PROXY_SNI_H
#define SBOX_PROXY_SNI_H

#include "proxy/host.h"

enum { SBOX_SNI_MAX = 16 << 10 };

enum sbox_sni {
    SBOX_SNI_MORE,    /* more bytes are needed to tell */
    SBOX_SNI_NOT_TLS, /* the first bytes are no ClientHello's */
    SBOX_SNI_NONE,    /* a ClientHello without a server name */
    SBOX_SNI_NAME,    /* *ret is set: a name, or an address (some clients send one) */
    SBOX_SNI_BAD,     /* TLS, but broken, too long, a name that is no host name, or a record before
                         the ClientHello that some servers pass over (a warning) */
};

enum sbox_sni sbox_sni_parse(const uint8_t *data, size_t size, struct sbox_host *ret);

#endif
