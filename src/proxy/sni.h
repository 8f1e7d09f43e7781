/* The server name in a TLS ClientHello. Pure, bounded at 16 KB of records; the message may be cut
 * into several records. RFC 8446 section 4.1.2 and 5.1, RFC 6066 section 3. */
#ifndef SBOX_PROXY_SNI_H
#define SBOX_PROXY_SNI_H

#include "proxy/host.h"

enum { SBOX_SNI_MAX = 16 << 10 };

enum sbox_sni {
    SBOX_SNI_MORE,    /* more bytes are needed to tell */
    SBOX_SNI_NOT_TLS, /* the first bytes are no TLS handshake record */
    SBOX_SNI_NONE,    /* a ClientHello without a server name */
    SBOX_SNI_NAME,    /* *ret is set */
    SBOX_SNI_BAD,     /* TLS, but broken, too long, or a name that is no host name */
};

enum sbox_sni sbox_sni_parse(const uint8_t *data, size_t size, struct sbox_host *ret);

#endif
