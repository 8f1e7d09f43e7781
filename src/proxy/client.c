/* Starting and ending sbox-proxy: started as every helper program (base/helper.h), it ends when its
 * control socket is closed, and dies with sbox. */
#include "proxy/client.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/helper.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { PATIENCE_MS = 10000, LAST_MS = 2000 };

/* -- start ------------------------------------------------------------------------------------- */

int sbox_proxy_spawn(struct sbox_proxy *ret, struct sbox_error *err)
{
    *ret = (struct sbox_proxy){.control = -1, .gateway = -1};
    return sbox_helper_start("sbox-proxy", &ret->control, &ret->pid, err);
}

/* -- talk -------------------------------------------------------------------------------------- */

static int lost(struct sbox_error *err)
{
    return sbox_error_say(err, EPIPE, "sbox-proxy ended before the run began");
}

static int tell(const struct sbox_proxy *p, const struct sbox_wire_message *m, int fd,
                struct sbox_error *err)
{
    int r = sbox_wire_send(p->control, m, sizeof *m, fd);
    if (r < 0)
        return sbox_error_set(err, -r, "talk to sbox-proxy");
    return r == 0 ? lost(err) : 0;
}

static void terminate(struct sbox_wire_message *m)
{
    if (m->type == SBOX_WIRE_CONNECTION)
        m->connection.host[sizeof m->connection.host - 1] = '\0';
    else
        m->text[sizeof m->text - 1] = '\0';
}

/* Waits for one message. -EPIPE when the proxy is gone, -ETIMEDOUT. */
static int hear(const struct sbox_proxy *p, struct sbox_wire_message *m, struct sbox_error *err)
{
    struct pollfd ready = {.fd = p->control, .events = POLLIN};
    int n;
    do
        n = poll(&ready, 1, PATIENCE_MS);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        return sbox_error_say(err, ETIMEDOUT, "sbox-proxy does not answer");
    int r = n < 0 ? -errno : sbox_wire_receive(p->control, m, sizeof *m, NULL);
    if (r < 0)
        return sbox_error_set(err, -r, "listen to sbox-proxy");
    if (r == 0)
        return lost(err);
    terminate(m);
    return 0;
}

static int tell_text(const struct sbox_proxy *p, enum sbox_wire_type type, const char *text,
                     uint16_t port, struct sbox_error *err)
{
    struct sbox_wire_message m = {.type = type, .port = port};
    size_t size = strlen(text);
    if (size >= sizeof m.text)
        return sbox_error_say(err, EINVAL, "'%.60s...' is too long for a host", sbox_esc(text));
    memcpy(m.text, text, size);
    return tell(p, &m, -1, err);
}

int sbox_proxy_ask(const struct sbox_proxy *p, const struct sbox_proxy_request *q,
                   struct sbox_error *err)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < q->rules->count; i++)
        r = tell_text(p, SBOX_WIRE_RULE, q->rules->items[i], 0, err);
    for (size_t i = 0; r == 0 && i < q->host_port_count; i++) {
        struct sbox_wire_message m = {.type = SBOX_WIRE_HOST_PORT, .port = q->host_ports[i]};
        r = tell(p, &m, -1, err);
    }
    for (size_t i = 0; r == 0 && i < q->publish_count; i++) {
        struct sbox_wire_message m = {.type = SBOX_WIRE_PUBLISH,
                                      .address = q->publish[i].address,
                                      .port = q->publish[i].outside,
                                      .port2 = q->publish[i].inside};
        r = tell(p, &m, -1, err);
    }
    if (r == 0 && q->upstream_http)
        r = tell_text(p, SBOX_WIRE_UPSTREAM, q->upstream_http, 80, err);
    if (r == 0 && q->upstream_https)
        r = tell_text(p, SBOX_WIRE_UPSTREAM, q->upstream_https, 443, err);
    struct sbox_wire_message options = {.type = SBOX_WIRE_OPTIONS,
                                        .flags = q->allow_private ? SBOX_WIRE_ALLOW_PRIVATE : 0};
    struct sbox_wire_message compile = {.type = SBOX_WIRE_COMPILE};
    if (r == 0)
        r = tell(p, &options, -1, err);
    return r == 0 ? tell(p, &compile, -1, err) : r;
}

static int keep(struct sbox_proxy *p, const struct sbox_wire_message *m, struct sbox_error *err)
{
    switch (m->type) {
    case SBOX_WIRE_PORT:
        if (p->port_count == SBOX_NET_PORTS_MAX)
            return sbox_error_say(err, E2BIG, "too many different ports in the list (at most %d)",
                                  SBOX_NET_PORTS_MAX);
        p->ports[p->port_count++] = m->port;
        return 0;
    case SBOX_WIRE_LITERAL:
        if (p->literal_count == SBOX_NET_LITERALS_MAX)
            return sbox_error_say(err, E2BIG, "too many addresses in the list (at most %d)",
                                  SBOX_NET_LITERALS_MAX);
        p->literals[p->literal_count++] = m->address;
        return 0;
    case SBOX_WIRE_TEXT_OF:
        return sbox_strv_add(&p->rules, m->text) < 0 ? sbox_error_set(err, ENOMEM, "hosts") : 0;
    case SBOX_WIRE_REFUSED:
        return sbox_error_say(err, m->code > 0 ? m->code : EINVAL, "%s", sbox_esc(m->text));
    default:
        return sbox_error_say(err, EPROTO, "sbox-proxy answers with message %u", m->type);
    }
}

int sbox_proxy_answer(struct sbox_proxy *p, struct sbox_error *err)
{
    int r = 0;
    while (r == 0) {
        struct sbox_wire_message m;
        r = hear(p, &m, err);
        if (r == 0 && m.type == SBOX_WIRE_COMPILED)
            return 0;
        if (r == 0)
            r = keep(p, &m, err);
    }
    return r;
}

int sbox_proxy_go(struct sbox_proxy *p, struct sbox_error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return sbox_error_set(err, errno, "socketpair");
    p->gateway = pair[0];
    struct sbox_wire_message m = {.type = SBOX_WIRE_GATEWAY};
    int r = tell(p, &m, pair[1], err);
    (void)close(pair[1]);
    return r;
}

int sbox_proxy_take(struct sbox_proxy *p, struct sbox_wire_message *ret)
{
    struct pollfd ready = {.fd = p->control, .events = POLLIN};
    int n = poll(&ready, 1, 0);
    if (n <= 0)
        return n < 0 && errno != EINTR ? -errno : -EAGAIN;
    int r = sbox_wire_receive(p->control, ret, sizeof *ret, NULL);
    if (r > 0)
        terminate(ret);
    return r;
}

/* -- end --------------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A proxy that is no longer itself may talk without end: the patience is for all of it. */
void sbox_proxy_stop(struct sbox_proxy *p,
                     void (*take)(const struct sbox_wire_message *message, void *context),
                     void *context)
{
    struct sbox_wire_message m;
    if (p->pid > 0) {
        (void)shutdown(p->control, SHUT_WR);
        struct pollfd ready = {.fd = p->control, .events = POLLIN};
        int64_t until = now_ms() + LAST_MS;
        for (int64_t left = LAST_MS; left > 0; left = until - now_ms()) {
            if (poll(&ready, 1, (int)left) <= 0 ||
                sbox_wire_receive(p->control, &m, sizeof m, NULL) <= 0)
                break;
            terminate(&m);
            if (take)
                take(&m, context);
        }
        (void)kill(p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    sbox_close(p->control);
    sbox_close(p->gateway);
    sbox_strv_release(&p->rules);
    *p = (struct sbox_proxy){.control = -1, .gateway = -1};
}
