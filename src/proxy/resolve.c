/* c-ares (1.18 and later) on libevent: a socket of its own event each, one timer for its timeouts.
 *
 * resolv.conf, nsswitch.conf and host.conf are read by ares_init, before confinement; /etc/hosts by
 * each lookup, which is why that one file stays readable (proxy_confine.c). */
#include "proxy/reach.h"

#include <ares.h>
#include <netdb.h>

enum { SOCKETS_MAX = 64 };

struct sbox_resolver {
    struct event_base *base;
    ares_channel channel;
    struct event *timer;
    struct watch {
        struct event *event; /* NULL: free */
        ares_socket_t socket;
    } watches[SOCKETS_MAX];
};

struct sbox_query {
    struct sbox_resolver *resolver;
    sbox_resolve_done *done; /* NULL: cancelled */
    void *context;
};

static void arm_timer(struct sbox_resolver *r)
{
    struct timeval longest = {.tv_sec = 1};
    struct timeval wait;
    (void)evtimer_add(r->timer, ares_timeout(r->channel, &longest, &wait));
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    struct sbox_resolver *r = context;
    bool busy = false;
    (void)fd;
    (void)what;
    ares_process_fd(r->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    for (size_t i = 0; i < SOCKETS_MAX && !busy; i++)
        busy = r->watches[i].event != NULL;
    if (busy) /* an idle resolver wakes nobody */
        arm_timer(r);
}

static void on_socket(evutil_socket_t fd, short what, void *context)
{
    struct sbox_resolver *r = context;
    ares_process_fd(r->channel, what & EV_READ ? fd : ARES_SOCKET_BAD,
                    what & EV_WRITE ? fd : ARES_SOCKET_BAD);
}

static struct watch *watch_of(struct sbox_resolver *r, ares_socket_t socket)
{
    struct watch *unused = NULL;
    for (size_t i = 0; i < SOCKETS_MAX; i++) {
        if (r->watches[i].event && r->watches[i].socket == socket)
            return &r->watches[i];
        if (!r->watches[i].event && !unused)
            unused = &r->watches[i];
    }
    return unused;
}

/* c-ares wants to hear of a socket, or is about to close it. More than SOCKETS_MAX at once go
 * unwatched: their queries time out. */
static void on_state(void *context, ares_socket_t socket, int readable, int writable)
{
    struct sbox_resolver *r = context;
    struct watch *w = watch_of(r, socket);
    short events = (short)((readable ? EV_READ : 0) | (writable ? EV_WRITE : 0) | EV_PERSIST);
    if (!w)
        return;
    if (w->event)
        event_free(w->event);
    w->event = NULL;
    if (!readable && !writable)
        return;
    w->socket = socket;
    w->event = event_new(r->base, socket, events, on_socket, r);
    if (w->event)
        (void)event_add(w->event, NULL);
}

struct sbox_resolver *sbox_resolver_new(struct event_base *base)
{
    struct sbox_resolver *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    /* The host's search domains are not tried: what was listed is what is asked for. */
    struct ares_options options = {.flags = ARES_FLAG_NOSEARCH,
                                   .timeout = 3000,
                                   .tries = 3,
                                   .sock_state_cb = on_state,
                                   .sock_state_cb_data = r};
    r->base = base;
    r->timer = evtimer_new(base, on_timer, r);
    if (!r->timer || ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS ||
        ares_init_options(&r->channel, &options,
                          ARES_OPT_FLAGS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_TIMEOUTMS |
                              ARES_OPT_TRIES) != ARES_SUCCESS) {
        if (r->timer)
            event_free(r->timer);
        free(r);
        return NULL;
    }
    return r;
}

/* -- one name ---------------------------------------------------------------------------------- */

static int errno_of(int status)
{
    switch (status) {
    case ARES_ENODATA:
    case ARES_ENOTFOUND:
        return ENOENT;
    case ARES_ENOMEM:
        return ENOMEM;
    case ARES_ETIMEOUT:
        return ETIMEDOUT;
    case ARES_ECONNREFUSED:
        return ECONNREFUSED;
    default:
        return EREMOTEIO;
    }
}

static void add(struct sbox_resolved *to, const struct sockaddr *from, uint8_t family)
{
    struct sockaddr_storage s = {0};
    uint16_t port;
    struct sbox_address a;
    if (to->count == SBOX_RESOLVE_MAX || from->sa_family != (family == 6 ? AF_INET6 : AF_INET))
        return;
    memcpy(&s, from, family == 6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    if (sbox_address_from_sockaddr(&s, &a, &port) == 0)
        to->addresses[to->count++] = a;
}

/* Node after node of one family; *at moves to the node behind the one that was added. */
static bool add_next(struct sbox_resolved *to, const struct ares_addrinfo_node **at, uint8_t family)
{
    while (*at && (*at)->ai_family != (family == 6 ? AF_INET6 : AF_INET))
        *at = (*at)->ai_next;
    if (!*at)
        return false;
    add(to, (*at)->ai_addr, family);
    *at = (*at)->ai_next;
    return true;
}

static void on_answer(void *context, int status, int timeouts, struct ares_addrinfo *answer)
{
    struct sbox_query *q = context;
    struct sbox_resolved resolved = {.count = 0};
    (void)timeouts;
    if (status == ARES_SUCCESS && answer) {
        const struct ares_addrinfo_node *six = answer->nodes;
        const struct ares_addrinfo_node *four = answer->nodes;
        bool more = true;
        while (more) {
            bool had_six = add_next(&resolved, &six, 6);
            more = add_next(&resolved, &four, 4) || had_six;
        }
    }
    int error = status != ARES_SUCCESS ? errno_of(status) : resolved.count == 0 ? ENOENT : 0;
    if (q->done)
        q->done(q->context, &resolved, error);
    free(q);
    if (answer)
        ares_freeaddrinfo(answer);
}

void sbox_resolve(struct sbox_resolver *r, const char *name, sbox_resolve_done *done, void *context,
                  struct sbox_query **ret)
{
    static const struct sbox_resolved nothing;
    /* Without a port and without sorting: that would ask the routing table with sockets. */
    const struct ares_addrinfo_hints hints = {
        .ai_flags = ARES_AI_NOSORT, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct sbox_query *q = calloc(1, sizeof *q);
    *ret = q;
    if (!q) {
        done(context, &nothing, ENOMEM);
        return;
    }
    *q = (struct sbox_query){.resolver = r, .done = done, .context = context};
    ares_getaddrinfo(r->channel, name, NULL, &hints, on_answer, q);
    arm_timer(r);
}

void sbox_resolve_cancel(struct sbox_query *q)
{
    q->done = NULL;
}
