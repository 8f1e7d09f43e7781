/* The host's side: services that the sandbox must not reach. Runs in the workspace, adds their
 * names to ./probe.conf, the last line being ready=1, and answers until SIGTERM. Every contact
 * becomes a line in ../probe.contacts, so that a test can see that nothing arrived. */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { SERVICES_MAX = 16 };

static struct service {
    int fd;
    int stream;
    char name[128];
} services[SERVICES_MAX];
static int service_count;

static int segment = -1, semaphore = -1;
static char queue_name[64], shm_name[64];

static int add_service(int fd, int stream, const char *name)
{
    if (fd < 0 || (stream && listen(fd, 64) < 0) || service_count == SERVICES_MAX)
        return -1;
    struct service *s = &services[service_count++];
    s->fd = fd;
    s->stream = stream;
    snprintf(s->name, sizeof s->name, "%s", name);
    return 0;
}

static int unix_service(const char *path, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = 0;
    else
        unlink(path);
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    if (bind(fd, (struct sockaddr *)&address, size) < 0)
        return -1;
    return add_service(fd, type == SOCK_STREAM, path);
}

/* On both loopbacks at one port: [::] takes IPv4 too. */
static int inet_service(int type, const char *name)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6};
    socklen_t size = sizeof address;
    int off = 0, fd = socket(AF_INET6, type | SOCK_CLOEXEC, 0);
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        add_service(fd, type == SOCK_STREAM, name) < 0)
        return -1;
    getsockname(fd, (struct sockaddr *)&address, &size);
    return ntohs(address.sin6_port);
}

static void make_ipc(FILE *conf)
{
    key_t key = 0x5b0c0000 | (getpid() & 0xffff);
    segment = shmget(key, 4096, IPC_CREAT | 0600);
    semaphore = semget(key, 1, IPC_CREAT | 0600);
    fprintf(conf, "sysv_key=%d\n", (int)key);
    snprintf(queue_name, sizeof queue_name, "/sbox-probe-%d", (int)getpid());
    snprintf(shm_name, sizeof shm_name, "/sbox-probe-%d", (int)getpid());
    mqd_t queue = mq_open(queue_name, O_CREAT | O_RDWR | O_CLOEXEC, 0600, NULL);
    fprintf(conf, "mqueue=%s\n", queue == (mqd_t)-1 ? "/absent" : queue_name);
    int shm = shm_open(shm_name, O_CREAT | O_RDWR, 0600);
    if (write(shm, PROBE_CANARY, strlen(PROBE_CANARY)) > 0)
        fprintf(conf, "shm_name=%s\nshm_file=/dev/shm%s\n", shm_name, shm_name);
}

static void make_sockets(FILE *conf, const char *scratch)
{
    char path[512];
    const char *home = getenv("HOME");
    unix_service("host.sock", SOCK_STREAM);
    unix_service("host-dgram.sock", SOCK_DGRAM);
    unix_service("packages/run/host.sock", SOCK_STREAM);
    snprintf(path, sizeof path, "%s/agent.sock", home);
    unix_service(path, SOCK_STREAM);
    snprintf(path, sizeof path, "%s/.gnupg/S.gpg-agent", home);
    unix_service(path, SOCK_STREAM);
    snprintf(path, sizeof path, "%s/sock", scratch);
    unix_service(path, SOCK_STREAM);
    fprintf(conf, "tmp_sock=%s\n", path);
    snprintf(path, sizeof path, "@sbox-probe-%d", (int)getpid());
    unix_service(path, SOCK_STREAM);
    fprintf(conf, "abstract_sock=%s\n", path);
    fprintf(conf, "tcp_port=%d\n", inet_service(SOCK_STREAM, "tcp"));
    fprintf(conf, "udp_port=%d\n", inet_service(SOCK_DGRAM, "udp"));
    /* root only: below /run, as docker.sock is */
    snprintf(path, sizeof path, "/run/sbox-probe-%d.sock", (int)getpid());
    unix_service(path, SOCK_STREAM);
    fprintf(conf, "run_sock=%s\nhost_pid=%d\n", path, (int)getpid());
}

static void answer(const struct service *s, int log)
{
    char data[64];
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    if (s->stream) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            return;
        close(fd);
    } else {
        ssize_t n = recvfrom(s->fd, data, sizeof data, 0, (struct sockaddr *)&from, &size);
        if (n >= 0 && size > sizeof(sa_family_t))
            sendto(s->fd, data, (size_t)n, MSG_DONTWAIT, (struct sockaddr *)&from, size);
    }
    dprintf(log, "%s\n", s->name);
}

static void clean_up(int signal_number)
{
    (void)signal_number;
    shmctl(segment, IPC_RMID, NULL);
    semctl(semaphore, 0, IPC_RMID);
    mq_unlink(queue_name);
    shm_unlink(shm_name);
    for (int i = 0; i < service_count; i++)
        if (services[i].name[0] == '/')
            unlink(services[i].name);
    _exit(0);
}

/* `scratch`: a directory in /tmp that exists. */
int probe_serve(const char *scratch)
{
    struct pollfd ready[SERVICES_MAX];
    int log = open("../probe.contacts", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    FILE *conf = fopen("probe.conf", "ae");
    if (log < 0 || !conf)
        return 1;
    signal(SIGTERM, clean_up);
    mkdir("packages", 0755);
    mkdir("packages/run", 0755);
    make_ipc(conf);
    make_sockets(conf, scratch);
    fputs("ready=1\n", conf);
    fclose(conf);
    for (;;) {
        for (int i = 0; i < service_count; i++)
            ready[i] = (struct pollfd){.fd = services[i].fd, .events = POLLIN};
        if (poll(ready, (nfds_t)service_count, -1) < 0 && errno != EINTR)
            return 1;
        for (int i = 0; i < service_count; i++)
            if (ready[i].revents)
                answer(&services[i], log);
    }
}
