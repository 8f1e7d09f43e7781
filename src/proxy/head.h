/* The heads of HTTP messages through the proxy, strictly after RFC 9110 and 9112. Pure, bounded, no
 * allocation: everything points into the caller's buffer. What is not understood is refused (400;
 * 502 for a response), never repaired: two parsers that repair differently are how requests are
 * smuggled.
 *
 * Limits: head 64 KB, first line 16 KB, 200 header lines, header name 256 bytes.
 * Refused in both: bare LF or CR, NUL and other control bytes (high bytes are allowed in values),
 * obs-fold, blank before the colon, empty or non-token name, Content-Length twice or with
 * Transfer-Encoding or not plain digits (also with a leading zero), a Transfer-Encoding that is not
 * exactly chunked or stands in HTTP/1.0, a Connection that is no list of tokens or names Host,
 * Content-Length or Transfer-Encoding, a version but HTTP/1.0 and 1.1.
 * Refused in requests: an empty line first, two Host lines, HTTP/1.1 without Host, Host that
 * differs from the target (in CONNECT it may lack the port), a scheme but http, userinfo, a
 * fragment, high bytes in the target, origin form, `*`, a body of CONNECT. */
#ifndef SBOX_PROXY_HEAD_H
#define SBOX_PROXY_HEAD_H

#include "proxy/host.h"

enum {
    SBOX_HEAD_MAX = 64 << 10,
    SBOX_HEAD_LINE_MAX = 16 << 10,
    SBOX_HEAD_FIELDS_MAX = 200,
    SBOX_HEAD_NAME_MAX = 256,
};

struct sbox_text {
    const char *at;
    size_t size;
};

struct sbox_head_field {
    struct sbox_text name;
    struct sbox_text value; /* without the blanks around it */
};

enum sbox_body { SBOX_BODY_NONE, SBOX_BODY_LENGTH, SBOX_BODY_CHUNKED };

struct sbox_head {
    size_t size;  /* bytes of the head, the empty line included */
    bool connect; /* CONNECT; then host and port are the target, there is no body and no path */
    bool http_1_0;
    bool keep_alive; /* never in HTTP/1.0 (RFC 9112 section 9.3: what a proxy must not do) */
    bool upgrade;    /* Connection: upgrade and Upgrade: after a 101 the connection is a tunnel */
    struct sbox_text method;
    /* Absolute form without scheme and authority. `http://host?q` has no "/" of its own: when it
     * does not begin with one, send "/" before it. Never empty. */
    struct sbox_text path;
    struct sbox_host host;
    uint16_t port;
    enum sbox_body body;
    uint64_t length; /* SBOX_BODY_LENGTH: 1 to 10^18 - 1; `Content-Length: 0` is no body */
    size_t field_count;
    struct sbox_head_field fields[SBOX_HEAD_FIELDS_MAX]; /* in order, Host among them */
};

/* 1: complete; 0: more bytes are needed; -EINVAL: refused, *ret_why (static) says why; -E2BIG: over
 * a limit (431); -EPROTONOSUPPORT: like -EINVAL, the target is https:// (axios asks proxies so: the
 * TLS would be theirs). The answer for some bytes never depends on those after them, so it is the
 * same however the message is cut. *ret is written only at 1. */
int sbox_head_parse(const char *data, size_t size, struct sbox_head *ret, const char **ret_why);

/* Is the field hop-by-hop (Connection and what it names, Proxy-*, Keep-Alive, TE, Upgrade)? Such
 * are not passed on. Transfer-Encoding is: the chunked body goes on as it came. Host is not
 * hop-by-hop, but write it anew from host and port (RFC 9112 section 3.2.2). */
bool sbox_head_is_hop(const struct sbox_head *head, const struct sbox_head_field *field);

/* The head of a response, as far as the framing of its body needs it: status, body (NONE also to
 * HEAD, for 1xx, 204, 304), keep_alive. For an answer to CONNECT say to_head_request: a 2xx has no
 * body whatever it claims; after another status close the connection. */
struct sbox_response {
    size_t size;
    int status; /* 100 to 999 */
    bool http_1_0;
    bool keep_alive;  /* the server's connection can carry another request after the body */
    bool until_close; /* the body ends with the connection; body is NONE */
    struct sbox_text reason;
    enum sbox_body body;
    uint64_t length;
    size_t field_count;
    struct sbox_head_field fields[SBOX_HEAD_FIELDS_MAX];
};
int sbox_response_parse(const char *data, size_t size, bool to_head_request,
                        struct sbox_response *ret, const char **ret_why);
bool sbox_response_is_hop(const struct sbox_response *response,
                          const struct sbox_head_field *field);

/* Follows a chunked body byte by byte, without keeping it. RFC 9112 section 7.1. Bounded: a chunk's
 * size line 1 KB (extensions), all trailer lines 16 KB. Zero-initialise to start. */
struct sbox_chunked {
    uint64_t left; /* of the current chunk */
    uint8_t state; /* 0 at the start; internal */
    uint16_t line; /* bytes of the current size line, or of the trailer lines; bounded */
};
/* Consumes up to `size` bytes, returns how many belong to the body (all of them unless it ended
 * there); *ret_done when it ended there. -EINVAL: not a chunked body, now and at every later call.
 */
int64_t sbox_chunked_feed(struct sbox_chunked *c, const char *data, size_t size, bool *ret_done);

#endif
