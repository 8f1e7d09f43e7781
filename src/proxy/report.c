/* What sbox is told while the run lasts. Nobody inside may make the proxy wait for sbox, or fill
 * sbox's memory:
 *
 * - Connections that were allowed are told in batches: sbox need not wake for each of them. What
 * was refused the user wants to know at once.
 * - The socket does not block; what it does not take waits in a queue. When that is full, messages
 *   are dropped and counted, and the count is told at the end.
 * - Something refused over and over (a loop, a scan) is told one by one a few times, then counted;
 *   the counts follow at the end, one message each. */
#include "proxy/server.h"

#include "proxy/flow.h"

#include <fcntl.h>

enum { BATCH_US = 50000, QUEUE_MAX = 4096, SAID_MAX = 1024, ONE_BY_ONE = 16, LAST_SECONDS = 1 };

struct queued {
    STAILQ_ENTRY(queued) entry;
    struct sbox_wire_message message;
};

/* One thing that was refused; `message` is how it is told. */
struct said {
    struct sbox_wire_connection connection;
    uint32_t since; /* not told yet */
    uint32_t times;
};

struct sbox_reports {
    STAILQ_HEAD(, queued) queue;
    size_t queued;
    struct event *writable;
    struct event *batch; /* the time to write has come */
    struct said said[SAID_MAX];
    size_t said_count;
    uint64_t dropped;
    bool ending; /* no batches any more */
};

static void write_queue(struct sbox_server *s)
{
    struct sbox_reports *r = s->reports;
    struct queued *q;
    while ((q = STAILQ_FIRST(&r->queue))) {
        if (sbox_wire_send(s->control, &q->message, sizeof q->message, -1) == -EAGAIN) {
            (void)event_add(r->writable, NULL);
            return;
        }
        STAILQ_REMOVE_HEAD(&r->queue, entry);
        r->queued--;
        free(q);
    }
}

static void on_time(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    write_queue(context);
}

struct sbox_reports *sbox_reports_new(struct sbox_server *s)
{
    struct sbox_reports *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    STAILQ_INIT(&r->queue);
    r->writable = event_new(s->base, s->control, EV_WRITE, on_time, s);
    r->batch = evtimer_new(s->base, on_time, s);
    if (r->writable && r->batch)
        return r;
    free(r);
    return NULL;
}

static void tell(struct sbox_server *s, const struct sbox_wire_message *m, bool at_once)
{
    static const struct timeval batch = {.tv_usec = BATCH_US};
    struct sbox_reports *r = s->reports;
    at_once = at_once || r->ending;
    if (at_once && r->queued == 0 && sbox_wire_send(s->control, m, sizeof *m, -1) != -EAGAIN)
        return;
    struct queued *q = r->queued < QUEUE_MAX ? malloc(sizeof *q) : NULL;
    if (!q) {
        r->dropped++;
        return;
    }
    q->message = *m;
    STAILQ_INSERT_TAIL(&r->queue, q, entry);
    r->queued++;
    if (at_once)
        write_queue(s);
    else if (!evtimer_pending(r->batch, NULL))
        (void)evtimer_add(r->batch, &batch);
}

static void tell_connection(struct sbox_server *s, const struct sbox_wire_connection *c)
{
    const struct sbox_wire_message m = {.type = SBOX_WIRE_CONNECTION, .connection = *c};
    tell(s, &m, c->verdict != SBOX_VERDICT_ALLOWED);
}

static bool is_same(const struct sbox_wire_connection *a, const struct sbox_wire_connection *b)
{
    return a->verdict == b->verdict && a->way == b->way && a->port == b->port &&
           strcmp(a->host, b->host) == 0;
}

/* Its entry, an old one or a new one; NULL when there are too many different things. */
static struct said *entry_of(struct sbox_reports *r, const struct sbox_wire_connection *c)
{
    for (size_t i = 0; i < r->said_count; i++)
        if (is_same(&r->said[i].connection, c))
            return &r->said[i];
    if (r->said_count == SAID_MAX)
        return NULL;
    struct said *entry = &r->said[r->said_count++];
    entry->connection = *c;
    return entry;
}

void sbox_report(struct sbox_server *s, const struct sbox_wire_connection *c)
{
    struct sbox_reports *r = s->reports;
    struct said *entry = c->verdict == SBOX_VERDICT_ALLOWED ? NULL : entry_of(r, c);
    if (entry && entry->times++ >= ONE_BY_ONE)
        entry->since++;
    else
        tell_connection(s, c);
}

static void tell_counts(struct sbox_server *s)
{
    struct sbox_reports *r = s->reports;
    for (size_t i = 0; i < r->said_count; i++) {
        if (r->said[i].since == 0)
            continue;
        r->said[i].connection.count = r->said[i].since;
        tell_connection(s, &r->said[i].connection);
    }
    if (r->dropped == 0)
        return;
    struct sbox_wire_message m = {.type = SBOX_WIRE_NOTICE};
    (void)snprintf(m.text, sizeof m.text,
                   "%llu connections came too fast to be recorded: the list is not complete",
                   (unsigned long long)r->dropped);
    tell(s, &m, true);
}

/* The last messages may wait for sbox, but not for ever: it may be stopped. */
void sbox_reports_end(struct sbox_server *s)
{
    const struct timeval patience = {.tv_sec = LAST_SECONDS};
    (void)setsockopt(s->control, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    (void)fcntl(s->control, F_SETFL, 0);
    s->reports->ending = true;
    write_queue(s);
    sbox_flow_end_all(s);
    tell_counts(s);
}
