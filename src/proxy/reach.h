/* The one decision, whatever the way in: is the host listed, where does its name lead, may it lead
 * there, dial exactly what was vetted. */
#ifndef SBOX_PROXY_REACH_H
#define SBOX_PROXY_REACH_H

#include "proxy/flow.h"

struct sbox_reach;

/* Called once, later: a connected, non-blocking socket that is the callee's now, and ALLOWED; or -1
 * with the verdict and errno. The reach is gone then. */
typedef void sbox_reach_done(void *context, int fd, enum sbox_wire_verdict verdict, int error);

enum sbox_reach_kind {
    SBOX_REACH_TUNNEL,    /* bytes go through as they are */
    SBOX_REACH_REQUEST,   /* a plain HTTP request: an upstream proxy gets it in absolute form */
    SBOX_REACH_HOST_PORT, /* the host's loopback, no decision: the port was named by the user */
};

/* ALLOWED: under way, *ret is set and `done` will come. Any other verdict: refused at once, nothing
 * was resolved. `flow` is named here and gets the dialled address; it must outlive the reach. */
enum sbox_wire_verdict sbox_reach_start(struct sbox_server *s, enum sbox_reach_kind kind,
                                        const struct sbox_host *host, uint16_t port,
                                        struct sbox_flow *flow, sbox_reach_done *done,
                                        void *context, struct sbox_reach **ret);
void sbox_reach_cancel(struct sbox_reach *r); /* `done` does not come any more; accepts NULL */

/* -- resolve.c: c-ares on the event loop ------------------------------------------------------- */

enum { SBOX_RESOLVE_MAX = 16 };

struct sbox_resolved {
    struct sbox_address addresses[SBOX_RESOLVE_MAX]; /* families interleaved */
    size_t count;
};

/* Called once, perhaps before sbox_resolve returns; `error` 0 or errno (ENOENT: no such name).
 * Never called after sbox_resolve_cancel. */
typedef void sbox_resolve_done(void *context, const struct sbox_resolved *resolved, int error);
struct sbox_query;

/* Reads resolv.conf and its like: before confinement. */
struct sbox_resolver *sbox_resolver_new(struct event_base *base);
void sbox_resolve(struct sbox_resolver *r, const char *name, sbox_resolve_done *done, void *context,
                  struct sbox_query **ret);
void sbox_resolve_cancel(struct sbox_query *q);

/* -- dial.c: TCP to the first address that answers --------------------------------------------- */

struct sbox_dial;
typedef void sbox_dial_done(void *context, int fd, const struct sbox_address *to, int error);
/* Tries them in turn, the next one after 250 ms or a failure. NULL: out of memory. `done` comes
 * later. */
struct sbox_dial *sbox_dial_start(struct event_base *base, const struct sbox_resolved *to,
                                  uint16_t port, sbox_dial_done *done, void *context);
void sbox_dial_cancel(struct sbox_dial *d);

/* -- upstream.c: the host's own proxy ---------------------------------------------------------- */

struct sbox_upstream {
    struct sbox_host host;
    uint16_t port;
    char authorization[SBOX_WIRE_TEXT]; /* "Basic ...", or "" */
};

/* http://[user:password@]host[:port][/]. -EINVAL with a sentence that never shows the password. */
int sbox_upstream_parse(const char *url, struct sbox_upstream *ret, struct sbox_error *err);

/* Which of them a connection goes through, NULL: none. Not for addresses that mean another host
 * when the upstream dials them (its loopback, its private network): these are dialled from here. */
const struct sbox_upstream *sbox_upstream_for(const struct sbox_server *s,
                                              enum sbox_reach_kind kind,
                                              const struct sbox_host *host, uint16_t port);

/* Asks the upstream on the connected socket for a tunnel. Owns fd; `done` comes later. NULL: out of
 * memory, fd is closed. */
struct sbox_ask;
typedef void sbox_ask_done(void *context, int fd, int error);
struct sbox_ask *sbox_upstream_ask(struct event_base *base, const struct sbox_upstream *upstream,
                                   int fd, const struct sbox_host *host, uint16_t port,
                                   sbox_ask_done *done, void *context);
void sbox_upstream_ask_cancel(struct sbox_ask *a);

#endif
