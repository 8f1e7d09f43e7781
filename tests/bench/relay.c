/* The least that a CONNECT proxy can be: relay HOST PORT. Listens on a free port of the loopback,
 * prints it, and carries every connection to HOST:PORT, whatever its CONNECT names.
 *
 * One thread, epoll, one buffer for all: what the receiver does not take at once is kept, and the
 * sender is not read until it is gone. No list, no name, no limit, no log: what sbox-proxy adds is
 * measured against this. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 64 << 10, EVENTS = 64 };

struct end {
    int fd;
    uint32_t waits; /* the epoll events asked for */
    struct end *peer;
    bool closed; /* nothing more comes from here */
    bool dead;   /* freed after the current batch of events */
    char *kept;  /* for this end, not taken yet */
    size_t kept_size, kept_at;
    size_t head_matched; /* bytes of \r\n\r\n seen; 4: the tunnel stands */
};

static const char end_of_head[] = "\r\n\r\n";
static const char established[] = "HTTP/1.1 200 OK\r\n\r\n";
static struct sockaddr_in target;
static char buffer[BUFFER];
static struct end *graves[2 * EVENTS];
static size_t grave_count;
static int epoll;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void wait_for(struct end *e, uint32_t events)
{
    if (e->waits == events)
        return;
    struct epoll_event event = {.events = events, .data.ptr = e};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, e->fd, &event) < 0)
        fail("epoll_ctl");
    e->waits = events;
}

static struct end *add_end(int fd, uint32_t events)
{
    struct end *e = calloc(1, sizeof *e);
    struct epoll_event event = {.events = events, .data.ptr = e};
    int on = 1;
    if (!e || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        fail("end");
    e->fd = fd;
    e->waits = events;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return e;
}

static void bury(struct end *e)
{
    if (!e || e->dead)
        return;
    e->dead = true;
    close(e->fd);
    graves[grave_count++] = e;
}

static void end_pair(struct end *e)
{
    bury(e->peer);
    bury(e);
}

static void dig(void)
{
    while (grave_count > 0) {
        struct end *e = graves[--grave_count];
        free(e->kept);
        free(e);
    }
}

static void dial(struct end *client)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&target, sizeof target) < 0)
        fail("connect");
    client->peer = add_end(fd, EPOLLIN);
    client->peer->peer = client;
    client->peer->head_matched = 4;
    if (write(client->fd, established, sizeof established - 1) < 0)
        end_pair(client);
}

/* The client sends nothing behind its head before the answer. */
static void read_head(struct end *client, size_t size)
{
    for (size_t i = 0; i < size && client->head_matched < 4; i++)
        client->head_matched = buffer[i] == end_of_head[client->head_matched]
                                   ? client->head_matched + 1
                                   : buffer[i] == '\r';
    if (client->head_matched == 4)
        dial(client);
}

static void keep(struct end *to, const char *data, size_t size)
{
    to->kept = malloc(size);
    if (!to->kept)
        fail("malloc");
    memcpy(to->kept, data, size);
    to->kept_size = size;
    to->kept_at = 0;
    wait_for(to, EPOLLOUT | (to->waits & EPOLLIN));
    wait_for(to->peer, to->peer->waits & ~(uint32_t)EPOLLIN);
}

static void readable(struct end *from)
{
    ssize_t n = recv(from->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        if (!from->peer || n < 0 || from->peer->closed) {
            end_pair(from);
            return;
        }
        from->closed = true;
        (void)shutdown(from->peer->fd, SHUT_WR);
        wait_for(from, from->waits & ~(uint32_t)EPOLLIN);
    } else if (from->head_matched < 4) {
        read_head(from, (size_t)n);
    } else {
        ssize_t sent = send(from->peer->fd, buffer, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN)
            end_pair(from);
        else if (sent < n)
            keep(from->peer, buffer + (sent > 0 ? sent : 0), (size_t)(n - (sent > 0 ? sent : 0)));
    }
}

static void writable(struct end *to)
{
    ssize_t sent = send(to->fd, to->kept + to->kept_at, to->kept_size - to->kept_at,
                        MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN)
        return;
    if (sent < 0) {
        end_pair(to);
        return;
    }
    to->kept_at += (size_t)sent;
    if (to->kept_at < to->kept_size)
        return;
    free(to->kept);
    to->kept = NULL;
    wait_for(to, to->waits & ~(uint32_t)EPOLLOUT);
    wait_for(to->peer, to->peer->waits | EPOLLIN);
}

static int listen_on_loopback(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof here) < 0 || listen(fd, 1024) < 0 ||
        getsockname(fd, (struct sockaddr *)&here, &size) < 0)
        fail("listen");
    printf("%d\n", ntohs(here.sin_port));
    fflush(stdout);
    return fd;
}

static void serve(int listener)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(epoll, events, EVENTS, -1);
    for (int i = 0; i < n; i++) {
        struct end *e = events[i].data.ptr;
        if (!e) {
            int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            if (fd >= 0)
                add_end(fd, EPOLLIN);
            continue;
        }
        if (!e->dead && (events[i].events & EPOLLOUT))
            writable(e);
        if (!e->dead && (e->waits & EPOLLIN) &&
            (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
            readable(e);
        else if (!e->dead && (events[i].events & (EPOLLHUP | EPOLLERR)) && !e->kept)
            end_pair(e);
    }
    dig();
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: relay HOST PORT\n", stderr);
        return 2;
    }
    target = (struct sockaddr_in){.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)strtoul(argv[2], NULL, 10))};
    if (inet_pton(AF_INET, argv[1], &target.sin_addr) != 1)
        return 2;
    epoll = epoll_create1(EPOLL_CLOEXEC);
    int listener = listen_on_loopback();
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0)
        fail("epoll");
    for (;;)
        serve(listener);
}
