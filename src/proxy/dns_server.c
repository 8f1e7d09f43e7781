/* The resolver inside: each allowed name has an address of its own (names.c), everything else does
 * not exist. Nothing is asked of anybody, so no query can carry data out. */
#include "proxy/server.h"

#include "base/fd.h"
#include "proxy/dns.h"
#include "proxy/flow.h"
#include "proxy/names.h"

enum { BATCH = 32, TCP_MAX = 512 + 2 };

static size_t answer(struct sbox_server *s, const uint8_t *query, size_t size,
                     uint8_t out[SBOX_DNS_MAX])
{
    struct sbox_dns_query q = {0};
    struct sbox_address address = {0};
    enum sbox_dns_answer a = SBOX_DNS_NXDOMAIN;
    int r = sbox_dns_parse(query, size, &q);
    if (r == -EBADMSG)
        return 0;
    if (r < 0) {
        a = r == -EOPNOTSUPP ? SBOX_DNS_NOTIMP : SBOX_DNS_FORMERR;
    } else if (q.host.name[0] && sbox_allowlist_knows(s->list, &q.host)) {
        bool six = q.type == SBOX_DNS_AAAA;
        a = (six && s->v6) || q.type == SBOX_DNS_A ? SBOX_DNS_ADDRESS : SBOX_DNS_NODATA;
        sbox_names_address(s->names, q.host.name, six ? 6 : 4, &address);
    } else if (q.host.name[0] && q.type != SBOX_DNS_PTR) {
        struct sbox_flow flow;
        sbox_flow_begin(&flow, s, SBOX_WAY_DNS);
        sbox_flow_name(&flow, &q.host, 0);
        sbox_flow_end(&flow, SBOX_VERDICT_NAME, 0);
    }
    return sbox_dns_write(query, size, &q, a, &address, out);
}

/* -- UDP --------------------------------------------------------------------------------------- */

static void on_datagram(evutil_socket_t fd, short what, void *context)
{
    uint8_t query[SBOX_DNS_MAX];
    uint8_t out[SBOX_DNS_MAX];
    (void)what;
    for (int i = 0; i < BATCH; i++) {
        struct sockaddr_storage from;
        socklen_t from_size = sizeof from;
        ssize_t n =
            recvfrom(fd, query, sizeof query, MSG_TRUNC, (struct sockaddr *)&from, &from_size);
        if (n < 0)
            return;
        if ((size_t)n > sizeof query)
            continue;
        size_t size = answer(context, query, (size_t)n, out);
        if (size > 0)
            (void)sendto(fd, out, size, MSG_NOSIGNAL, (struct sockaddr *)&from, from_size);
    }
}

int sbox_dns_serve_udp(struct sbox_server *s, int fd)
{
    struct event *e = event_new(s->base, fd, EV_READ | EV_PERSIST, on_datagram, s);
    return e && event_add(e, NULL) == 0 ? 0 : -ENOMEM;
}

/* -- TCP: two bytes of size before each message (RFC 1035 section 4.2.2, RFC 7766) ------------- */

struct stream {
    struct sbox_server *server;
    struct sbox_waiting waiting;
    int fd;
    struct event *event;
    size_t size;
    uint8_t data[TCP_MAX];
};

static void close_stream(void *context)
{
    struct stream *t = context;
    sbox_waiting_end(&t->waiting);
    if (t->event)
        event_free(t->event);
    sbox_close(t->fd);
    t->server->clients--;
    free(t);
}

/* One question: 1 answered, 0 more bytes are needed, -1 close. An answer fits the socket's buffer,
 * or the client does not read: then it is closed. */
static int serve(struct stream *t)
{
    uint8_t out[2 + SBOX_DNS_MAX];
    if (t->size < 2)
        return 0;
    size_t size = (size_t)t->data[0] << 8 | t->data[1];
    if (size > sizeof t->data - 2)
        return -1;
    if (t->size < 2 + size)
        return 0;
    size_t n = answer(t->server, t->data + 2, size, out + 2);
    if (n == 0)
        return -1;
    out[0] = (uint8_t)(n >> 8);
    out[1] = (uint8_t)n;
    t->size -= 2 + size;
    memmove(t->data, t->data + 2 + size, t->size);
    return send(t->fd, out, 2 + n, MSG_NOSIGNAL) == (ssize_t)(2 + n) ? 1 : -1;
}

static void on_stream(evutil_socket_t fd, short what, void *context)
{
    struct stream *t = context;
    (void)what;
    ssize_t n = recv(fd, t->data + t->size, sizeof t->data - t->size, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    int r = n <= 0 ? -1 : 1;
    t->size += n > 0 ? (size_t)n : 0;
    while (r > 0)
        r = serve(t);
    if (r < 0)
        close_stream(t);
}

void sbox_dns_take(struct sbox_listener *l, int fd, const struct sockaddr_storage *from)
{
    struct sbox_server *s = l->server;
    struct stream *t = calloc(1, sizeof *t);
    (void)from;
    if (!t) {
        sbox_close(fd);
        s->clients--;
        return;
    }
    t->server = s;
    t->fd = fd;
    t->event = event_new(s->base, fd, EV_READ | EV_PERSIST, on_stream, t);
    if (!t->event || event_add(t->event, NULL) < 0 ||
        sbox_waiting_begin(&t->waiting, s, close_stream, t) < 0)
        close_stream(t);
}
