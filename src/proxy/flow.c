#include "proxy/flow.h"

#include <time.h>

static uint64_t clock_of(clockid_t id)
{
    struct timespec now;
    (void)clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t sbox_clock_us(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

void sbox_flow_begin(struct sbox_flow *f, struct sbox_server *s, enum sbox_wire_way way)
{
    *f = (struct sbox_flow){
        .server = s,
        .record = {.way = (uint8_t)way, .count = 1, .started_us = clock_of(CLOCK_REALTIME)},
        .began_us = sbox_clock_us(),
        .open = true,
    };
    TAILQ_INSERT_TAIL(&s->flows, f, entry);
}

void sbox_flow_move(struct sbox_flow *to, struct sbox_flow *from)
{
    *to = *from;
    if (!from->open)
        return;
    TAILQ_REMOVE(&from->server->flows, from, entry);
    TAILQ_INSERT_TAIL(&to->server->flows, to, entry);
    from->open = false;
}

void sbox_flow_name(struct sbox_flow *f, const struct sbox_host *host, uint16_t port)
{
    f->record.port = port;
    if (host)
        (void)sbox_host_format(host, f->record.host);
}

void sbox_flow_end(struct sbox_flow *f, enum sbox_wire_verdict verdict, int error)
{
    if (!f->open)
        return;
    f->open = false;
    TAILQ_REMOVE(&f->server->flows, f, entry);
    f->record.verdict = (uint8_t)verdict;
    f->record.error = error;
    f->record.duration_us = sbox_clock_us() - f->began_us;
    sbox_report(f->server, &f->record);
}

void sbox_flow_end_all(struct sbox_server *s)
{
    struct sbox_flow *f;
    while ((f = TAILQ_FIRST(&s->flows)))
        sbox_flow_end(f, f->connected ? SBOX_VERDICT_ALLOWED : SBOX_VERDICT_FAILED,
                      f->connected ? 0 : ECANCELED);
}
