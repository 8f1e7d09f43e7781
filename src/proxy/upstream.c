/* The host's own HTTP proxy, which some networks have as their only way out. It is spoken to in
 * clear text (http://): so is the field's practice. Its credentials stay in this process. */
#include "proxy/reach.h"

#include "base/buf.h"
#include "base/escape.h"
#include "base/fd.h"
#include "proxy/head.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <strings.h>

/* -- its URL ----------------------------------------------------------------------------------- */

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int percent_decode(const char *text, size_t size, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        int c = (unsigned char)text[i];
        if (c == '%') {
            if (i + 2 >= size || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0)
                return -EINVAL;
            c = hex(text[i + 1]) << 4 | hex(text[i + 2]);
            i += 2;
        }
        if (n + 1 >= room || c < ' ' || c == 0x7f)
            return -EINVAL;
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return (int)n;
}

static int encode_basic(const char *secret, size_t size, char *out, size_t room)
{
    struct sbox_buf text = {0};
    sbox_buf_add_str(&text, "Basic ");
    sbox_buf_add_base64(&text, secret, size);
    bool fits = !sbox_buf_failed(&text) && text.size < room;
    if (fits) {
        memcpy(out, text.data, text.size);
        out[text.size] = '\0';
    }
    if (text.data)
        explicit_bzero(text.data, text.size);
    sbox_buf_release(&text);
    return fits ? 0 : -ENAMETOOLONG;
}

int sbox_upstream_parse(const char *url, struct sbox_upstream *ret, struct sbox_error *err)
{
    struct sbox_upstream u = {.port = 0};
    char secret[SBOX_WIRE_TEXT / 2];
    const char *scheme = strstr(url, "://");
    const char *at = scheme ? scheme + 3 : url;
    if (scheme && !(scheme - url == 4 && strncasecmp(url, "http", 4) == 0))
        return sbox_error_say(err, EINVAL,
                              "the host's proxy variable names a scheme that sbox cannot chain "
                              "(%.*s): only http:// proxies; unset it for this run, or point it "
                              "at an HTTP proxy",
                              (int)(scheme - url), sbox_esc_n(url, (size_t)(scheme - url)));
    size_t size = strcspn(at, "/?#");
    const char *user_end = memrchr(at, '@', size);
    if (user_end) {
        int n = percent_decode(at, (size_t)(user_end - at), secret, sizeof secret);
        int r =
            n < 0 ? n : encode_basic(secret, (size_t)n, u.authorization, sizeof u.authorization);
        explicit_bzero(secret, sizeof secret);
        if (r < 0)
            return sbox_error_say(err, EINVAL,
                                  "the user or password in the host's proxy variable is not "
                                  "understood");
        size -= (size_t)(user_end + 1 - at);
        at = user_end + 1;
    }
    if (sbox_host_port_parse(at, size, 80, &u.host, &u.port) < 0)
        return sbox_error_say(err, EINVAL, "the host's proxy variable names no host: '%s'",
                              sbox_esc_n(at, size));
    *ret = u;
    return 0;
}

/* -- a tunnel through it ----------------------------------------------------------------------- */

struct sbox_ask {
    struct bufferevent *stream;
    sbox_ask_done *done;
    void *context;
};

void sbox_upstream_ask_cancel(struct sbox_ask *a)
{
    if (!a)
        return;
    bufferevent_free(a->stream); /* closes the socket */
    free(a);
}

static void finish(struct sbox_ask *a, int error)
{
    sbox_ask_done *done = a->done;
    void *context = a->context;
    int fd = -1;
    if (error == 0) {
        fd = bufferevent_getfd(a->stream);
        (void)bufferevent_disable(a->stream, EV_READ | EV_WRITE);
        (void)bufferevent_setfd(a->stream, -1);
    }
    sbox_upstream_ask_cancel(a);
    done(context, fd, error);
}

static void on_read(struct bufferevent *stream, void *context)
{
    struct sbox_response response;
    const char *why;
    struct evbuffer *in = bufferevent_get_input(stream);
    size_t size = evbuffer_get_length(in);
    const char *data = (const char *)evbuffer_pullup(in, -1);
    int r = sbox_response_parse(data, size, true, &response, &why);
    if (r == 0)
        return;
    /* A server that speaks first would be cut off here: no answer to CONNECT carries more than its
     * head, since the client has said nothing yet, but for such a server's greeting. Rare enough
     * behind a proxy to be refused rather than lost. */
    if (r < 0 || response.status / 100 != 2)
        finish(context, r > 0 && response.status == 407 ? EACCES : ECONNREFUSED);
    else
        finish(context, size == response.size ? 0 : EPROTO);
}

static void on_event(struct bufferevent *stream, short what, void *context)
{
    (void)stream;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT))
        finish(context, what & BEV_EVENT_TIMEOUT ? ETIMEDOUT : ECONNRESET);
}

struct sbox_ask *sbox_upstream_ask(struct event_base *base, const struct sbox_upstream *upstream,
                                   int fd, const struct sbox_host *host, uint16_t port,
                                   sbox_ask_done *done, void *context)
{
    const struct timeval patience = {.tv_sec = SBOX_PROXY_DIAL_SECONDS};
    char text[SBOX_HOST_SIZE];
    struct sbox_ask *a = calloc(1, sizeof *a);
    struct bufferevent *stream = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!a || !stream) {
        if (stream)
            bufferevent_free(stream);
        else
            sbox_close(fd);
        free(a);
        return NULL;
    }
    *a = (struct sbox_ask){.stream = stream, .done = done, .context = context};
    bool six = host->address.family == 6;
    const char *open = six ? "[" : "";
    const char *close = six ? "]" : "";
    (void)sbox_host_format(host, text);
    bufferevent_setwatermark(stream, EV_READ, 0, SBOX_HEAD_MAX);
    (void)bufferevent_set_timeouts(stream, &patience, &patience);
    bufferevent_setcb(stream, on_read, NULL, on_event, a);
    (void)evbuffer_add_printf(bufferevent_get_output(stream),
                              "CONNECT %s%s%s:%u HTTP/1.1\r\nHost: %s%s%s:%u\r\n", open, text,
                              close, port, open, text, close, port);
    if (upstream->authorization[0])
        (void)evbuffer_add_printf(bufferevent_get_output(stream), "Proxy-Authorization: %s\r\n",
                                  upstream->authorization);
    (void)evbuffer_add(bufferevent_get_output(stream), "\r\n", 2);
    (void)bufferevent_enable(stream, EV_READ | EV_WRITE);
    return a;
}
