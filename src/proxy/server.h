/* sbox-proxy from inside: one thread, one libevent loop, no global state but this.
 *
 * Each way in (http.c, socks_server.c, transparent.c, publish.c) reads what a client wants and asks
 * reach.c for a connection: decide, resolve, vet, dial. What comes back is relayed (relay.c). Every
 * attempt is a flow (flow.h), reported when it ends. */
#ifndef SBOX_PROXY_SERVER_H
#define SBOX_PROXY_SERVER_H

#include "base/error.h"
#include "net/layout.h"
#include "net/wire.h"
#include "proxy/allowlist.h"

#include <event2/event.h>
#include <sys/queue.h>
#include <sys/time.h>

enum {
    SBOX_PROXY_CLIENTS_MAX = 4096, /* connections at one time, two descriptors each */
    SBOX_PROXY_WAITING_MAX = 1024, /* of them those that have not said what they want */
    SBOX_PROXY_SPARE_DESCRIPTORS = 64 + 2 * SBOX_NET_PORTS_MAX, /* for everything else */
    SBOX_PROXY_BUFFER = 256 << 10,                              /* one read; shared by all relays */
    SBOX_PROXY_KEPT_MUCH = 32 << 20,    /* when so much is kept for slow readers ... */
    SBOX_PROXY_BUFFER_SMALL = 16 << 10, /* ... one read is so much */
    SBOX_PROXY_HEAD_SECONDS = 30,       /* for a client to say what it wants */
    SBOX_PROXY_DIAL_SECONDS = 10,       /* for one address */
    SBOX_PROXY_LISTENERS_MAX =
        2 * SBOX_NET_PORTS_MAX + 2 * SBOX_NET_HOST_PORTS_MAX + SBOX_NET_PUBLISH_MAX + 8,
};

struct sbox_resolver;
struct sbox_names;
struct sbox_upstream;
struct sbox_publisher;
struct sbox_reports;
struct sbox_waiting;
struct sbox_flow;

/* A listener made by init, or on the host for publishing. */
struct sbox_listener {
    struct sbox_server *server;
    uint16_t port;
    int fd;
    struct event *event;
    struct event *again; /* after a pause */
    void (*take)(struct sbox_listener *listener, int fd, const struct sockaddr_storage *from);
    void *context;
};

struct sbox_server {
    struct event_base *base;
    int control;
    int gateway; /* -1 until GATEWAY, and after init closed it */
    struct event *control_event;
    struct event *gateway_event;
    struct sbox_allowlist *list;
    bool allow_private;
    uint16_t host_ports[SBOX_NET_HOST_PORTS_MAX];
    size_t host_port_count;
    struct sbox_resolver *resolver;
    struct sbox_names *names;
    struct sbox_upstream *upstream_http; /* NULL: none */
    struct sbox_upstream *upstream_https;
    struct sbox_publisher *publisher;
    struct sbox_reports *reports;
    struct sbox_listener listeners[SBOX_PROXY_LISTENERS_MAX];
    size_t listener_count;
    int spare; /* given up to accept and close a connection when descriptors have run out */
    size_t clients, clients_max;
    size_t waiting_count, waiting_max;
    TAILQ_HEAD(, sbox_waiting) waiting; /* oldest first */
    TAILQ_HEAD(, sbox_flow) flows;      /* open ones */
    uint8_t *buffer;
    bool listening; /* init has handed over every listener */
    bool v6;        /* some of them are for IPv6: the sandbox has it */
    size_t kept;    /* bytes that wait for slow readers, in all relays */
};

/* -- listen.c ---------------------------------------------------------------------------------- */

/* As many descriptors as may be had, and the connections that they suffice for. */
void sbox_limits_set(struct sbox_server *s);
/* Adds a listener that is bound and listening; owns fd. `take` owns what was accepted, which
 * counts in `clients` until its owner closes it. 0 or -errno. */
int sbox_listener_add(struct sbox_server *s, uint16_t port, int fd,
                      void (*take)(struct sbox_listener *, int, const struct sockaddr_storage *),
                      void *context);

/* A client that has not said yet what it wants. There may be SBOX_PROXY_WAITING_MAX of them, each
 * for SBOX_PROXY_HEAD_SECONDS: beyond that the oldest is given up, so that who speaks is served. */
struct sbox_waiting {
    TAILQ_ENTRY(sbox_waiting) entry;
    struct sbox_server *server;
    struct event *timer;
    void (*give_up)(void *context);
    void *context;
};
int sbox_waiting_begin(struct sbox_waiting *w, struct sbox_server *s, void (*give_up)(void *),
                       void *context);
void sbox_waiting_end(struct sbox_waiting *w); /* also when it never began */

/* -- the ways in: each takes an accepted, non-blocking socket and owns it ---------------------- */

void sbox_front_take(struct sbox_listener *l, int fd, const struct sockaddr_storage *from);
void sbox_transparent_take(struct sbox_listener *l, int fd, const struct sockaddr_storage *from);
void sbox_host_port_take(struct sbox_listener *l, int fd, const struct sockaddr_storage *from);
/* dns_server.c: UDP socket or TCP listener; owns fd. */
int sbox_dns_serve_udp(struct sbox_server *s, int fd);
void sbox_dns_take(struct sbox_listener *l, int fd, const struct sockaddr_storage *from);

/* -- report.c ---------------------------------------------------------------------------------- */

struct sbox_reports *sbox_reports_new(struct sbox_server *s);
/* An attempt has ended (flow.h): tells sbox. Never blocks. */
void sbox_report(struct sbox_server *s, const struct sbox_wire_connection *connection);
/* The run is over: tells what is left, open flows among it. */
void sbox_reports_end(struct sbox_server *s);

/* -- control.c --------------------------------------------------------------------------------- */

/* Reads the request of sbox and answers it (net/wire.h), blocking, until GATEWAY; opens what is
 * published. 1: serve; 0: sbox wanted to know no more; -errno. */
int sbox_control_compile(struct sbox_server *s);
/* From here on in the event loop: the end of the control socket ends the loop. */
int sbox_control_serve(struct sbox_server *s);

/* -- proxy_confine.c --------------------------------------------------------------------------- */

/* Before the first byte of a network is read: no file but /etc/hosts, no new privileges, no
 * process, no new listener, no signal. For good. 0 or -errno. */
int sbox_proxy_confine(struct sbox_error *err);

/* -- gateway_link.c ---------------------------------------------------------------------------- */

/* Takes the listeners of init from the loop, and its sockets for publishing. 0 or -errno. */
int sbox_gateway_link(struct sbox_server *s);

/* -- publish.c --------------------------------------------------------------------------------- */

/* Opens a port on the host: before confinement. */
int sbox_publish_open(struct sbox_server *s, const struct sbox_address *address, uint16_t outside,
                      uint16_t inside, struct sbox_error *err);
/* A socket of the sandbox has come from init; owned. */
void sbox_publish_supply(struct sbox_server *s, uint8_t family, int fd);
/* init listens to requests from now on. */
void sbox_publish_start(struct sbox_server *s);

#endif
