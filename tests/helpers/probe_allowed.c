/* What must work: a sandbox that refuses everything passes every other row. */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/landlock.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int writes_and_reads(const struct probe_row *row)
{
    char path[8192], back[4] = "";
    snprintf(path, sizeof path, "%s/probe-allowed", probe_path(row->path));
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int r = probe_result(write(fd, "abc", 3));
    if (r == 0 && (pread(fd, back, 3, 0) != 3 || strcmp(back, "abc") != 0))
        r = -EIO;
    close(fd);
    unlink(path);
    return r;
}

static int reads(const struct probe_row *row)
{
    char byte;
    int fd = open(row->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, &byte, 1);
    close(fd);
    return n == 1 ? 0 : n == 0 ? probe_word("empty") : -errno;
}

static int writes_device(const struct probe_row *row)
{
    return probe_write_text(row->path, "x");
}

static int lists(const struct probe_row *row)
{
    int fd = open(row->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char entries[1024];
    return fd < 0 ? -errno : probe_result(syscall(SYS_getdents64, fd, entries, sizeof entries));
}

/* Across directories: Landlock's REFER. */
static int renames_across(const struct probe_row *row)
{
    (void)row;
    mkdir("probe-a", 0700);
    mkdir("probe-b", 0700);
    close(open("probe-a/f", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    int r = probe_result(rename("probe-a/f", "probe-b/f"));
    if (r == 0)
        r = probe_result(link("probe-b/f", "probe-a/g"));
    unlink("probe-a/f");
    unlink("probe-a/g");
    unlink("probe-b/f");
    rmdir("probe-a");
    rmdir("probe-b");
    return r;
}

static int makes_fifo(const struct probe_row *row)
{
    (void)row;
    int r = probe_result(mkfifo("probe-fifo", 0600));
    unlink("probe-fifo");
    return r;
}

static int sets_user_xattr(const struct probe_row *row)
{
    (void)row;
    int fd = open("probe-xattr", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    int r = probe_result(fsetxattr(fd, "user.probe", "x", 1, 0));
    unlink("probe-xattr");
    return r;
}

static int locks(const struct probe_row *row)
{
    (void)row;
    int fd = open("probe-lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    struct flock whole = {.l_type = F_WRLCK};
    int r = probe_result(flock(fd, LOCK_EX));
    if (r == 0)
        r = probe_result(fcntl(fd, F_SETLK, &whole));
    unlink("probe-lock");
    return r;
}

static void *nothing(void *argument)
{
    return argument;
}

/* glibc tries clone3 first and falls back only on ENOSYS. */
static int starts_thread(const struct probe_row *row)
{
    (void)row;
    pthread_t thread;
    int error = pthread_create(&thread, NULL, nothing, NULL);
    if (error)
        return -error;
    return -pthread_join(thread, NULL);
}

static int runs_program(const struct probe_row *row)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl(row->path, row->path, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? 0
               : probe_word("status %d", WEXITSTATUS(status));
}

static int runs_memfd(const struct probe_row *row)
{
    (void)row;
    char data[65536];
    int status, memory = memfd_create("probe", 0), file = open("/bin/true", O_RDONLY | O_CLOEXEC);
    if (memory < 0 || file < 0)
        return -errno;
    for (ssize_t n; (n = read(file, data, sizeof data)) > 0;)
        if (write(memory, data, (size_t)n) < 0)
            return -errno;
    pid_t child = fork();
    if (child == 0) {
        char *none[] = {(char *)"true", NULL};
        fexecve(memory, none, none + 1);
        _exit(errno);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? -WEXITSTATUS(status) : probe_word("killed");
}

/* gdb and strace of one's own child. */
static int traces_child(const struct probe_row *row)
{
    int status;
    (void)row;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    int r = probe_result(ptrace(PTRACE_ATTACH, child, NULL, NULL));
    if (r == 0) {
        waitpid(child, &status, 0);
        errno = 0;
        ptrace(PTRACE_PEEKDATA, child, &status, NULL);
        r = -errno;
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return r;
}

static int reads_child_memory(const struct probe_row *row)
{
    int value = 42, copy = 0, status;
    (void)row;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    struct iovec here = {&copy, sizeof copy}, there = {&value, sizeof value};
    int r = probe_result(process_vm_readv(child, &here, 1, &there, 1, 0));
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return r < 0 || copy == 42 ? r : -EIO;
}

static int kills_child(const struct probe_row *row)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    int r = probe_result(kill(child, (int)row->number));
    if (r == 0)
        waitpid(child, &status, 0);
    return r;
}

/* A job of a shell: the child leads a group of its own, and the group is signalled. */
static int kills_group(const struct probe_row *row)
{
    int status;
    (void)row;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    setpgid(child, child);
    int r = probe_result(kill(-child, SIGKILL));
    if (r < 0)
        kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return r;
}

static int connects_to_own(int family, struct sockaddr *address, socklen_t size)
{
    int server = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || client < 0 || bind(server, address, size) < 0 || listen(server, 1) < 0)
        return -errno;
    if (family != AF_UNIX)
        getsockname(server, address, &size);
    return probe_result(connect(client, address, size));
}

static int serves_loopback(const struct probe_row *row)
{
    (void)row;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return connects_to_own(AF_INET, (struct sockaddr *)&address, sizeof address);
}

static int serves_loopback_v6(const struct probe_row *row)
{
    (void)row;
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    return connects_to_own(AF_INET6, (struct sockaddr *)&address, sizeof address);
}

static int serves_unix(const struct probe_row *row)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", row->path);
    unlink(row->path);
    int r = connects_to_own(AF_UNIX, (struct sockaddr *)&address, sizeof address);
    unlink(row->path);
    return r;
}

static int serves_abstract(const struct probe_row *row)
{
    (void)row;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0probe-own"};
    return connects_to_own(AF_UNIX, (struct sockaddr *)&address, sizeof address);
}

static int reads_routes(const struct probe_row *row)
{
    (void)row;
    return probe_result(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
}

static int opens_terminal(const struct probe_row *row)
{
    (void)row;
    int master, slave;
    return probe_result(openpty(&master, &slave, NULL, NULL, NULL));
}

static int shares_memory(const struct probe_row *row)
{
    (void)row;
    int fd = shm_open("/probe-own", O_CREAT | O_RDWR, 0600);
    if (fd < 0)
        return -errno;
    int r = probe_result(ftruncate(fd, 4096));
    if (r == 0 && mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
        r = -errno;
    shm_unlink("/probe-own");
    return r;
}

static int shares_sysv_memory(const struct probe_row *row)
{
    (void)row;
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    return id < 0 ? -errno : probe_result(shmctl(id, IPC_RMID, NULL));
}

static int maps_code(const struct probe_row *row)
{
    (void)row;
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return probe_result(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int watches_files(const struct probe_row *row)
{
    (void)row;
    int fd = inotify_init1(IN_CLOEXEC);
    return fd < 0 ? -errno : probe_result(inotify_add_watch(fd, ".", IN_CREATE));
}

static int sets_own_limit(const struct probe_row *row)
{
    (void)row;
    struct rlimit l;
    if (prlimit(0, RLIMIT_NOFILE, NULL, &l) < 0)
        return -errno;
    l.rlim_cur = l.rlim_max;
    return probe_result(prlimit(row->number ? getpid() : 0, RLIMIT_NOFILE, &l, NULL));
}

static int pins_itself(const struct probe_row *row)
{
    (void)row;
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) < 0
               ? -errno
               : probe_result(sched_setaffinity(0, sizeof set, &set));
}

static int confines_itself(const struct probe_row *row)
{
    (void)row;
    struct landlock_ruleset_attr a = {.handled_access_fs = 1};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long fd = syscall(SYS_landlock_create_ruleset, &a, sizeof a, 0);
    return fd < 0 ? -errno : probe_result(syscall(SYS_landlock_restrict_self, fd, 0));
}

static int makes_pidfd(const struct probe_row *row)
{
    (void)row;
    return probe_result(syscall(SYS_pidfd_open, getpid(), 0));
}

static int starts_aio(const struct probe_row *row)
{
    (void)row;
    aio_context_t context = 0;
    return probe_result(syscall(SYS_io_setup, 1, &context));
}

static int opens_null_by_link(const struct probe_row *row)
{
    unlink("probe-null");
    if (symlink(row->path, "probe-null") < 0)
        return -errno;
    int r = probe_write_text("probe-null", "x");
    unlink("probe-null");
    return r;
}

static const struct probe_row probe_allowed_rows[] = {
    {"allow.write.workspace", writes_and_reads, ".", 0, 0},
    {"allow.write.tmp", writes_and_reads, "/tmp", 0, 0},
    {"allow.write.var-tmp", writes_and_reads, "/var/tmp", 0, 0},
    {"allow.write.shm", writes_and_reads, "/dev/shm", 0, 0},
    {"allow.write.home-cache", writes_and_reads, "~/.cache", 0, 0},
    {"allow.write.home-config", writes_and_reads, "~/.config", 0, 0},
    {"allow.write.home-state", writes_and_reads, "~/.local/state", 0, 0},
    {"allow.write.git-dir", writes_and_reads, ".git", 0, 0},
    {"allow.write.git-objects", writes_and_reads, ".git/objects", 0, 0},
    {"allow.write.dev-null", writes_device, "/dev/null", 0, 0},
    {"allow.write.dev-null-link", opens_null_by_link, "/dev/null", 0, 0},
    {"allow.read.passwd", reads, "/etc/passwd", 0, 0},
    {"allow.read.os-release", reads, "/etc/os-release", 0, 0},
    {"allow.read.zero", reads, "/dev/zero", 0, 0},
    {"allow.read.urandom", reads, "/dev/urandom", 0, 0},
    {"allow.read.cpuinfo", reads, "/proc/cpuinfo", 0, 0},
    {"allow.read.meminfo", reads, "/proc/meminfo", 0, 0},
    {"allow.read.stat", reads, "/proc/stat", 0, 0},
    {"allow.read.uptime", reads, "/proc/uptime", 0, 0},
    {"allow.read.self-maps", reads, "/proc/self/maps", 0, 0},
    {"allow.read.self-status", reads, "/proc/self/status", 0, 0},
    {"allow.read.mountinfo", reads, "/proc/self/mountinfo", 0, 0},
    {"allow.read.osrelease", reads, "/proc/sys/kernel/osrelease", 0, 0},
    {"allow.list.root", lists, "/", 0, 0},
    {"allow.list.usr", lists, "/usr", 0, 0},
    {"allow.list.self-fd", lists, "/proc/self/fd", 0, 0},
    {"allow.rename", renames_across, NULL, 0, 0},
    {"allow.fifo", makes_fifo, NULL, 0, 0},
    {"allow.xattr", sets_user_xattr, NULL, 0, 0},
    {"allow.lock", locks, NULL, 0, 0},
    {"allow.thread", starts_thread, NULL, 0, 0},
    {"allow.exec", runs_program, "/bin/true", 0, 0},
    {"allow.exec-memfd", runs_memfd, NULL, 0, 0},
    {"allow.ptrace-child", traces_child, NULL, 0, 0},
    {"allow.vm-read-child", reads_child_memory, NULL, 0, 0},
    {"allow.kill-child", kills_child, NULL, SIGKILL, 0},
    {"allow.kill-group", kills_group, NULL, 0, 0},
    {"allow.tcp-loopback", serves_loopback, NULL, 0, 0},
    {"allow.tcp-loopback-v6", serves_loopback_v6, NULL, 0, 0},
    {"allow.unix", serves_unix, "probe-own.sock", 0, 0},
    {"allow.unix-tmp", serves_unix, "/tmp/probe-own.sock", 0, 0},
    {"allow.unix-abstract", serves_abstract, NULL, 0, 0},
    {"allow.netlink-route", reads_routes, NULL, 0, 0},
    {"allow.pty", opens_terminal, NULL, 0, 0},
    {"allow.shm", shares_memory, NULL, 0, 0},
    {"allow.sysv-shm", shares_sysv_memory, NULL, 0, 0},
    {"allow.jit", maps_code, NULL, 0, 0},
    {"allow.inotify", watches_files, NULL, 0, 0},
    {"allow.rlimit-self", sets_own_limit, NULL, 0, 0},
    {"self.rlimit-by-pid", sets_own_limit, NULL, 1, 0},
    {"allow.affinity-self", pins_itself, NULL, 0, 0},
    {"allow.landlock", confines_itself, NULL, 0, 0},
    {"allow.aio", starts_aio, NULL, 0, 0},
    {"allow.pidfd", makes_pidfd, NULL, 0, 0},
};
PROBE_TABLE(probe_allowed);
