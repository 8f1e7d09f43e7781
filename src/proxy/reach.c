/* Decide, resolve, vet, dial.
 *
 * An answer is taken whole or not at all: one private address among public ones refuses it, since
 * whoever answers chooses which of them is dialled (rebinding). What was vetted is what is dialled;
 * the name is not looked up again. With an upstream proxy only that is resolved and dialled here,
 * and the name goes to it: literal addresses are judged all the same. */
#include "proxy/reach.h"

#include "base/fd.h"

struct sbox_reach {
    struct sbox_server *server;
    enum sbox_reach_kind kind;
    struct sbox_host host;
    uint16_t port;
    const struct sbox_upstream *upstream; /* NULL: direct */
    struct sbox_flow *flow;
    sbox_reach_done *done;
    void *context;
    struct event *later; /* carries a synchronous answer into the loop */
    struct sbox_query *query;
    bool answered; /* by the resolver */
    struct sbox_dial *dial;
    struct sbox_ask *ask;
    int fd;
    enum sbox_wire_verdict verdict;
    int error;
};

static void release(struct sbox_reach *r)
{
    if (r->query)
        sbox_resolve_cancel(r->query);
    sbox_dial_cancel(r->dial);
    sbox_upstream_ask_cancel(r->ask);
    if (r->later)
        event_free(r->later);
    sbox_close(r->fd);
    free(r);
}

void sbox_reach_cancel(struct sbox_reach *r)
{
    if (r)
        release(r);
}

static void on_later(evutil_socket_t fd, short what, void *context)
{
    struct sbox_reach *r = context;
    sbox_reach_done *done = r->done;
    void *caller = r->context;
    enum sbox_wire_verdict verdict = r->verdict;
    int error = r->error;
    int connected = r->fd;
    (void)fd;
    (void)what;
    r->fd = -1;
    release(r);
    done(caller, connected, verdict, error);
}

/* The answer, from the event loop and never from within sbox_reach_start. */
static void finish(struct sbox_reach *r, int fd, enum sbox_wire_verdict verdict, int error)
{
    r->fd = fd;
    r->verdict = verdict;
    r->error = error;
    event_active(r->later, EV_TIMEOUT, 0);
}

static void fail(struct sbox_reach *r, int error)
{
    finish(r, -1, SBOX_VERDICT_FAILED, error);
}

/* -- dial -------------------------------------------------------------------------------------- */

static void on_tunnel(void *context, int fd, int error)
{
    struct sbox_reach *r = context;
    r->ask = NULL;
    if (fd < 0)
        fail(r, error);
    else
        finish(r, fd, SBOX_VERDICT_ALLOWED, 0);
}

/* A service of this machine, at an address that looks like anybody's: nothing is sent to it. Only
 * the kernel knows, once it has chosen where the connection comes from. */
static bool is_this_machine(int fd, const struct sbox_address *to)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    struct sbox_address own;
    uint16_t port;
    return getsockname(fd, (struct sockaddr *)&from, &size) < 0 ||
           (sbox_address_from_sockaddr(&from, &own, &port) == 0 && sbox_address_equal(&own, to));
}

/* As for loopback: a name leads there only when the user says so. */
static bool may_be_this_machine(const struct sbox_reach *r)
{
    return r->upstream || r->host.address.family != 0 || r->server->allow_private;
}

static void on_dialled(void *context, int fd, const struct sbox_address *to, int error)
{
    struct sbox_reach *r = context;
    r->dial = NULL;
    if (fd < 0) {
        fail(r, error);
        return;
    }
    r->flow->record.address = *to;
    if (!may_be_this_machine(r) && is_this_machine(fd, to)) {
        sbox_close(fd);
        finish(r, -1, SBOX_VERDICT_ADDRESS, EACCES);
        return;
    }
    if (!r->upstream || r->kind == SBOX_REACH_REQUEST) {
        finish(r, fd, SBOX_VERDICT_ALLOWED, 0);
        return;
    }
    r->ask = sbox_upstream_ask(r->server->base, r->upstream, fd, &r->host, r->port, on_tunnel, r);
    if (!r->ask)
        fail(r, ENOMEM);
}

static void dial(struct sbox_reach *r, const struct sbox_resolved *to, uint16_t port)
{
    r->dial = sbox_dial_start(r->server->base, to, port, on_dialled, r);
    if (!r->dial)
        fail(r, ENOMEM);
}

static void dial_one(struct sbox_reach *r, const struct sbox_address *to, uint16_t port)
{
    const struct sbox_resolved one = {.addresses = {*to}, .count = 1};
    dial(r, &one, port);
}

/* -- resolve and vet --------------------------------------------------------------------------- */

static bool vet(struct sbox_reach *r, const struct sbox_resolved *resolved)
{
    for (size_t i = 0; i < resolved->count; i++) {
        if (sbox_allowlist_vet(&resolved->addresses[i], r->server->allow_private))
            continue;
        r->flow->record.address = resolved->addresses[i];
        return false;
    }
    return true;
}

static void on_resolved(void *context, const struct sbox_resolved *resolved, int error)
{
    struct sbox_reach *r = context;
    r->query = NULL;
    r->answered = true;
    /* Where the upstream lies the user has said himself: it is not vetted. */
    if (error)
        fail(r, error);
    else if (!r->upstream && !vet(r, resolved))
        finish(r, -1, SBOX_VERDICT_ADDRESS, EACCES);
    else
        dial(r, resolved, r->upstream ? r->upstream->port : r->port);
}

static void resolve(struct sbox_reach *r, const char *name)
{
    struct sbox_query *query = NULL;
    /* The answer may come before this returns (/etc/hosts): then the query is gone already. */
    sbox_resolve(r->server->resolver, name, on_resolved, r, &query);
    if (!r->answered)
        r->query = query;
}

static void go(struct sbox_reach *r)
{
    const struct sbox_host *to = r->upstream ? &r->upstream->host : &r->host;
    uint16_t port = r->upstream ? r->upstream->port : r->port;
    if (to->address.family)
        dial_one(r, &to->address, port);
    else
        resolve(r, to->name);
}

static void go_to_loopback(struct sbox_reach *r)
{
    static const struct sbox_resolved loopback = {
        .addresses = {{4, {127, 0, 0, 1}}, {6, {[15] = 1}}}, .count = 2};
    dial(r, &loopback, r->port);
}

enum sbox_wire_verdict sbox_reach_start(struct sbox_server *s, enum sbox_reach_kind kind,
                                        const struct sbox_host *host, uint16_t port,
                                        struct sbox_flow *flow, sbox_reach_done *done,
                                        void *context, struct sbox_reach **ret)
{
    sbox_flow_name(flow, host, port);
    if (kind != SBOX_REACH_HOST_PORT) {
        enum sbox_wire_verdict verdict = sbox_allowlist_decide(s->list, host, port);
        if (verdict != SBOX_VERDICT_ALLOWED)
            return verdict;
    }
    struct sbox_reach *r = calloc(1, sizeof *r);
    if (!r)
        return SBOX_VERDICT_LIMIT;
    *r = (struct sbox_reach){.server = s,
                             .kind = kind,
                             .host = *host,
                             .port = port,
                             .flow = flow,
                             .done = done,
                             .context = context,
                             .fd = -1};
    r->later = evtimer_new(s->base, on_later, r);
    if (!r->later) {
        free(r);
        return SBOX_VERDICT_LIMIT;
    }
    *ret = r;
    if (kind == SBOX_REACH_HOST_PORT) {
        go_to_loopback(r);
        return SBOX_VERDICT_ALLOWED;
    }
    r->upstream = sbox_upstream_for(s, kind, host, port);
    go(r);
    return SBOX_VERDICT_ALLOWED;
}
