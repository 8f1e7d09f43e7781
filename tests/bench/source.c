/* A server for the relays: prints its port; each client sends an 8-byte number in host order and
 * gets that many bytes. One thread a connection. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 };

static const char zeros[CHUNK];

static void *serve(void *argument)
{
    int fd = (int)(intptr_t)argument, on = 1;
    uint64_t left;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (recv(fd, &left, sizeof left, MSG_WAITALL) == (ssize_t)sizeof left) {
        while (left > 0) {
            ssize_t n = send(fd, zeros, left < CHUNK ? (size_t)left : CHUNK, MSG_NOSIGNAL);
            if (n <= 0)
                break;
            left -= (uint64_t)n;
        }
    }
    close(fd);
    return NULL;
}

int main(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&here, sizeof here) < 0 ||
        listen(listener, 1024) < 0 || getsockname(listener, (struct sockaddr *)&here, &size) < 0) {
        perror("source");
        return 1;
    }
    printf("%d\n", ntohs(here.sin_port));
    fflush(stdout);
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        pthread_t thread;
        if (fd < 0)
            continue;
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) == 0)
            (void)pthread_detach(thread);
        else
            close(fd);
    }
}
