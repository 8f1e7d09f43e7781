/* SOCKS 5, the client's side as a server reads it. Pure. RFC 1928; method 0 (no authentication) and
 * CONNECT alone; names are taken as they are (socks5h), addresses too (socks5). */
#ifndef SBOX_PROXY_SOCKS_H
#define SBOX_PROXY_SOCKS_H

#include "proxy/host.h"

enum {
    SBOX_SOCKS_OK = 0,
    SBOX_SOCKS_FAILURE = 1,
    SBOX_SOCKS_NOT_ALLOWED = 2,
    SBOX_SOCKS_HOST_UNREACHABLE = 4,
    SBOX_SOCKS_REFUSED = 5,
    SBOX_SOCKS_COMMAND = 7,
    SBOX_SOCKS_ADDRESS_TYPE = 8,
};

/* The greeting: bytes used (> 0), 0 when more are needed, -EINVAL (no SOCKS 5), -EACCES: well
 * formed but method 0 is not offered (answer 05 ff). */
int sbox_socks_greeting(const uint8_t *data, size_t size);
/* The request: bytes used, 0 when more are needed, -EINVAL (no SOCKS 5: close), or -(1000 + code)
 * when it is to be answered with that code: another command, another type of address, and FAILURE
 * for a name that is no host or port 0. *ret is written only when the result is positive. */
int sbox_socks_request(const uint8_t *data, size_t size, struct sbox_host *ret, uint16_t *ret_port);
/* Writes the reply (10 bytes) for `code`; the bound address in it is always 0.0.0.0:0. */
size_t sbox_socks_reply(uint8_t code, uint8_t reply[10]);

#endif
