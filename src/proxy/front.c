#include "proxy/front.h"

#include "base/fd.h"
#include "proxy/relay.h"

#include <sys/socket.h>

enum { DRAIN_SECONDS = 2, SOCKS_VERSION = 5, FIRST_ROOM = 2 << 10 };

/* -- the end ----------------------------------------------------------------------------------- */

static void release(struct sbox_front *f)
{
    sbox_waiting_end(&f->waiting);
    sbox_reach_cancel(f->reach);
    sbox_exchange_free(f->exchange);
    if (f->readable)
        event_free(f->readable);
    sbox_close(f->fd);
    free(f->bytes);
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
    (void)setsockopt(f->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    sbox_front_close(f, verdict, error);
}

static void give_up(void *context)
{
    sbox_front_close(context, SBOX_VERDICT_FAILED, ETIMEDOUT);
}

static void drop_rest(struct sbox_front *f)
{
    char rest[4096];
    if (recv(f->fd, rest, sizeof rest, 0) <= 0)
        sbox_front_close(f, SBOX_VERDICT_FAILED, ECONNRESET);
}

void sbox_front_finish(struct sbox_front *f, const void *data, size_t size,
                       enum sbox_wire_verdict verdict, int error)
{
    const struct timeval patience = {.tv_sec = DRAIN_SECONDS};
    sbox_flow_end(&f->flow, verdict, error);
    sbox_exchange_free(f->exchange);
    f->exchange = NULL;
    sbox_waiting_end(&f->waiting);
    f->finished = true;
    if (send(f->fd, data, size, MSG_NOSIGNAL) != (ssize_t)size || shutdown(f->fd, SHUT_WR) < 0 ||
        sbox_waiting_begin(&f->waiting, f->server, give_up, f) < 0 ||
        event_add(f->readable, &patience) < 0)
        release(f);
}

bool sbox_front_say(struct sbox_front *f, const void *data, size_t size)
{
    if (send(f->fd, data, size, MSG_NOSIGNAL) == (ssize_t)size)
        return true;
    sbox_front_close(f, SBOX_VERDICT_FAILED, ECONNRESET);
    return false;
}

void sbox_front_tunnel(struct sbox_front *f, int server)
{
    bool named = f->host.address.family == 0;
    int client = f->fd;
    (void)event_del(f->readable);
    f->fd = -1;
    f->server->clients++; /* the relay's; release() takes this one back */
    sbox_relay_start(f->server, client, server, &f->flow, f->bytes, f->size,
                     named ? &f->host : NULL);
    release(f);
}

/* -- what the client says ---------------------------------------------------------------------- */

bool sbox_front_keep(struct sbox_front *f, size_t size, uint8_t **ret_at)
{
    if (f->room - f->size < size) {
        uint8_t *grown = realloc(f->bytes, f->size + size);
        if (!grown)
            return false;
        f->bytes = grown;
        f->room = f->size + size;
    }
    *ret_at = f->bytes + f->size;
    return true;
}

void sbox_front_drop(struct sbox_front *f, size_t size)
{
    f->size -= size;
    memmove(f->bytes, f->bytes + size, f->size);
}

/* Room for the next read: grown as it fills, to one byte more than a head may have. */
static size_t make_room(struct sbox_front *f, uint8_t **ret_at)
{
    const size_t most = SBOX_HEAD_MAX + 1;
    size_t size = f->size == f->room ? (f->room ? f->room : FIRST_ROOM) : f->room - f->size;
    if (f->size + size > most)
        size = most - f->size;
    return sbox_front_keep(f, size, ret_at) ? size : 0;
}

static void take_words(struct sbox_front *f)
{
    uint8_t *at;
    size_t room = make_room(f, &at);
    ssize_t n = room ? recv(f->fd, at, room, 0) : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        sbox_front_close(f, SBOX_VERDICT_FAILED, ECONNRESET);
        return;
    }
    f->size += (size_t)n;
    f->read(f);
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
    struct sbox_front *f = context;
    (void)fd;
    if (what & EV_TIMEOUT)
        give_up(f);
    else if (f->finished)
        drop_rest(f);
    else
        take_words(f);
}

int sbox_front_wait(struct sbox_front *f, void (*read)(struct sbox_front *f))
{
    f->read = read;
    if (event_add(f->readable, NULL) == 0 &&
        sbox_waiting_begin(&f->waiting, f->server, give_up, f) == 0)
        return 0;
    release(f);
    return -ENOMEM;
}

void sbox_front_hold(struct sbox_front *f)
{
    sbox_waiting_end(&f->waiting);
    (void)event_del(f->readable);
}

static void read_first(struct sbox_front *f)
{
    f->read = f->bytes[0] == SOCKS_VERSION ? sbox_socks_read : sbox_http_read;
    f->read(f);
}

void sbox_front_take(struct sbox_listener *l, int fd, const struct sockaddr_storage *from)
{
    struct sbox_server *s = l->server;
    struct sbox_front *f = calloc(1, sizeof *f);
    (void)from;
    if (!f) {
        sbox_close(fd);
        s->clients--;
        return;
    }
    *f = (struct sbox_front){.server = s, .fd = fd};
    f->readable = event_new(s->base, fd, EV_READ | EV_PERSIST, on_readable, f);
    if (!f->readable)
        release(f);
    else if (sbox_front_wait(f, read_first) == 0)
        take_words(f); /* most have sent their head by now: one turn of the loop less */
}
