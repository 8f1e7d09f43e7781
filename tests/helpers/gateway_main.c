/* sbox-gateway: `sbox run` with a network whose proxy dials nobody. What connects is told what it
 * connected to; the resolver has one answer. For the tests of the sandbox's side of the network.
 *
 *     sbox-gateway [--port=N] [--literal=ADDRESS] [--host-port=N] [--publish=OUTSIDE:INSIDE]
 * [--no-veth]
 *                  [--dead | --mute | --gone | --rude] [RUN OPTIONS] COMMAND...
 *
 *     --dead  the proxy ends before it has listened      --mute  it never says that it listens
 *     --gone  it ends when it has said so                --rude  it asks for what it may not have
 */
#include "cli/cli.h"
#include "cli/run.h"

#include "base/cleanup.h"
#include "net/layout.h"
#include "net/wire.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>

enum { MOST = 256, PUBLISH_PORTS = 2 };

struct proxy {
    int socket;
    struct pollfd polled[MOST]; /* the socket first */
    uint8_t kinds[MOST];
    size_t count;
    int publish[PUBLISH_PORTS]; /* outside, inside */
    const char *manner;         /* "dead" ...; NULL: well-behaved */
};

enum { PUBLISHER = 200 }; /* a kind of its own */

static void watch(struct proxy *p, int fd, uint8_t kind)
{
    if (p->count == MOST)
        _exit(3);
    p->polled[p->count] = (struct pollfd){.fd = fd, .events = POLLIN};
    p->kinds[p->count++] = kind;
}

static void take_listeners(struct proxy *p)
{
    struct sbox_gateway_message m;
    int fd = -1;
    while (sbox_wire_receive(p->socket, &m, sizeof m, &fd) == 1) {
        if (m.type == SBOX_GATEWAY_LISTENERS_END)
            return;
        if (m.type == SBOX_GATEWAY_LISTENER)
            watch(p, fd, m.kind);
    }
    _exit(2);
}

static const char *kind_text(uint8_t kind)
{
    static const char *const texts[] = {
        [SBOX_LISTENER_PROXY] = "proxy",         [SBOX_LISTENER_DNS_UDP] = "dns-udp",
        [SBOX_LISTENER_DNS_TCP] = "dns-tcp",     [SBOX_LISTENER_TRANSPARENT] = "transparent",
        [SBOX_LISTENER_HOST_PORT] = "host-port",
    };
    return kind < sizeof texts / sizeof *texts ? texts[kind] : "?";
}

static void tell(int listener, uint8_t kind)
{
    struct sockaddr_storage to = {0};
    socklen_t size = sizeof to;
    char at[INET6_ADDRSTRLEN] = "";
    char line[128];
    _cleanup_close_ int fd = accept(listener, NULL, NULL);
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&to, &size) < 0)
        return;
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&to;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&to;
    bool six = to.ss_family == AF_INET6;
    (void)inet_ntop(to.ss_family, six ? (const void *)&v6->sin6_addr : (const void *)&v4->sin_addr,
                    at, sizeof at);
    int n = snprintf(line, sizeof line, "%s %s %u\n", kind_text(kind), at,
                     ntohs(six ? v6->sin6_port : v4->sin_port));
    (void)send(fd, line, (size_t)n, MSG_NOSIGNAL);
}

/* The question back, with an address for A and AAAA. */
static void answer(int fd)
{
    uint8_t q[512];
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    ssize_t n = recvfrom(fd, q, sizeof q - 64, 0, (struct sockaddr *)&from, &size);
    size_t end = 12;
    if (n < 17)
        return;
    while (end < (size_t)n && q[end])
        end += q[end] + 1U;
    end += 5;
    if (end > (size_t)n)
        return;
    bool six = q[end - 3] == 28;
    uint8_t record[28] = {0xc0, 12, 0, q[end - 3], 0, 1, 0, 0, 0, 1, 0, six ? 16 : 4};
    static const uint8_t a[] = {198, 18, 1, 0};
    static const uint8_t aaaa[] = {0x20, 1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0};
    memcpy(record + 12, six ? aaaa : a, six ? sizeof aaaa : sizeof a);
    size_t record_size = 12U + (six ? sizeof aaaa : sizeof a);
    memcpy(q + end, record, record_size);
    q[2] = 0x81, q[3] = 0x80, q[7] = 1, q[9] = 0, q[11] = 0;
    (void)sendto(fd, q, end + record_size, 0, (struct sockaddr *)&from, size);
}

/* One socket in advance, asked for before LISTENING; the next when it is used. */
static bool ask_socket(const struct proxy *p)
{
    const struct sbox_gateway_message want = {
        .type = SBOX_GATEWAY_SOCKETS_WANTED, .family = 4, .count = 1};
    return sbox_wire_send(p->socket, &want, sizeof want, -1) == 1;
}

/* One connection from outside: what the server inside says first is passed on. */
static void publish(struct proxy *p, int listener)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p->publish[1])};
    struct sbox_gateway_message m;
    char text[256];
    _cleanup_close_ int outside = accept(listener, NULL, NULL);
    _cleanup_close_ int inside = -1;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (sbox_wire_receive(p->socket, &m, sizeof m, &inside) != 1 || !ask_socket(p))
        return;
    (void)connect(inside, (struct sockaddr *)&to, sizeof to);
    struct pollfd ready = {.fd = inside, .events = POLLIN};
    (void)poll(&ready, 1, 10000);
    ssize_t n = recv(inside, text, sizeof text, 0);
    if (n > 0)
        (void)send(outside, text, (size_t)n, MSG_NOSIGNAL);
}

static void open_publisher(struct proxy *p)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p->publish[0])};
    const int on = 1;
    if (!p->publish[0])
        return;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 8) < 0)
        _exit(4);
    watch(p, fd, PUBLISHER);
}

/* Asks for more sockets than it may, and says how many came. */
static void misbehave(const struct proxy *p)
{
    const struct sbox_gateway_message want = {
        .type = SBOX_GATEWAY_SOCKETS_WANTED, .family = 4, .count = 17};
    struct sbox_gateway_message m;
    struct pollfd ready = {.fd = p->socket, .events = POLLIN};
    int came = 0;
    (void)sbox_wire_send(p->socket, &want, sizeof want, -1);
    while (poll(&ready, 1, 300) > 0 && sbox_wire_receive(p->socket, &m, sizeof m, NULL) == 1)
        came++;
    (void)fprintf(stderr, "%d sockets came\n", came);
    (void)send(p->socket, "x", 1, MSG_NOSIGNAL);
}

static bool is(const struct proxy *p, const char *manner)
{
    return p->manner && strcmp(p->manner, manner) == 0;
}

static void serve(struct proxy *p)
{
    for (;;) {
        (void)poll(p->polled, p->count, -1);
        if (p->polled[0].revents & (POLLHUP | POLLERR))
            _exit(0);
        for (size_t i = 1; i < p->count; i++) {
            if (!p->polled[i].revents)
                continue;
            if (p->kinds[i] == PUBLISHER)
                publish(p, p->polled[i].fd);
            else if (p->kinds[i] == SBOX_LISTENER_DNS_UDP)
                answer(p->polled[i].fd);
            else
                tell(p->polled[i].fd, p->kinds[i]);
        }
    }
}

static void be_proxy(struct proxy *p)
{
    const struct sbox_gateway_message listening = {.type = SBOX_GATEWAY_LISTENING};
    watch(p, p->socket, 0);
    p->polled[0].events = 0;
    take_listeners(p);
    if (is(p, "dead"))
        _exit(0);
    if (is(p, "mute")) { /* until init is gone */
        (void)poll(p->polled, 1, -1);
        _exit(0);
    }
    open_publisher(p);
    if (p->publish[0])
        (void)ask_socket(p);
    (void)sbox_wire_send(p->socket, &listening, sizeof listening, -1);
    if (is(p, "gone"))
        _exit(0);
    if (is(p, "rude"))
        misbehave(p);
    serve(p);
}

struct network {
    struct sbox_policy_network policy;
    uint16_t ports[MOST], host_ports[MOST], published[1];
    struct sbox_address literals[MOST];
    struct proxy proxy;
};

static uint16_t number(const char *text)
{
    unsigned long long n = 0;
    return sbox_parse_u64(text, UINT16_MAX, &n) < 0 ? 0 : (uint16_t)n;
}

static struct sbox_address address_of(const char *text)
{
    struct sbox_address a = {.family = strchr(text, ':') ? 6 : 4};
    (void)inet_pton(a.family == 6 ? AF_INET6 : AF_INET, text, a.bytes);
    return a;
}

static bool take_option(struct network *n, const char *o)
{
    struct sbox_policy_network *p = &n->policy;
    if (sbox_str_starts(o, "--port="))
        n->ports[p->port_count++] = number(strchr(o, '=') + 1);
    else if (sbox_str_starts(o, "--host-port="))
        n->host_ports[p->host_port_count++] = number(strchr(o, '=') + 1);
    else if (sbox_str_starts(o, "--literal="))
        n->literals[p->literal_count++] = address_of(strchr(o, '=') + 1);
    else if (sbox_str_starts(o, "--publish=") && strrchr(o, ':')) {
        char outside[8] = "";
        (void)snprintf(outside, sizeof outside, "%.*s", (int)strcspn(o + 10, ":"), o + 10);
        n->proxy.publish[0] = number(outside);
        n->proxy.publish[1] = n->published[0] = number(strrchr(o, ':') + 1);
        p->published_count = 1;
    } else if (strcmp(o, "--no-veth") == 0)
        p->without_veth = true;
    else if (strcmp(o, "--dead") == 0 || strcmp(o, "--mute") == 0 || strcmp(o, "--gone") == 0 ||
             strcmp(o, "--rude") == 0)
        n->proxy.manner = o + 2;
    else
        return false;
    return true;
}

static void set_network(struct sbox_policy *policy, void *context)
{
    struct network *n = context;
    n->policy.ports = n->ports;
    n->policy.literals = n->literals;
    n->policy.host_ports = n->host_ports;
    n->policy.published = n->published;
    policy->network = &n->policy;
}

static int start_proxy(struct network *n)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(pair[0]);
        n->proxy.socket = pair[1];
        be_proxy(&n->proxy);
        _exit(0);
    }
    (void)close(pair[1]);
    n->policy.socket = pair[0];
    return pid < 0 ? -errno : 0;
}

int main(int argc, char **argv)
{
    static struct network network;
    int taken = 1;
    while (taken < argc && take_option(&network, argv[taken]))
        taken++;
    struct sbox_options options = {0};
    struct sbox_usage usage = {0};
    argv[taken - 1] = argv[0];
    int r = sbox_options_parse(argc - taken + 1, argv + taken - 1, &options, &usage);
    if (r < 0 || options.verb != SBOX_VERB_RUN || start_proxy(&network) < 0) {
        (void)fprintf(stderr, "sbox-gateway: %s\n", usage.error.message);
        return SBOX_EXIT_FAILED;
    }
    struct sbox_run_changes changes = {.policy = set_network, .context = &network};
    int status = sbox_run_with(&options, &changes);
    sbox_options_release(&options);
    return status;
}
