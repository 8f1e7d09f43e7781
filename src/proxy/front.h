/* A client of the proxy's port: HTTP or SOCKS 5, told apart by the first byte. Its life:
 *
 *     waiting for a head ──► reaching ──► a tunnel (relay.c owns the socket, this is gone)
 *            ▲                  │
 *            │                  └──────► an exchange: one HTTP request and its response
 *            └──────────────────────────────┘                     (http_exchange.c)
 */
#ifndef SBOX_PROXY_FRONT_H
#define SBOX_PROXY_FRONT_H

#include "proxy/head.h"
#include "proxy/reach.h"

struct sbox_exchange;

struct sbox_front {
    struct sbox_server *server;
    int fd;
    struct event *readable;
    uint8_t *bytes; /* what the client has sent and nobody has used yet */
    size_t size, room;
    bool finished; /* what still comes is dropped */
    struct sbox_waiting waiting;
    /* The client's bytes have grown while it is waited for. */
    void (*read)(struct sbox_front *f);
    struct sbox_flow flow;
    struct sbox_host host;
    uint16_t port;
    struct sbox_reach *reach;
    struct sbox_exchange *exchange;
};

/* The first bytes have been used. */
void sbox_front_drop(struct sbox_front *f, size_t size);
/* Room for `size` more bytes at *ret_at; who writes them adds to f->size. False: out of memory. */
bool sbox_front_keep(struct sbox_front *f, size_t size, uint8_t **ret_at);

/* Waits for the client's next words. 0, or the front is gone. */
int sbox_front_wait(struct sbox_front *f, void (*read)(struct sbox_front *f));
/* The client has said what it wants: nothing more is read from it for now. */
void sbox_front_hold(struct sbox_front *f);

/* Sends a few bytes at once (they fit into an empty socket). False: the front is gone. */
bool sbox_front_say(struct sbox_front *f, const void *data, size_t size);
/* The client's socket becomes one end of a tunnel; the front is gone. */
void sbox_front_tunnel(struct sbox_front *f, int server);
/* Ends the flow if one is open, and the front. */
void sbox_front_close(struct sbox_front *f, enum sbox_wire_verdict verdict, int error);
/* The same with RST: what the client got is not complete. */
void sbox_front_reset(struct sbox_front *f, enum sbox_wire_verdict verdict, int error);
/* The last words, then the end; what the client still sends is dropped meanwhile, since closing
 * with unread bytes sends RST, which can overtake the words. */
void sbox_front_finish(struct sbox_front *f, const void *data, size_t size,
                       enum sbox_wire_verdict verdict, int error);

/* -- the protocols ----------------------------------------------------------------------------- */

void sbox_http_read(struct sbox_front *f);
void sbox_socks_read(struct sbox_front *f);
/* An answer of the proxy's own with the reason for the verdict. The front is gone. */
void sbox_http_refuse(struct sbox_front *f, enum sbox_wire_verdict verdict, int error,
                      const char *why);

/* -- http_exchange.c --------------------------------------------------------------------------- */

/* How a request is to reach its server (http.c). */
enum sbox_reach_kind sbox_http_reach(const struct sbox_head *head);
/* One request in absolute form whose head was parsed: what is sent to the server is made up now,
 * as `head` points into the client's buffer. NULL: out of memory. */
struct sbox_exchange *sbox_exchange_new(struct sbox_front *f, const struct sbox_head *head);
/* The server is connected: sends, and passes the response on. */
void sbox_exchange_start(struct sbox_exchange *x, int fd);
void sbox_exchange_free(struct sbox_exchange *x); /* accepts NULL */

#endif
