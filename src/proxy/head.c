/* The request line and the Host it must agree with (RFC 9112 sections 3.2.2 to 3.2.4, RFC 9110
 * section 9.3.6). The target alone decides where a request goes. */
#include "proxy/head_impl.h"

#include <strings.h>

enum { HTTP_PORT = 80 };

/* Splits at the first blank; `rest` begins after it. */
static bool split_at_blank(struct sbox_text t, struct sbox_text *ret_word,
                           struct sbox_text *ret_rest)
{
    const char *blank = memchr(t.at, ' ', t.size);
    if (!blank)
        return false;
    *ret_word = (struct sbox_text){t.at, (size_t)(blank - t.at)};
    *ret_rest = (struct sbox_text){blank + 1, t.size - ret_word->size - 1};
    return true;
}

/* What a URI may be written in, a little wider than RFC 3986 (clients send `|` and `"` as they
 * are): visible ASCII without the fragment's `#`. */
static bool is_target(struct sbox_text t)
{
    for (size_t i = 0; i < t.size; i++)
        if (t.at[i] <= ' ' || t.at[i] > '~' || t.at[i] == '#')
            return false;
    return t.size > 0;
}

static int parse_connect(struct sbox_head *h, struct sbox_text target, const char **ret_why)
{
    h->connect = true;
    if (sbox_host_port_parse(target.at, target.size, 0, &h->host, &h->port) < 0)
        return sbox_head_refuse(ret_why, "a CONNECT target that is not HOST:PORT");
    return 0;
}

/* http://AUTHORITY, then a path, a query, or nothing. A backslash, userinfo or percent sign stays
 * in the authority, which then is no host. */
static int parse_absolute(struct sbox_head *h, struct sbox_text target, const char **ret_why)
{
    static const char scheme[] = "http://";
    static const char tls[] = "https://";
    const size_t skip = sizeof scheme - 1;
    if (target.size >= sizeof tls - 1 && strncasecmp(target.at, tls, sizeof tls - 1) == 0) {
        (void)sbox_head_refuse(ret_why, "https:// without CONNECT: sbox-proxy speaks no TLS");
        return -EPROTONOSUPPORT;
    }
    if (target.size < skip || strncasecmp(target.at, scheme, skip) != 0)
        return sbox_head_refuse(ret_why, "a target that does not begin with http://");
    const char *authority = target.at + skip;
    size_t left = target.size - skip;
    size_t size = 0;
    while (size < left && authority[size] != '/' && authority[size] != '?')
        size++;
    if (sbox_host_port_parse(authority, size, HTTP_PORT, &h->host, &h->port) < 0)
        return sbox_head_refuse(ret_why, "a target whose host or port is none");
    h->path = (struct sbox_text){authority + size, left - size};
    if (h->path.size > 0)
        return 0;
    /* RFC 9112 section 3.2.4: to be sent on as `*`, which would have no place in `path`. */
    if (sbox_head_equal(h->method, "OPTIONS"))
        return sbox_head_refuse(ret_why, "OPTIONS of a whole server");
    h->path = (struct sbox_text){"/", 1};
    return 0;
}

static int parse_request_line(struct sbox_head *h, struct sbox_text line, const char **ret_why)
{
    struct sbox_text rest;
    struct sbox_text target;
    struct sbox_text version;
    if (!split_at_blank(line, &h->method, &rest) || !split_at_blank(rest, &target, &version) ||
        !sbox_head_is_token(h->method))
        return sbox_head_refuse(ret_why, "a request line that is not METHOD TARGET VERSION");
    int r = sbox_head_version(version, &h->http_1_0, ret_why);
    if (r < 0)
        return r;
    if (!is_target(target))
        return sbox_head_refuse(ret_why, "a character that no target holds");
    if (sbox_head_equal(h->method, "CONNECT"))
        return parse_connect(h, target, ret_why);
    /* Methods are case-sensitive, but not to everybody. */
    if (sbox_head_is_word(h->method, "CONNECT"))
        return sbox_head_refuse(ret_why, "CONNECT in lower case");
    /* Who answers it shows the request as it came, the login at the host's own proxy with it
     * (Max-Forwards: 0 makes that proxy answer; RFC 9110 section 9.3.8). */
    if (sbox_head_is_word(h->method, "TRACE"))
        return sbox_head_refuse(ret_why, "TRACE");
    return parse_absolute(h, target, ret_why);
}

/* Clients leave a port out of CONNECT's Host that is the default of a scheme we do not see. */
static bool host_agrees(const struct sbox_head *h, struct sbox_text value)
{
    struct sbox_host host;
    uint16_t port = 0;
    uint16_t usual = h->connect ? h->port : HTTP_PORT;
    return sbox_host_port_parse(value.at, value.size, usual, &host, &port) == 0 &&
           port == h->port && sbox_host_equal(&host, &h->host);
}

static int check_host(const struct sbox_head *h, const char **ret_why)
{
    size_t seen = 0;
    for (size_t i = 0; i < h->field_count; i++) {
        if (!sbox_head_is_word(h->fields[i].name, "Host"))
            continue;
        if (++seen > 1)
            return sbox_head_refuse(ret_why, "two Host lines");
        if (!host_agrees(h, h->fields[i].value))
            return sbox_head_refuse(ret_why, "a Host other than the target's");
    }
    return seen > 0 || h->http_1_0 ? 0 : sbox_head_refuse(ret_why, "HTTP/1.1 without Host");
}

/* Some clients send `Content-Length: 0` with CONNECT; it says nothing. */
static int check_framing(struct sbox_head *h, const char **ret_why)
{
    struct sbox_framing f;
    int r = sbox_framing_parse(h->fields, h->field_count, h->http_1_0, &f, ret_why);
    if (r < 0)
        return r;
    if (h->connect && (f.body == SBOX_BODY_CHUNKED || f.length > 0))
        return sbox_head_refuse(ret_why, "CONNECT with a body");
    h->body = f.body == SBOX_BODY_LENGTH && f.length == 0 ? SBOX_BODY_NONE : f.body;
    h->length = f.length;
    h->keep_alive = !h->http_1_0 && !f.close;
    h->upgrade = f.upgrade && h->body == SBOX_BODY_NONE && !h->connect;
    return 0;
}

int sbox_head_parse(const char *data, size_t size, struct sbox_head *ret, const char **ret_why)
{
    struct sbox_head h = {0};
    struct sbox_text line;
    struct sbox_text fields;
    int r = sbox_head_split(data, size, &line, &fields, &h.size, ret_why);
    if (r <= 0)
        return r;
    r = parse_request_line(&h, line, ret_why);
    if (r == 0)
        r = sbox_head_fields(fields, h.fields, &h.field_count, ret_why);
    if (r == 0)
        r = check_host(&h, ret_why);
    if (r == 0)
        r = check_framing(&h, ret_why);
    if (r < 0)
        return r;
    *ret = h;
    return 1;
}
