/* Unix sockets and System V or POSIX objects of host processes. `probe serve` makes them and
 * writes their names into probe.conf. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Connects to a name of the file system, or after '@' to an abstract one. */
static int connects_to(const char *name, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = 0;
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    int r = probe_result(connect(fd, (struct sockaddr *)&address, size));
    close(fd);
    return r;
}

static int connects(const struct probe_row *row)
{
    const char *path = probe_path(row->path);
    char name[4096];
    snprintf(name, sizeof name, "%s", path);
    return connects_to(name, row->number ? (int)row->number : SOCK_STREAM);
}

static int connects_by_variable(const struct probe_row *row)
{
    const char *value = getenv(row->path);
    if (!value)
        return probe_word("unset");
    const char *path = strstr(value, "path=");
    return connects_to(path ? path + 5 : value, SOCK_STREAM);
}

/* The socket under another name that no mask covers. */
static int connects_by_hard_link(const struct probe_row *row)
{
    unlink("probe-sock");
    if (link(row->path, "probe-sock") < 0)
        return -errno;
    int r = connects_to("probe-sock", SOCK_STREAM);
    unlink("probe-sock");
    return r;
}

static int connects_by_rename(const struct probe_row *row)
{
    if (rename(row->path, "probe-sock") < 0)
        return -errno;
    int r = connects_to("probe-sock", SOCK_STREAM);
    rename("probe-sock", row->path);
    return r;
}

/* A socketpair's end is a Unix socket already: can it be pointed at the host's? */
static int reconnects_socketpair(const struct probe_row *row)
{
    int pair[2];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", row->path);
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    if (connect(pair[0], (struct sockaddr *)&address, sizeof address) < 0)
        return -errno;
    return probe_result(send(pair[0], "x", 1, MSG_NOSIGNAL));
}

static int finds_shared_memory(const struct probe_row *row)
{
    (void)row;
    return probe_result(shmget((key_t)probe_conf_number("sysv_key"), 0, 0));
}

static int finds_semaphore(const struct probe_row *row)
{
    (void)row;
    return probe_result(semget((key_t)probe_conf_number("sysv_key"), 0, 0));
}

static int finds_queue(const struct probe_row *row)
{
    (void)row;
    const char *name = probe_conf("mqueue");
    if (!name)
        return probe_word("no queue to try");
    mqd_t q = mq_open(name, O_RDONLY | O_CLOEXEC);
    return q == (mqd_t)-1 ? -errno : 0;
}

static int finds_posix_shared_memory(const struct probe_row *row)
{
    (void)row;
    const char *name = probe_conf("shm_name");
    return name ? probe_result(shm_open(name, O_RDONLY, 0)) : probe_word("no name to try");
}

static const struct probe_row probe_sockets_rows[] = {
    {"unix.workspace", connects, "host.sock", 0, 0},
    {"unix.workspace-dgram", connects, "host-dgram.sock", SOCK_DGRAM, 0},
    {"unix.workspace-nested", connects, "packages/run/host.sock", 0, 0},
    {"unix.workspace-hard-link", connects_by_hard_link, "host.sock", 0, 0},
    {"unix.workspace-rename", connects_by_rename, "host.sock", 0, 0},
    {"unix.socketpair", reconnects_socketpair, "host-dgram.sock", 0, 0},
    {"unix.home", connects, "~/agent.sock", 0, 0},
    {"unix.home.gpg", connects, "~/.gnupg/S.gpg-agent", 0, 0},
    {"unix.tmp", connects, "$tmp_sock", 0, 0},
    {"unix.abstract", connects, "$abstract_sock", 0, 0},
    {"unix.docker", connects, "/var/run/docker.sock", 0, 0},
    {"unix.containerd", connects, "/run/containerd/containerd.sock", 0, 0},
    {"unix.dbus-system", connects, "/run/dbus/system_bus_socket", 0, 0},
    {"unix.systemd-private", connects, "/run/systemd/private", 0, 0},
    {"unix.journal", connects, "/run/systemd/journal/socket", SOCK_DGRAM, 0},
    {"unix.dev-log", connects, "/dev/log", SOCK_DGRAM, 0},
    {"unix.x11", connects, "/tmp/.X11-unix/X0", 0, 0},
    {"unix.x11-abstract", connects, "@/tmp/.X11-unix/X0", 0, 0},
    {"unix.run-host", connects, "$run_sock", 0, 0},
    {"unix.ssh-agent", connects_by_variable, "SSH_AUTH_SOCK", 0, 0},
    {"unix.dbus-session", connects_by_variable, "DBUS_SESSION_BUS_ADDRESS", 0, 0},
    {"ipc.sysv-shm", finds_shared_memory, NULL, 0, 0},
    {"ipc.sysv-sem", finds_semaphore, NULL, 0, 0},
    {"ipc.posix-queue", finds_queue, NULL, 0, 0},
    {"ipc.posix-shm", finds_posix_shared_memory, NULL, 0, 0},
};
PROBE_TABLE(probe_sockets);
