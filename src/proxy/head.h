/* The head of one HTTP request to the proxy, strictly after RFC 9110 and 9112. Pure, bounded, no
 * allocation: everything points into the caller's buffer. What is not understood is refused (400),
 * never repaired: two parsers that repair differently are how requests are smuggled.
 *
 * Limits: head 64 KB, request line 16 KB, 200 header lines, header name 256 bytes.
 * Refused: bare LF or CR, NUL, obs-fold, blank before the colon, empty or non-token name, two Host
 * lines, Host that differs from the target, Content-Length twice or with Transfer-Encoding or not
 * plain digits, a Transfer-Encoding that is not exactly chunked, a version but HTTP/1.0 and 1.1, a
 * scheme but http, userinfo, a fragment, origin form, `*`. */
#ifndef SBOX_PROXY_HEAD_H
#define SBOX_PROXY_HEAD_H

#include "proxy/host.h"

enum { SBOX_HEAD_MAX = 64 << 10, SBOX_HEAD_LINE_MAX = 16 << 10, SBOX_HEAD_FIELDS_MAX = 200 };

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
    bool connect; /* CONNECT; then host and port are the target and there is no body */
    bool http_1_0;
    bool keep_alive;
    bool upgrade; /* Connection: upgrade: after a 101 the connection is a tunnel */
    struct sbox_text method;
    struct sbox_text path; /* absolute form without scheme and authority, at least "/" */
    struct sbox_host host;
    uint16_t port;
    enum sbox_body body;
    uint64_t length; /* SBOX_BODY_LENGTH */
    size_t field_count;
    struct sbox_head_field fields[SBOX_HEAD_FIELDS_MAX];
};

/* 1: complete; 0: more bytes are needed; -EINVAL: refused, *ret_why (static) says why; -E2BIG: over
 * a limit (431). */
int sbox_head_parse(const char *data, size_t size, struct sbox_head *ret, const char **ret_why);

/* Is the field hop-by-hop (Connection and what it names, Proxy-*, Keep-Alive, TE, Upgrade ...)?
 * Such are not passed on. */
bool sbox_head_is_hop(const struct sbox_head *head, const struct sbox_head_field *field);

/* The head of a response, as far as the framing of its body needs it: status, body (NONE also for
 * HEAD, 1xx, 204, 304), keep_alive. `until_close`: the body ends with the connection. */
struct sbox_response {
    size_t size;
    int status;
    bool http_1_0;
    bool keep_alive;
    bool until_close;
    enum sbox_body body;
    uint64_t length;
    size_t field_count;
    struct sbox_head_field fields[SBOX_HEAD_FIELDS_MAX];
};
int sbox_response_parse(const char *data, size_t size, bool to_head_request,
                        struct sbox_response *ret, const char **ret_why);

/* Follows a chunked body byte by byte, without keeping it. RFC 9112 section 7.1. */
struct sbox_chunked {
    uint64_t left; /* of the current chunk */
    uint8_t state; /* 0 at the start; internal */
    uint16_t line; /* bytes of the current size or trailer line; bounded */
};
/* Consumes up to `size` bytes, returns how many belong to the body; *ret_done when it ended there.
 * -EINVAL: not a chunked body. */
int64_t sbox_chunked_feed(struct sbox_chunked *c, const char *data, size_t size, bool *ret_done);

#endif
