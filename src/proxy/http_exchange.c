/* One HTTP request in absolute form and its response.
 *
 * The server's connection carries this one exchange: "one connection never carries two hosts' data"
 * then needs no bookkeeping, and a response can only answer the request it belongs to. The client's
 * connection is kept when it may be (sbox_head.keep_alive). Both heads are written anew from what
 * was understood; bodies pass as they are, followed only to find their end.
 *
 * Backpressure: what the other side has not taken is kept in its buffer, up to FULL bytes; then its
 * source is not read until the buffer is empty. */
#include "proxy/front.h"

#include "base/fd.h"
#include "proxy/http_compose.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>

enum { FULL = 64 << 10, READ_AT_ONCE = 64 << 10 };

/* Where a body ends. */
struct body {
    enum sbox_body kind;
    uint64_t left;
    struct sbox_chunked chunked;
    bool until_close;
    bool done;
};

struct sbox_exchange {
    struct sbox_front *front;
    struct bufferevent *client; /* on the front's socket; NULL until the server is connected */
    struct bufferevent *server;
    struct sbox_buf head; /* of the request, as it will be sent */
    bool to_head, http_1_0, keep_alive, upgrade;
    struct body request, response;
    bool answering; /* the response's head has gone to the client */
    bool upgrading; /* 101 has: a tunnel follows when all is written */
    bool over;      /* the response is complete; what is left goes to the client */
};

void sbox_exchange_free(struct sbox_exchange *x)
{
    if (!x)
        return;
    if (x->server)
        bufferevent_free(x->server);
    if (x->client)
        bufferevent_free(x->client);
    sbox_buf_release(&x->head);
    free(x);
}

struct sbox_exchange *sbox_exchange_new(struct sbox_front *f, const struct sbox_head *head)
{
    struct sbox_exchange *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    *x = (struct sbox_exchange){
        .front = f,
        .to_head = head->method.size == 4 && memcmp(head->method.at, "HEAD", 4) == 0,
        .http_1_0 = head->http_1_0,
        .keep_alive = head->keep_alive,
        .upgrade = head->upgrade,
        .request = {.kind = head->body, .left = head->length, .done = head->body == SBOX_BODY_NONE},
    };
    enum sbox_reach_kind reach = sbox_http_reach(head);
    sbox_compose_request(&x->head, head,
                         reach == SBOX_REACH_TUNNEL
                             ? NULL
                             : sbox_upstream_for(f->server, reach, &head->host, head->port));
    if (!sbox_buf_failed(&x->head))
        return x;
    sbox_exchange_free(x);
    return NULL;
}

static void abort_exchange(struct sbox_exchange *x, int error)
{
    if (x->answering || evbuffer_get_length(bufferevent_get_output(x->client)) > 0)
        sbox_front_reset(x->front, SBOX_VERDICT_FAILED, error);
    else
        sbox_http_refuse(x->front, SBOX_VERDICT_FAILED, error, "no answer that is understood");
}

/* -- bodies ------------------------------------------------------------------------------------ */

/* How many of the first bytes in `in` belong to the body; *body knows when it is done. -EINVAL. */
static int64_t measure(struct body *b, struct evbuffer *in)
{
    struct evbuffer_iovec first;
    size_t size = evbuffer_get_length(in);
    if (b->done || size == 0)
        return 0;
    if (b->until_close)
        return (int64_t)size;
    if (b->kind == SBOX_BODY_CHUNKED) {
        if (evbuffer_peek(in, -1, NULL, &first, 1) < 1)
            return 0;
        return sbox_chunked_feed(&b->chunked, first.iov_base, first.iov_len, &b->done);
    }
    size_t n = b->left < size ? (size_t)b->left : size;
    b->left -= n;
    b->done = b->left == 0;
    return (int64_t)n;
}

/* Moves what there is of a body. Bytes, or -EINVAL. */
static int64_t move(struct body *b, struct evbuffer *in, struct evbuffer *out)
{
    int64_t moved = 0;
    for (;;) {
        int64_t n = measure(b, in);
        if (n <= 0)
            return n < 0 ? n : moved;
        if (evbuffer_remove_buffer(in, out, (size_t)n) != n)
            return -ENOMEM;
        moved += n;
    }
}

static void hold_back(struct bufferevent *source, struct bufferevent *target)
{
    if (evbuffer_get_length(bufferevent_get_output(target)) >= FULL)
        (void)bufferevent_disable(source, EV_READ);
}

/* -- the client's side ------------------------------------------------------------------------- */

static void on_client_read(struct bufferevent *client, void *context)
{
    struct sbox_exchange *x = context;
    int64_t n = move(&x->request, bufferevent_get_input(client), bufferevent_get_output(x->server));
    if (n < 0) {
        sbox_front_reset(x->front, SBOX_VERDICT_REQUEST, EINVAL);
        return;
    }
    x->front->flow.record.bytes_out += (uint64_t)n;
    /* Done: what comes next, another request, waits for its turn. */
    if (!x->request.done)
        hold_back(client, x->server);
    else if (evbuffer_get_length(bufferevent_get_input(client)) > 0)
        (void)bufferevent_disable(client, EV_READ);
}

static void on_client_event(struct bufferevent *client, short what, void *context)
{
    struct sbox_exchange *x = context;
    (void)client;
    /* It may have closed its sending side after the request: the response is still wanted. */
    if ((what & BEV_EVENT_EOF) && x->request.done) {
        x->keep_alive = false;
        return;
    }
    sbox_front_reset(x->front, x->answering ? SBOX_VERDICT_ALLOWED : SBOX_VERDICT_FAILED,
                     ECONNRESET);
}

/* -- the end of it ----------------------------------------------------------------------------- */

/* What the client has sent beyond this exchange is the front's again. */
static bool give_back(struct sbox_exchange *x)
{
    struct evbuffer *in = bufferevent_get_input(x->client);
    size_t size = evbuffer_get_length(in);
    uint8_t *at = NULL;
    if (size > 0 && !sbox_front_keep(x->front, size, &at)) {
        sbox_front_reset(x->front, SBOX_VERDICT_LIMIT, ENOMEM);
        return false;
    }
    if (size > 0)
        (void)evbuffer_remove(in, at, size);
    x->front->size += size;
    return true;
}

static void become_tunnel(struct sbox_exchange *x)
{
    struct sbox_front *f = x->front;
    if (!give_back(x))
        return;
    int fd = bufferevent_getfd(x->server);
    (void)bufferevent_disable(x->server, EV_READ | EV_WRITE);
    (void)bufferevent_setfd(x->server, -1);
    sbox_exchange_free(x);
    f->exchange = NULL;
    sbox_front_tunnel(f, fd);
}

/* The client has everything. */
static void complete(struct sbox_exchange *x)
{
    struct sbox_front *f = x->front;
    bool keep = x->keep_alive && x->request.done;
    if (!keep) {
        sbox_front_finish(f, "", 0, SBOX_VERDICT_ALLOWED, 0);
        return;
    }
    if (!give_back(x))
        return;
    sbox_flow_end(&f->flow, SBOX_VERDICT_ALLOWED, 0);
    sbox_exchange_free(x);
    f->exchange = NULL;
    if (sbox_front_wait(f, sbox_http_read) == 0)
        sbox_http_read(f); /* the next request may be here already */
}

static void on_client_written(struct bufferevent *client, void *context)
{
    struct sbox_exchange *x = context;
    (void)client;
    if (x->over)
        complete(x);
    else if (x->upgrading)
        become_tunnel(x);
    else
        (void)bufferevent_enable(x->server, EV_READ);
}

static void finish_response(struct sbox_exchange *x)
{
    x->over = true;
    (void)bufferevent_disable(x->server, EV_READ | EV_WRITE);
    if (evbuffer_get_length(bufferevent_get_output(x->client)) == 0)
        complete(x);
}

/* -- the server's side ------------------------------------------------------------------------- */

static int take_response(struct sbox_exchange *x, const struct sbox_response *r)
{
    bool interim = r->status / 100 == 1;
    struct evbuffer *out = bufferevent_get_output(x->client);
    /* A body in chunks is beyond an HTTP/1.0 client, and the server was asked as one. */
    if (x->http_1_0 && r->body == SBOX_BODY_CHUNKED)
        return -EPROTO;
    if (r->status == 101 && !x->upgrade)
        return -EPROTO;
    if (interim && x->http_1_0)
        return 0; /* it knows none of these */
    if (r->until_close)
        x->keep_alive = false;
    if (!interim)
        x->response = (struct body){.kind = r->body,
                                    .left = r->length,
                                    .until_close = r->until_close,
                                    .done = r->body == SBOX_BODY_NONE && !r->until_close};
    x->upgrading = r->status == 101;
    x->answering = x->answering || !interim || x->upgrading;
    struct sbox_buf head = {0};
    sbox_compose_response(&head, r, x->keep_alive && x->request.done);
    x->front->flow.record.bytes_in += head.size;
    int error = sbox_buf_failed(&head) || evbuffer_add(out, head.data, head.size) < 0 ? -ENOMEM : 0;
    sbox_buf_release(&head);
    return error;
}

/* Heads until the final one. 1: it was there; 0: more bytes are needed; -errno. */
static int read_heads(struct sbox_exchange *x, struct evbuffer *in)
{
    static struct sbox_response response;
    const char *why;
    while (!x->answering) {
        size_t size = evbuffer_get_length(in);
        size = size < SBOX_HEAD_MAX ? size : SBOX_HEAD_MAX;
        const char *data = (const char *)evbuffer_pullup(in, (ev_ssize_t)size);
        int r = size == 0 ? 0 : sbox_response_parse(data, size, x->to_head, &response, &why);
        if (r <= 0)
            return r == 0 && size == SBOX_HEAD_MAX ? -E2BIG : r;
        r = take_response(x, &response);
        if (r < 0)
            return r;
        (void)evbuffer_drain(in, response.size);
    }
    return 1;
}

static void on_server_read(struct bufferevent *server, void *context)
{
    struct sbox_exchange *x = context;
    struct evbuffer *in = bufferevent_get_input(server);
    struct evbuffer *out = bufferevent_get_output(x->client);
    int r = read_heads(x, in);
    if (r < 0) {
        abort_exchange(x, EPROTO);
        return;
    }
    if (r == 0) { /* interim answers without end are no way past the bound */
        hold_back(server, x->client);
        return;
    }
    if (x->upgrading) { /* the new protocol's first bytes go with the head */
        (void)evbuffer_add_buffer(out, in);
        (void)bufferevent_disable(server, EV_READ);
        return;
    }
    int64_t n = move(&x->response, in, out);
    if (n < 0) {
        abort_exchange(x, EPROTO);
        return;
    }
    x->front->flow.record.bytes_in += (uint64_t)n;
    if (x->response.done)
        finish_response(x);
    else
        hold_back(server, x->client);
}

static void on_server_event(struct bufferevent *server, short what, void *context)
{
    struct sbox_exchange *x = context;
    (void)server;
    if ((what & BEV_EVENT_EOF) && x->answering && x->response.until_close)
        finish_response(x);
    else
        abort_exchange(x, ECONNRESET);
}

/* The server has taken what was kept for it. */
static void on_server_written(struct bufferevent *server, void *context)
{
    struct sbox_exchange *x = context;
    (void)server;
    if (!x->request.done)
        (void)bufferevent_enable(x->client, EV_READ);
}

/* -- start ------------------------------------------------------------------------------------- */

static int set_up(struct sbox_exchange *x, int fd)
{
    struct sbox_front *f = x->front;
    x->server = bufferevent_socket_new(f->server->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!x->server) {
        sbox_close(fd);
        return -ENOMEM;
    }
    x->client = bufferevent_socket_new(f->server->base, f->fd, 0);
    if (!x->client)
        return -ENOMEM;
    (void)bufferevent_set_max_single_read(x->server, READ_AT_ONCE);
    (void)bufferevent_set_max_single_read(x->client, READ_AT_ONCE);
    bufferevent_setwatermark(x->server, EV_READ, 0, 2 * SBOX_HEAD_MAX);
    bufferevent_setwatermark(x->client, EV_READ, 0, SBOX_HEAD_MAX);
    bufferevent_setcb(x->client, on_client_read, on_client_written, on_client_event, x);
    bufferevent_setcb(x->server, on_server_read, on_server_written, on_server_event, x);
    return 0;
}

/* What came with the head goes first. A socket's input takes nothing but from its socket otherwise.
 */
static int hand_over(struct sbox_exchange *x)
{
    struct evbuffer *in = bufferevent_get_input(x->client);
    (void)evbuffer_unfreeze(in, 0);
    int r = evbuffer_add(in, x->front->bytes, x->front->size);
    (void)evbuffer_freeze(in, 0);
    sbox_front_drop(x->front, x->front->size);
    return r < 0 ? -ENOMEM : 0;
}

void sbox_exchange_start(struct sbox_exchange *x, int fd)
{
    x->front->flow.connected = true;
    if (set_up(x, fd) < 0 || hand_over(x) < 0) {
        sbox_http_refuse(x->front, SBOX_VERDICT_LIMIT, ENOMEM, NULL);
        return;
    }
    (void)bufferevent_write(x->server, x->head.data, x->head.size);
    x->front->flow.record.bytes_out += x->head.size;
    sbox_buf_release(&x->head);
    (void)bufferevent_enable(x->server, EV_READ | EV_WRITE);
    (void)bufferevent_enable(x->client, EV_READ | EV_WRITE);
    on_client_read(x->client, x); /* a body may have come with the head */
}
