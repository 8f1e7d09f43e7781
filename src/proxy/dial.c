/* A light form of RFC 8305: the addresses in turn, families interleaved, the next one as soon as
 * the one before has failed or has not answered for 250 ms; the first that is connected wins. */
#include "proxy/reach.h"

#include "base/fd.h"

#include <netinet/tcp.h>

struct sbox_dial {
    struct event_base *base;
    struct sbox_resolved to;
    uint16_t port;
    size_t next; /* to be tried */
    size_t open;
    int error; /* of the latest failure */
    struct event *timer;
    struct attempt {
        struct sbox_dial *dial;
        int fd; /* -1: not under way */
        struct event *event;
    } attempts[SBOX_RESOLVE_MAX];
    sbox_dial_done *done;
    void *context;
};

static void give_up(struct attempt *a)
{
    if (a->event)
        event_free(a->event);
    a->event = NULL;
    sbox_close(a->fd);
    a->fd = -1;
}

void sbox_dial_cancel(struct sbox_dial *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < SBOX_RESOLVE_MAX; i++)
        give_up(&d->attempts[i]);
    event_free(d->timer);
    free(d);
}

static void finish(struct sbox_dial *d, size_t winner)
{
    sbox_dial_done *done = d->done;
    void *context = d->context;
    struct sbox_address to = {0};
    int error = d->error ? d->error : EHOSTUNREACH;
    int fd = -1;
    if (winner < SBOX_RESOLVE_MAX) {
        fd = d->attempts[winner].fd;
        to = d->to.addresses[winner];
        d->attempts[winner].fd = -1;
        error = 0;
    }
    sbox_dial_cancel(d);
    done(context, fd, &to, error);
}

static void try_next(struct sbox_dial *d);

static void on_connected(evutil_socket_t fd, short what, void *context)
{
    struct attempt *a = context;
    struct sbox_dial *d = a->dial;
    int error = what & EV_TIMEOUT ? ETIMEDOUT : 0;
    socklen_t size = sizeof error;
    if (error == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        error = errno;
    if (error == 0) {
        finish(d, (size_t)(a - d->attempts));
        return;
    }
    d->error = error;
    d->open--;
    give_up(a);
    try_next(d);
}

/* 0: under way; else errno. */
static int begin(struct sbox_dial *d, size_t i)
{
    struct attempt *a = &d->attempts[i];
    struct sockaddr_storage to;
    const struct timeval patience = {.tv_sec = SBOX_PROXY_DIAL_SECONDS};
    const int on = 1;
    socklen_t size = sbox_address_to_sockaddr(&d->to.addresses[i], d->port, &to);
    a->fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (a->fd < 0)
        return errno;
    (void)setsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(a->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (connect(a->fd, (struct sockaddr *)&to, size) < 0 && errno != EINPROGRESS)
        return errno;
    a->event = event_new(d->base, a->fd, EV_WRITE, on_connected, a);
    return a->event && event_add(a->event, &patience) == 0 ? 0 : ENOMEM;
}

static void try_next(struct sbox_dial *d)
{
    static const struct timeval pause = {.tv_usec = 250000};
    static const struct timeval at_once = {0}; /* all have failed: from the loop, not from within */
    while (d->next < d->to.count) {
        size_t i = d->next++;
        int error = begin(d, i);
        if (error == 0) {
            d->open++;
            if (d->next < d->to.count)
                (void)evtimer_add(d->timer, &pause);
            return;
        }
        d->error = error;
        give_up(&d->attempts[i]);
    }
    if (d->open == 0)
        (void)evtimer_add(d->timer, &at_once);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    struct sbox_dial *d = context;
    (void)fd;
    (void)what;
    if (d->open == 0 && d->next == d->to.count)
        finish(d, SBOX_RESOLVE_MAX);
    else
        try_next(d);
}

struct sbox_dial *sbox_dial_start(struct event_base *base, const struct sbox_resolved *to,
                                  uint16_t port, sbox_dial_done *done, void *context)
{
    struct sbox_dial *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    *d =
        (struct sbox_dial){.base = base, .to = *to, .port = port, .done = done, .context = context};
    for (size_t i = 0; i < SBOX_RESOLVE_MAX; i++)
        d->attempts[i] = (struct attempt){.dial = d, .fd = -1};
    d->timer = evtimer_new(base, on_timer, d);
    if (!d->timer) {
        free(d);
        return NULL;
    }
    try_next(d);
    return d;
}
