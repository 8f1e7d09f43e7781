#include "proxy/front.h"

#include "base/fd.h"
#include "proxy/relay.h"

#include <sys/socket.h>

enum { DRAIN_SECONDS = 2, SOCKS_VERSION = 5 };

const uint8_t *sbox_front_bytes(struct sbox_front *f, size_t *ret_size)
{
    struct evbuffer *in = bufferevent_get_input(f->client);
    *ret_size = evbuffer_get_length(in);
    return evbuffer_pullup(in, -1);
}

/* -- the end ----------------------------------------------------------------------------------- */

static void release(struct sbox_front *f)
{
    sbox_waiting_end(&f->waiting);
    sbox_reach_cancel(f->reach);
    sbox_exchange_free(f->exchange);
    if (f->client)
        bufferevent_free(f->client); /* closes the socket */
    f->server->clients--;
    free(f);
}

void sbox_front_close(struct sbox_front *f, enum sbox_wire_verdict verdict, int error)
{
    sbox_flow_end(&f->flow, verdict, error);
    release(f);
}

void sbox_front_reset(struct sbox_front *f, enum sbox_wire_verdict verdict, int error)
{
    const struct linger hard = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(bufferevent_getfd(f->client), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    sbox_front_close(f, verdict, error);
}

static void give_up(void *context)
{
    sbox_front_close(context, SBOX_VERDICT_FAILED, ETIMEDOUT);
}

static void on_event(struct bufferevent *stream, short what, void *context)
{
    (void)stream;
    (void)what; /* end, error or timeout while a head was waited for or the rest was drained */
    sbox_front_close(context, SBOX_VERDICT_FAILED, ECONNRESET);
}

static void on_rest(struct bufferevent *stream, void *context)
{
    struct evbuffer *in = bufferevent_get_input(stream);
    (void)context;
    (void)evbuffer_drain(in, evbuffer_get_length(in));
}

void sbox_front_finish(struct sbox_front *f, const void *data, size_t size,
                       enum sbox_wire_verdict verdict, int error)
{
    const struct timeval patience = {.tv_sec = DRAIN_SECONDS};
    int fd = bufferevent_getfd(f->client);
    sbox_flow_end(&f->flow, verdict, error);
    sbox_exchange_free(f->exchange);
    f->exchange = NULL;
    if (send(fd, data, size, MSG_NOSIGNAL) != (ssize_t)size || shutdown(fd, SHUT_WR) < 0) {
        release(f);
        return;
    }
    sbox_waiting_end(&f->waiting);
    if (sbox_waiting_begin(&f->waiting, f->server, give_up, f) < 0) {
        release(f);
        return;
    }
    on_rest(f->client, f);
    bufferevent_setcb(f->client, on_rest, NULL, on_event, f);
    (void)bufferevent_set_timeouts(f->client, &patience, NULL);
    (void)bufferevent_enable(f->client, EV_READ);
}

bool sbox_front_say(struct sbox_front *f, const void *data, size_t size)
{
    if (send(bufferevent_getfd(f->client), data, size, MSG_NOSIGNAL) == (ssize_t)size)
        return true;
    sbox_front_close(f, SBOX_VERDICT_FAILED, ECONNRESET);
    return false;
}

void sbox_front_tunnel(struct sbox_front *f, int server)
{
    size_t size;
    const uint8_t *first = sbox_front_bytes(f, &size);
    int client = bufferevent_getfd(f->client);
    struct bufferevent *stream = f->client;
    bool named = f->host.address.family == 0;
    (void)bufferevent_disable(stream, EV_READ | EV_WRITE);
    (void)bufferevent_setfd(stream, -1);
    f->client = NULL;
    sbox_relay_start(f->server, client, server, &f->flow, first, size, named ? &f->host : NULL);
    bufferevent_free(stream);
    f->server->clients++; /* the relay's now; release() takes this one back */
    release(f);
}

/* -- waiting ----------------------------------------------------------------------------------- */

static void on_read(struct bufferevent *stream, void *context)
{
    struct sbox_front *f = context;
    (void)stream;
    f->read(f);
}

int sbox_front_wait(struct sbox_front *f, void (*read)(struct sbox_front *f))
{
    f->read = read;
    bufferevent_setcb(f->client, on_read, NULL, on_event, f);
    bufferevent_setwatermark(f->client, EV_READ, 0, SBOX_HEAD_MAX + 1);
    if (bufferevent_enable(f->client, EV_READ) == 0 &&
        sbox_waiting_begin(&f->waiting, f->server, give_up, f) == 0)
        return 0;
    release(f);
    return -ENOMEM;
}

void sbox_front_hold(struct sbox_front *f)
{
    sbox_waiting_end(&f->waiting);
    (void)bufferevent_disable(f->client, EV_READ);
}

static void read_first(struct sbox_front *f)
{
    size_t size;
    const uint8_t *first = sbox_front_bytes(f, &size);
    if (size == 0)
        return;
    f->read = first[0] == SOCKS_VERSION ? sbox_socks_read : sbox_http_read;
    f->read(f);
}

void sbox_front_take(struct sbox_listener *l, int fd, const struct sockaddr_storage *from)
{
    struct sbox_server *s = l->server;
    struct sbox_front *f = calloc(1, sizeof *f);
    (void)from;
    if (f) {
        f->server = s;
        f->client = bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE);
    }
    if (!f || !f->client) {
        sbox_close(fd);
        s->clients--;
        free(f);
        return;
    }
    (void)sbox_front_wait(f, read_first);
}
