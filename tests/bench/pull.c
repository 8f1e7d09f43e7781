/* The client of the relays:
 *
 *     pull stream PROXY TARGET STREAMS MEGABYTES   that much over each of the streams at once;
 * prints MB/s pull connect PROXY TARGET COUNT              so many connections of one byte, one
 * after the other; prints the median in microseconds
 *
 * PROXY and TARGET are IPv4 address:port; PROXY "-": straight to the target. Measured from
 * connect(2) to the last byte. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS_MAX = 64, CONNECTIONS_MAX = 10000, CHUNK = 256 << 10 };

static const char *proxy, *target;
static uint64_t bytes;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int dial(const char *text)
{
    char host[64];
    const char *colon = strchr(text, ':');
    struct sockaddr_in address = {.sin_family = AF_INET};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!colon || (size_t)(colon - text) >= sizeof host || fd < 0)
        fail(text);
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = 0;
    address.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1 ||
        connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        fail(text);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* CONNECT and its answer; nothing else has been sent, so nothing follows the head. */
static void open_tunnel(int fd)
{
    char text[1024];
    size_t size = 0;
    int n = snprintf(text, sizeof text, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target);
    if (send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
        fail("send");
    do {
        ssize_t got = recv(fd, text + size, sizeof text - 1 - size, 0);
        if (got <= 0)
            fail("no answer to CONNECT");
        size += (size_t)got;
        text[size] = 0;
    } while (!strstr(text, "\r\n\r\n"));
    if (strncmp(text + 8, " 200", 4) != 0) {
        fputs(text, stderr);
        exit(1);
    }
}

static void pull(void)
{
    static _Thread_local char room[CHUNK];
    int fd = dial(proxy ? proxy : target);
    uint64_t total = 0;
    ssize_t n;
    if (proxy)
        open_tunnel(fd);
    if (send(fd, &bytes, sizeof bytes, MSG_NOSIGNAL) != (ssize_t)sizeof bytes)
        fail("send");
    while ((n = recv(fd, room, sizeof room, 0)) > 0)
        total += (uint64_t)n;
    close(fd);
    if (total != bytes) {
        fprintf(stderr, "pull: %llu bytes of %llu\n", (unsigned long long)total,
                (unsigned long long)bytes);
        exit(1);
    }
}

static void *stream(void *argument)
{
    pull();
    return argument;
}

static int streams(int count, uint64_t megabytes)
{
    pthread_t threads[STREAMS_MAX];
    bytes = megabytes * 1000000;
    int64_t begin = now_ns();
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, stream, NULL) != 0)
            fail("thread");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%.1f\n", (double)bytes * count * 1000 / (double)(now_ns() - begin));
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int connections(int count)
{
    static int64_t times[CONNECTIONS_MAX];
    bytes = 1;
    for (int i = 0; i < count; i++) {
        int64_t begin = now_ns();
        pull();
        times[i] = now_ns() - begin;
    }
    qsort(times, (size_t)count, sizeof times[0], by_size);
    printf("%.1f\n", (double)times[count / 2] / 1000);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: pull stream|connect PROXY|- TARGET COUNT [MEGABYTES]\n", stderr);
        return 2;
    }
    int count = (int)strtol(argv[4], NULL, 10);
    proxy = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
    target = argv[3];
    if (strcmp(argv[1], "stream") == 0 && argc == 6 && count >= 1 && count <= STREAMS_MAX)
        return streams(count, strtoull(argv[5], NULL, 10));
    if (strcmp(argv[1], "connect") == 0 && argc == 5 && count >= 1 && count <= CONNECTIONS_MAX)
        return connections(count);
    return 2;
}
