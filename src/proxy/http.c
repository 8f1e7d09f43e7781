/* HTTP on the proxy's port: reads a head, decides, and either makes a tunnel (CONNECT) or passes
 * one request on (absolute form, http_exchange.c). Each request is decided anew, also the second
 * one on a connection. */
#include "proxy/front.h"
#include "proxy/names.h"

#include "base/escape.h"
#include "base/fd.h"

/* -- refusals ---------------------------------------------------------------------------------- */

struct refusal {
    int status;
    const char *phrase; /* of the status */
    const char *reason; /* X-Sbox-Reason, for programs */
};

static struct refusal refusal_of(enum sbox_wire_verdict verdict, int error)
{
    switch (verdict) {
    case SBOX_VERDICT_NAME:
        return (struct refusal){403, "Forbidden", "host-not-listed"};
    case SBOX_VERDICT_PORT:
        return (struct refusal){403, "Forbidden", "port-not-listed"};
    case SBOX_VERDICT_ADDRESS:
        return (struct refusal){403, "Forbidden", "private-address"};
    case SBOX_VERDICT_SNI:
        return (struct refusal){403, "Forbidden", "other-tls-name"};
    case SBOX_VERDICT_REQUEST:
        if (error == E2BIG)
            return (struct refusal){431, "Request Header Fields Too Large", "too-long"};
        return (struct refusal){400, "Bad Request", "not-understood"};
    case SBOX_VERDICT_LIMIT:
        return (struct refusal){503, "Service Unavailable", "too-many-connections"};
    case SBOX_VERDICT_ALLOWED:
    case SBOX_VERDICT_FAILED:
        break;
    }
    if (error == ETIMEDOUT)
        return (struct refusal){504, "Gateway Timeout", "timeout"};
    return (struct refusal){502, "Bad Gateway", error == ENOENT ? "no-such-name" : "failed"};
}

static void explain(struct sbox_buf *out, const struct sbox_front *f,
                    enum sbox_wire_verdict verdict, int error, const char *why)
{
    char text[SBOX_HOST_SIZE];
    sbox_buf_add_str(out, "sbox: ");
    if (verdict == SBOX_VERDICT_REQUEST) {
        sbox_buf_addf(out, "the request is not understood: %s\n", why);
        return;
    }
    sbox_buf_addf(out, f->host.address.family == 6 ? "[%s]:%u" : "%s:%u",
                  sbox_host_format(&f->host, text), f->port);
    switch (verdict) {
    case SBOX_VERDICT_NAME:
        sbox_buf_add_str(out, " is not in the list of hosts (-o)\n");
        break;
    case SBOX_VERDICT_PORT:
        sbox_buf_add_str(out, ": the host is in the list, this port is not (-o HOST:PORT)\n");
        break;
    case SBOX_VERDICT_ADDRESS:
        sbox_buf_add_str(out, " leads to an address that is not public (--allow-private)\n");
        break;
    case SBOX_VERDICT_LIMIT:
        sbox_buf_add_str(out, ": too many connections\n");
        break;
    case SBOX_VERDICT_ALLOWED:
    case SBOX_VERDICT_SNI:
    case SBOX_VERDICT_REQUEST:
    case SBOX_VERDICT_FAILED:
    default:
        sbox_buf_addf(out, ": %s\n",
                      error == ENOENT ? "no such name"
                      : why           ? why
                                      : strerror(error));
        break;
    }
}

void sbox_http_refuse(struct sbox_front *f, enum sbox_wire_verdict verdict, int error,
                      const char *why)
{
    struct sbox_buf body = {0};
    struct sbox_buf answer = {0};
    const struct refusal r = refusal_of(verdict, error);
    explain(&body, f, verdict, error, why);
    sbox_buf_addf(&answer,
                  "HTTP/1.1 %d %s\r\nX-Sbox-Reason: %s\r\nContent-Type: text/plain\r\n"
                  "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                  r.status, r.phrase, r.reason, body.size);
    sbox_buf_add(&answer, body.data, body.size);
    if (sbox_buf_failed(&body) || sbox_buf_failed(&answer))
        sbox_front_close(f, verdict, error);
    else
        sbox_front_finish(f, answer.data, answer.size, verdict, error);
    sbox_buf_release(&body);
    sbox_buf_release(&answer);
}

/* -- requests ---------------------------------------------------------------------------------- */

static void on_tunnel(void *context, int fd, enum sbox_wire_verdict verdict, int error)
{
    static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";
    struct sbox_front *f = context;
    f->reach = NULL;
    if (fd < 0)
        sbox_http_refuse(f, verdict, error, NULL);
    else if (sbox_front_say(f, established, sizeof established - 1))
        sbox_front_tunnel(f, fd);
    else
        sbox_close(fd);
}

static void on_server(void *context, int fd, enum sbox_wire_verdict verdict, int error)
{
    struct sbox_front *f = context;
    f->reach = NULL;
    if (fd < 0)
        sbox_http_refuse(f, verdict, error, NULL);
    else
        sbox_exchange_start(f->exchange, fd);
}

/* What comes after an upgrade is no HTTP, and must not be read as a next request by an upstream
 * proxy that takes the 101 for an interim answer: it gets a tunnel to carry. */
enum sbox_reach_kind sbox_http_reach(const struct sbox_head *head)
{
    return head->connect || head->upgrade ? SBOX_REACH_TUNNEL : SBOX_REACH_REQUEST;
}

static void obey(struct sbox_front *f, const struct sbox_head *head)
{
    bool connect = head->connect;
    f->host = head->host;
    if (head->connect)
        (void)sbox_names_restore(f->server->names, &f->host);
    f->port = head->port;
    if (!connect) {
        f->exchange = sbox_exchange_new(f, head);
        if (!f->exchange) {
            sbox_http_refuse(f, SBOX_VERDICT_LIMIT, ENOMEM, NULL);
            return;
        }
    }
    sbox_front_drop(f, head->size);
    enum sbox_wire_verdict v =
        sbox_reach_start(f->server, sbox_http_reach(head), &f->host, f->port, &f->flow,
                         connect ? on_tunnel : on_server, f, &f->reach);
    if (v != SBOX_VERDICT_ALLOWED)
        sbox_http_refuse(f, v, EACCES, NULL);
}

void sbox_http_read(struct sbox_front *f)
{
    /* One thread, and each call is done with it when it returns: 7 KB that the stack is spared. */
    static struct sbox_head head;
    const char *why = "";
    int r = f->size == 0 ? 0 : sbox_head_parse((const char *)f->bytes, f->size, &head, &why);
    if (r == 0)
        return;
    sbox_front_hold(f);
    sbox_flow_begin(&f->flow, f->server, r > 0 && !head.connect ? SBOX_WAY_HTTP : SBOX_WAY_CONNECT);
    if (r < 0)
        sbox_http_refuse(f, SBOX_VERDICT_REQUEST, -r,
                         r == -E2BIG ? "a head over 64 KB, or too many or too long lines" : why);
    else
        obey(f, &head);
}
