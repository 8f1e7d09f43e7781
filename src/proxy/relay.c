/* Plain read and write with one buffer for everybody (measured: as fast as splice, without a pipe
 * pair each). What a socket does not take at once is kept for it, and its source is not read until
 * it is gone: a slow reader costs one buffer, not memory without end, and a small one when there
 * are many.
 *
 * The gate: before the first byte of the client goes on, a TLS hello must ask for the name that was
 * dialled. Without it a host of the list whose server also serves others (a CDN) would be a door to
 * all of those. Only a first byte of 22 makes the client's bytes wait; what the server sends is not
 * held up, it may speak first. */
#include "proxy/relay.h"

#include "base/fd.h"
#include "proxy/sni.h"

#include <netinet/tcp.h>

enum { CLIENT, SERVER, SIDES, TURNS = 4 };

/* One direction: from `sides[i]` to the other. */
struct side {
    struct relay *relay;
    int fd;
    struct event *readable;
    struct event *writable; /* while something is kept for this socket */
    uint8_t *kept;          /* read from the other side, not yet written to this one */
    size_t at, size;
    bool ended; /* nothing more will be read from it */
    bool shut;  /* its sending direction is closed */
};

struct relay {
    struct sbox_server *server;
    struct sbox_flow flow;
    struct side sides[SIDES];
    struct sbox_host sni;
    bool gate; /* closed: the client's first bytes are still looked at */
    uint8_t *hello;
    size_t hello_size;
    struct event *patience; /* for an incomplete hello */
};

static void end(struct relay *r, enum sbox_wire_verdict verdict, int error)
{
    for (size_t i = 0; i < SIDES; i++) {
        struct side *s = &r->sides[i];
        if (s->readable)
            event_free(s->readable);
        if (s->writable)
            event_free(s->writable);
        sbox_close(s->fd);
        free(s->kept);
        r->server->kept -= s->size;
    }
    if (r->patience)
        event_free(r->patience);
    sbox_flow_end(&r->flow, verdict, error);
    r->server->clients--;
    free(r->hello);
    free(r);
}

static void reset(struct relay *r, enum sbox_wire_verdict verdict, int error)
{
    /* RST, not FIN: a truncated transfer must not look like a complete one. */
    const struct linger hard = {.l_onoff = 1, .l_linger = 0};
    for (size_t i = 0; i < SIDES; i++)
        (void)setsockopt(r->sides[i].fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    end(r, verdict, error);
}

static struct side *other(struct side *s)
{
    return &s->relay->sides[s == &s->relay->sides[CLIENT] ? SERVER : CLIENT];
}

static void count(struct side *to, size_t n)
{
    struct sbox_wire_connection *record = &to->relay->flow.record;
    *(to == &to->relay->sides[SERVER] ? &record->bytes_out : &record->bytes_in) += n;
}

/* Passes an end on once everything before it has been written. False when the relay is over. */
static bool pass_end(struct side *from)
{
    struct side *to = other(from);
    if (from->ended && to->size == 0 && !to->shut) {
        to->shut = true;
        if (!from->shut)
            (void)shutdown(to->fd, SHUT_WR);
    }
    if (!to->shut || !from->shut)
        return true;
    end(from->relay, SBOX_VERDICT_ALLOWED, 0);
    return false;
}

/* Behind what is kept already: the rest of the client's first bytes after a hello that stuck. */
static bool keep(struct side *to, const uint8_t *data, size_t size)
{
    uint8_t *grown = realloc(to->kept, to->at + to->size + size);
    if (!grown) {
        reset(to->relay, SBOX_VERDICT_LIMIT, ENOMEM);
        return false;
    }
    memcpy(grown + to->at + to->size, data, size);
    to->kept = grown;
    to->size += size;
    to->relay->server->kept += size;
    (void)event_del(other(to)->readable);
    (void)event_add(to->writable, NULL);
    return true;
}

/* Writes, keeps what is left. False when the relay is over. */
static bool give(struct side *to, const uint8_t *data, size_t size)
{
    ssize_t n = to->size > 0 ? 0 : send(to->fd, data, size, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        reset(to->relay, SBOX_VERDICT_ALLOWED, errno);
        return false;
    }
    size_t written = n > 0 ? (size_t)n : 0;
    count(to, written);
    return written == size || keep(to, data + written, size - written);
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
    struct side *to = context;
    (void)what;
    ssize_t n = send(fd, to->kept + to->at, to->size, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) {
        reset(to->relay, SBOX_VERDICT_ALLOWED, errno);
        return;
    }
    count(to, (size_t)n);
    to->at += (size_t)n;
    to->size -= (size_t)n;
    to->relay->server->kept -= (size_t)n;
    if (to->size > 0)
        return;
    free(to->kept);
    to->kept = NULL;
    to->at = 0;
    (void)event_del(to->writable);
    struct side *from = other(to);
    if (pass_end(from) && !from->ended)
        (void)event_add(from->readable, NULL);
}

/* -- the gate ---------------------------------------------------------------------------------- */

static bool open_gate(struct relay *r)
{
    uint8_t *hello = r->hello;
    bool alive = true;
    r->gate = false;
    r->hello = NULL;
    if (r->patience)
        event_free(r->patience);
    r->patience = NULL;
    if (r->hello_size > 0)
        alive = give(&r->sides[SERVER], hello, r->hello_size);
    free(hello);
    return alive;
}

static bool fits(const struct relay *r, const struct sbox_host *asked)
{
    return sbox_host_equal(asked, &r->sni);
}

/* Fatal alert "unrecognized_name" (RFC 8446 section 6.2): the client can say what went wrong. */
static void refuse_hello(struct relay *r, int error)
{
    static const uint8_t alert[] = {21, 3, 1, 0, 2, 2, 112};
    if (r->sides[CLIENT].size == 0)
        (void)send(r->sides[CLIENT].fd, alert, sizeof alert, MSG_NOSIGNAL);
    end(r, SBOX_VERDICT_SNI, error);
}

static void on_patience(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    reset(context, SBOX_VERDICT_SNI, ETIMEDOUT);
}

static bool wait_for_more(struct relay *r)
{
    const struct timeval patience = {.tv_sec = SBOX_PROXY_HEAD_SECONDS};
    if (!r->patience) {
        r->patience = evtimer_new(r->server->base, on_patience, r);
        if (!r->patience || evtimer_add(r->patience, &patience) < 0) {
            reset(r, SBOX_VERDICT_LIMIT, ENOMEM);
            return false;
        }
    }
    return true;
}

/* The client's first bytes. False when the relay is over. */
static bool pass_gate(struct relay *r, const uint8_t *data, size_t size)
{
    struct sbox_host asked;
    size_t room = SBOX_SNI_MAX + 8;
    if (!r->hello)
        r->hello = malloc(room);
    if (!r->hello) {
        reset(r, SBOX_VERDICT_LIMIT, ENOMEM);
        return false;
    }
    /* What does not fit comes after the hello: it is given on by itself. */
    size_t taken = size < room - r->hello_size ? size : room - r->hello_size;
    memcpy(r->hello + r->hello_size, data, taken);
    r->hello_size += taken;
    switch (sbox_sni_parse(r->hello, r->hello_size, &asked)) {
    case SBOX_SNI_MORE:
        return wait_for_more(r);
    case SBOX_SNI_NAME:
        if (fits(r, &asked))
            break;
        refuse_hello(r, EACCES);
        return false;
    case SBOX_SNI_BAD:
        refuse_hello(r, EPROTO);
        return false;
    case SBOX_SNI_NOT_TLS:
    case SBOX_SNI_NONE:
        break;
    }
    return open_gate(r) && (taken == size || give(&r->sides[SERVER], data + taken, size - taken));
}

/* -- reading ----------------------------------------------------------------------------------- */

static bool take(struct side *from, const uint8_t *data, size_t size)
{
    if (from->relay->gate && from == &from->relay->sides[CLIENT])
        return pass_gate(from->relay, data, size);
    return give(other(from), data, size);
}

/* How much to read at once. A closed gate takes no more than what it looks at. */
static size_t room_for(const struct side *from)
{
    const struct relay *r = from->relay;
    if (r->gate && from == &r->sides[CLIENT])
        return SBOX_SNI_MAX + 8 - r->hello_size;
    return r->server->kept < SBOX_PROXY_KEPT_MUCH ? SBOX_PROXY_BUFFER : SBOX_PROXY_BUFFER_SMALL;
}

/* Reads a few times, so that one busy relay does not starve the others. */
static void on_readable(evutil_socket_t fd, short what, void *context)
{
    struct side *from = context;
    struct side *to = other(from);
    struct relay *r = from->relay;
    (void)what;
    for (int turn = 0; turn < TURNS && to->size == 0; turn++) {
        size_t room = room_for(from);
        ssize_t n = recv(fd, r->server->buffer, room, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            reset(r, SBOX_VERDICT_ALLOWED, errno);
            return;
        }
        if (n == 0) {
            from->ended = true;
            (void)event_del(from->readable);
            if (r->gate && from == &r->sides[CLIENT] && !open_gate(r))
                return;
            (void)pass_end(from);
            return;
        }
        if (!take(from, r->server->buffer, (size_t)n))
            return;
        if ((size_t)n < room / 2)
            return;
    }
}

/* -- start ------------------------------------------------------------------------------------- */

static int set_up(struct relay *r, size_t i, int fd)
{
    struct side *s = &r->sides[i];
    *s = (struct side){.relay = r, .fd = fd};
    s->readable = event_new(r->server->base, fd, EV_READ | EV_PERSIST, on_readable, s);
    s->writable = event_new(r->server->base, fd, EV_WRITE | EV_PERSIST, on_writable, s);
    return s->readable && s->writable && event_add(s->readable, NULL) == 0 ? 0 : -ENOMEM;
}

void sbox_relay_start(struct sbox_server *s, int client, int server, struct sbox_flow *flow,
                      const uint8_t *first, size_t first_size, const struct sbox_host *sni)
{
    struct relay *r = calloc(1, sizeof *r);
    if (!r) {
        sbox_close(client);
        sbox_close(server);
        sbox_flow_end(flow, SBOX_VERDICT_LIMIT, ENOMEM);
        s->clients--;
        return;
    }
    r->server = s;
    sbox_flow_move(&r->flow, flow);
    r->flow.connected = true;
    r->gate = sni != NULL;
    if (sni)
        r->sni = *sni;
    int one = set_up(r, CLIENT, client);
    int two = set_up(r, SERVER, server);
    if (one < 0 || two < 0) {
        end(r, SBOX_VERDICT_LIMIT, ENOMEM);
        return;
    }
    if (first_size > 0)
        (void)take(&r->sides[CLIENT], first, first_size);
}
