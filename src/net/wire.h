/* The three processes of a networked run talk over two SOCK_SEQPACKET pairs, one message a packet,
 * all of them of one size.
 *
 * Control (sbox <-> sbox-proxy, descriptor 3 of sbox-proxy):
 *     sbox:  RULE* HOST_PORT* PUBLISH* UPSTREAM* OPTIONS COMPILE
 *     proxy: REFUSED (then it ends), or PORT* LITERAL* TEXT* COMPILED
 *     sbox:  (--dry-run: closes) or GATEWAY, with the proxy's end of the second pair attached
 *     proxy: READY, or REFUSED (nobody waits for it); then CONNECTION and NOTICE as they happen
 *     sbox:  closes: the proxy cuts all connections, sends the last CONNECTION messages, ends
 *
 * Gateway (init <-> sbox-proxy): what must be made inside the sandbox's namespaces.
 *     init:  LISTENER, one descriptor each; LISTENERS_END
 *     proxy: LISTENING (init starts the command now)
 *     proxy: SOCKETS_WANTED    init: SOCKET, one descriptor each (for publishing)
 *
 * The proxy parses hostile bytes: sbox and init take its messages for untrusted. They check sizes,
 * terminate texts, escape them before a terminal. A closed control socket ends the proxy; a closed
 * gateway socket ends nothing. */
#ifndef SBOX_NET_WIRE_H
#define SBOX_NET_WIRE_H

#include "net/address.h"

#include <stdint.h>

enum { SBOX_WIRE_CONTROL_FD = 3, SBOX_WIRE_TEXT = 512, SBOX_WIRE_HOST = 256 };

enum sbox_wire_type {
    SBOX_WIRE_RULE = 1,  /* text: one element of -o, HOST[:PORT]; shortcuts are resolved before */
    SBOX_WIRE_HOST_PORT, /* port: of the host's loopback */
    SBOX_WIRE_PUBLISH,   /* address, port: outside; port2: inside */
    SBOX_WIRE_UPSTREAM,  /* text: URL with its credentials; port: 80 for HTTP, 443 for HTTPS */
    SBOX_WIRE_OPTIONS,   /* flags: SBOX_WIRE_ALLOW_PRIVATE ... */
    SBOX_WIRE_COMPILE,
    SBOX_WIRE_REFUSED, /* text: the sentence for the user; code: errno */
    SBOX_WIRE_PORT,    /* port: one that some rule allows, for a transparent listener */
    SBOX_WIRE_LITERAL, /* address: one that some rule lists, for a route */
    SBOX_WIRE_TEXT_OF, /* text: a rule in canonical form, for --dry-run */
    SBOX_WIRE_COMPILED,
    SBOX_WIRE_GATEWAY,
    SBOX_WIRE_READY,
    SBOX_WIRE_CONNECTION, /* .connection: an attempt has ended, or was refused */
    SBOX_WIRE_NOTICE,     /* text: a sentence for the user, at most once each */
};

enum { SBOX_WIRE_ALLOW_PRIVATE = 1 };

enum sbox_wire_verdict {
    SBOX_VERDICT_ALLOWED,
    SBOX_VERDICT_NAME,    /* the host is not listed */
    SBOX_VERDICT_PORT,    /* the host is, this port is not */
    SBOX_VERDICT_ADDRESS, /* the name leads to a private or special address */
    SBOX_VERDICT_SNI,     /* TLS asks for another name than was dialled */
    SBOX_VERDICT_REQUEST, /* not understood: 400 */
    SBOX_VERDICT_FAILED,  /* allowed; resolving or dialling failed: error */
    SBOX_VERDICT_LIMIT,   /* too many connections */
};

enum sbox_wire_way {
    SBOX_WAY_CONNECT,
    SBOX_WAY_HTTP, /* absolute form; one message a request */
    SBOX_WAY_SOCKS,
    SBOX_WAY_TRANSPARENT,
    SBOX_WAY_DNS, /* a name that is not listed was looked up */
    SBOX_WAY_PUBLISHED,
    SBOX_WAY_HOST_PORT,
};

struct sbox_wire_connection {
    uint8_t verdict;
    uint8_t way;
    uint16_t port;
    int32_t error;
    struct sbox_address address; /* dialled; family 0 when none was */
    uint64_t started_us;         /* CLOCK_REALTIME */
    uint64_t duration_us;
    uint64_t bytes_out; /* from inside to the host */
    uint64_t bytes_in;
    uint32_t count;            /* attempts that it stands for; more than 1 only at the end of a run,
                                  for what was refused over and over */
    char host[SBOX_WIRE_HOST]; /* canonical name or address; "" when not understood */
};

struct sbox_wire_message {
    uint32_t type;
    int32_t code;
    uint32_t flags;
    uint16_t port;
    uint16_t port2;
    struct sbox_address address;
    union {
        char text[SBOX_WIRE_TEXT];
        struct sbox_wire_connection connection;
    };
};

enum sbox_gateway_type {
    SBOX_GATEWAY_LISTENER = 1, /* kind, port; one descriptor */
    SBOX_GATEWAY_LISTENERS_END,
    SBOX_GATEWAY_LISTENING,
    SBOX_GATEWAY_SOCKETS_WANTED, /* family (4 or 6), count (1..16) */
    SBOX_GATEWAY_SOCKET,         /* family; one descriptor: a TCP socket of the sandbox */
};

enum sbox_listener_kind {
    SBOX_LISTENER_PROXY,   /* 198.18.0.1:3128 in the gateway: HTTP and SOCKS5 */
    SBOX_LISTENER_DNS_UDP, /* 198.18.0.1:53 */
    SBOX_LISTENER_DNS_TCP,
    SBOX_LISTENER_TRANSPARENT, /* 0.0.0.0:port or [::]:port in the gateway */
    SBOX_LISTENER_HOST_PORT,   /* 127.0.0.1:port or [::1]:port in the sandbox */
};

struct sbox_gateway_message {
    uint32_t type;
    uint8_t kind;
    uint8_t family;
    uint16_t port;
    uint32_t count;
};

/* Sends or receives one packet with at most one descriptor (-1: none). No heap: safe after clone.
 * 1, 0 when the other end is closed, or -errno (-EAGAIN on a non-blocking socket, -EPROTO for a
 * packet of another size or with more descriptors; those are closed). Received descriptors are
 * close-on-exec. */
int sbox_wire_send(int socket, const void *message, size_t size, int fd);
int sbox_wire_receive(int socket, void *message, size_t size, int *ret_fd);

#endif
