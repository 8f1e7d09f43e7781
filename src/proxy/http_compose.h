/* The heads that the proxy writes: the request to the server, the response to the client. Pure.
 * RFC 9112 sections 3.2 and 9, RFC 9110 section 7.6.
 *
 * No Via: this proxy is part of the client's own machine, cannot be looped to, and a server's or a
 * cache's behaviour must not depend on whether a command runs inside sbox. */
#ifndef SBOX_PROXY_HTTP_COMPOSE_H
#define SBOX_PROXY_HTTP_COMPOSE_H

#include "base/buf.h"
#include "proxy/head.h"
#include "proxy/reach.h"

/* `upstream` NULL: origin form, for the server itself; otherwise absolute form, with the upstream's
 * credentials. The connection is for this request alone. */
void sbox_compose_request(struct sbox_buf *out, const struct sbox_head *head,
                          const struct sbox_upstream *upstream);
/* keep: the client's connection stays. 101 keeps its Upgrade. */
void sbox_compose_response(struct sbox_buf *out, const struct sbox_response *response, bool keep);

#endif
