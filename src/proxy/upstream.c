/* The host's own HTTP proxy, which some networks have as their only way out. It is spoken to in
 * clear text (http://): so is the field's practice. Its credentials stay in this process. */
#include "proxy/reach.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "proxy/head.h"

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

/* -- which connections go through it ----------------------------------------------------------- */

static bool means_the_same_there(const struct sbox_host *host)
{
    if (host->address.family)
        return sbox_address_classify(&host->address) == SBOX_ADDRESS_PUBLIC;
    const char *last = strrchr(host->name, '.');
    return strcmp(last ? last + 1 : host->name, "localhost") != 0;
}

const struct sbox_upstream *sbox_upstream_for(const struct sbox_server *s,
                                              enum sbox_reach_kind kind,
                                              const struct sbox_host *host, uint16_t port)
{
    if (kind == SBOX_REACH_HOST_PORT || !means_the_same_there(host))
        return NULL;
    return kind == SBOX_REACH_REQUEST || port == 80 ? s->upstream_http : s->upstream_https;
}

/* -- a tunnel through it ----------------------------------------------------------------------- */

/* The answer is read to its last byte and not beyond: what follows belongs to the tunnel, whose
 * server may speak first. So bytes are looked at first (MSG_PEEK), and taken as far as they are the
 * head's. */
struct sbox_ask {
    int fd;
    struct event *event;
    struct sbox_buf text; /* the request, then the answer's head */
    size_t sent;
    sbox_ask_done *done;
    void *context;
};

void sbox_upstream_ask_cancel(struct sbox_ask *a)
{
    if (!a)
        return;
    if (a->event)
        event_free(a->event);
    sbox_close(a->fd);
    sbox_buf_release(&a->text);
    free(a);
}

static void finish(struct sbox_ask *a, int error)
{
    sbox_ask_done *done = a->done;
    void *context = a->context;
    int fd = error == 0 ? TAKE_FD(a->fd) : -1;
    sbox_upstream_ask_cancel(a);
    done(context, fd, error);
}

/* What of the answer is there: 0 more is needed, else errno or -1 for a good end. */
static int judge(struct sbox_ask *a, size_t before, size_t *ret_of_head)
{
    static struct sbox_response response;
    const char *why;
    int r = sbox_response_parse(a->text.data, a->text.size, true, &response, &why);
    *ret_of_head = r > 0 ? response.size - before : a->text.size - before;
    if (r == 0)
        return 0;
    if (r < 0)
        return EPROTO;
    if (response.status / 100 == 2)
        return -1;
    return response.status == 407 ? EACCES : ECONNREFUSED;
}

static void hear(struct sbox_ask *a)
{
    char part[4096];
    size_t before = a->text.size;
    size_t of_head = 0;
    ssize_t n = recv(a->fd, part, sizeof part, MSG_PEEK);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        finish(a, n < 0 ? errno : ECONNRESET);
        return;
    }
    sbox_buf_add(&a->text, part, (size_t)n);
    int r = sbox_buf_failed(&a->text) ? ENOMEM : judge(a, before, &of_head);
    if (r <= 0 && recv(a->fd, part, of_head, 0) != (ssize_t)of_head)
        r = EPROTO;
    a->text.size = before + of_head;
    if (r != 0)
        finish(a, r < 0 ? 0 : r);
}

static int wait_for(struct sbox_ask *a, struct event_base *base, short what);

static void speak(struct sbox_ask *a)
{
    ssize_t n = send(a->fd, a->text.data + a->sent, a->text.size - a->sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        finish(a, errno);
        return;
    }
    a->sent += n > 0 ? (size_t)n : 0;
    if (a->sent < a->text.size)
        return;
    sbox_buf_clear(&a->text);
    struct event_base *base = event_get_base(a->event);
    if (wait_for(a, base, EV_READ) < 0)
        finish(a, ENOMEM);
}

static void on_ready(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    if (what & EV_TIMEOUT)
        finish(context, ETIMEDOUT);
    else if (what & EV_WRITE)
        speak(context);
    else
        hear(context);
}

static int wait_for(struct sbox_ask *a, struct event_base *base, short what)
{
    const struct timeval patience = {.tv_sec = SBOX_PROXY_DIAL_SECONDS};
    if (a->event)
        event_free(a->event);
    a->event = event_new(base, a->fd, (short)(what | EV_PERSIST), on_ready, a);
    return a->event && event_add(a->event, &patience) == 0 ? 0 : -ENOMEM;
}

static void write_request(struct sbox_buf *out, const struct sbox_upstream *upstream,
                          const struct sbox_host *host, uint16_t port)
{
    char text[SBOX_HOST_SIZE];
    char target[SBOX_HOST_SIZE + 16];
    (void)snprintf(target, sizeof target, host->address.family == 6 ? "[%s]:%u" : "%s:%u",
                   sbox_host_format(host, text), port);
    sbox_buf_addf(out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", target, target);
    if (upstream->authorization[0])
        sbox_buf_addf(out, "Proxy-Authorization: %s\r\n", upstream->authorization);
    sbox_buf_add_str(out, "\r\n");
}

struct sbox_ask *sbox_upstream_ask(struct event_base *base, const struct sbox_upstream *upstream,
                                   int fd, const struct sbox_host *host, uint16_t port,
                                   sbox_ask_done *done, void *context)
{
    struct sbox_ask *a = calloc(1, sizeof *a);
    if (!a) {
        sbox_close(fd);
        return NULL;
    }
    *a = (struct sbox_ask){.fd = fd, .done = done, .context = context};
    write_request(&a->text, upstream, host, port);
    if (!sbox_buf_failed(&a->text) && wait_for(a, base, EV_WRITE) == 0)
        return a;
    sbox_upstream_ask_cancel(a);
    return NULL;
}
