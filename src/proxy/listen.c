/* Accepting, with bounds. Nobody outside can fill them: whoever connects is inside, or a client of
 * what the user publishes.
 *
 * - So many connections at one time as descriptors allow. At the limit, and when descriptors have
 *   run out all the same, the listener rests for a moment: a level-triggered loop would spin.
 * - A client that has not said what it wants is worth less than one that has: among those the
 *   oldest goes first. */
#include "proxy/server.h"

#include "base/fd.h"
#include "confine/rlimit.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <unistd.h>

static const struct timeval rest = {.tv_usec = 100000};

void sbox_limits_set(struct sbox_server *s)
{
    struct rlimit limit = {.rlim_cur = 1024, .rlim_max = 1024};
    struct rlimit before;
    (void)sbox_rlimit_raise_nofile(&before);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t usable = limit.rlim_cur > 2 * SBOX_PROXY_SPARE_DESCRIPTORS
                        ? limit.rlim_cur - SBOX_PROXY_SPARE_DESCRIPTORS
                        : limit.rlim_cur / 2;
    s->clients_max = usable / 2 < SBOX_PROXY_CLIENTS_MAX ? usable / 2 : SBOX_PROXY_CLIENTS_MAX;
    s->waiting_max =
        s->clients_max / 2 < SBOX_PROXY_WAITING_MAX ? s->clients_max / 2 : SBOX_PROXY_WAITING_MAX;
}

static void pause_listener(struct sbox_listener *l)
{
    (void)event_del(l->event);
    (void)evtimer_add(l->again, &rest);
}

static void on_rested(evutil_socket_t fd, short what, void *context)
{
    struct sbox_listener *l = context;
    (void)fd;
    (void)what;
    (void)event_add(l->event, NULL);
}

/* Makes room by giving up the oldest client that has not spoken. */
static bool make_room(struct sbox_server *s)
{
    struct sbox_waiting *oldest = TAILQ_FIRST(&s->waiting);
    if (oldest)
        oldest->give_up(oldest->context);
    return oldest != NULL;
}

/* With no descriptor left a connection cannot even be refused: it would stay in the queue and its
 * client would wait. The spare one lends its number. */
static void refuse_one(struct sbox_listener *l)
{
    struct sbox_server *s = l->server;
    sbox_close(s->spare);
    sbox_close(accept4(l->fd, NULL, NULL, SOCK_CLOEXEC));
    s->spare = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
}

/* One at a time: the loop comes back as long as there are more, and others get their turn. */
static void on_acceptable(evutil_socket_t fd, short what, void *context)
{
    struct sbox_listener *l = context;
    struct sbox_server *s = l->server;
    (void)what;
    struct sockaddr_storage from = {0};
    socklen_t size = sizeof from;
    if (s->clients >= s->clients_max && !make_room(s)) {
        pause_listener(l);
        return;
    }
    int client = accept4(fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0) {
        s->clients++;
        l->take(l, client, &from);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        if (!make_room(s))
            refuse_one(l);
        pause_listener(l);
    } /* else: it was gone before it was accepted; accept(2) lists many ways */
}

int sbox_listener_add(struct sbox_server *s, uint16_t port, int fd,
                      void (*take)(struct sbox_listener *, int, const struct sockaddr_storage *),
                      void *context)
{
    if (s->listener_count == SBOX_PROXY_LISTENERS_MAX) {
        sbox_close(fd);
        return -E2BIG;
    }
    /* What is accepted inherits these. */
    const int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    struct sbox_listener *l = &s->listeners[s->listener_count++];
    *l = (struct sbox_listener){
        .server = s, .port = port, .fd = fd, .take = take, .context = context};
    l->event = event_new(s->base, fd, EV_READ | EV_PERSIST, on_acceptable, l);
    l->again = evtimer_new(s->base, on_rested, l);
    return l->event && l->again && event_add(l->event, NULL) == 0 ? 0 : -ENOMEM;
}

/* -- clients that have not said what they want ------------------------------------------------- */

static void on_patience(evutil_socket_t fd, short what, void *context)
{
    struct sbox_waiting *w = context;
    (void)fd;
    (void)what;
    w->give_up(w->context);
}

int sbox_waiting_begin(struct sbox_waiting *w, struct sbox_server *s, void (*give_up)(void *),
                       void *context)
{
    const struct timeval patience = {.tv_sec = SBOX_PROXY_HEAD_SECONDS};
    if (s->waiting_count >= s->waiting_max)
        (void)make_room(s);
    *w = (struct sbox_waiting){.server = s, .give_up = give_up, .context = context};
    w->timer = evtimer_new(s->base, on_patience, w);
    if (!w->timer)
        return -ENOMEM;
    TAILQ_INSERT_TAIL(&s->waiting, w, entry);
    s->waiting_count++;
    return evtimer_add(w->timer, &patience) < 0 ? -ENOMEM : 0;
}

void sbox_waiting_end(struct sbox_waiting *w)
{
    if (!w->timer)
        return;
    event_free(w->timer);
    w->timer = NULL;
    TAILQ_REMOVE(&w->server->waiting, w, entry);
    w->server->waiting_count--;
}
