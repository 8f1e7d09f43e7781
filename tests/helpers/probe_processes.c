/* Other processes: init (pid 1 of the sandbox), what the host runs, the caller's own group. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int signals_init(const struct probe_row *row)
{
    return probe_result(kill(1, (int)row->number));
}

static int signals_init_thread(const struct probe_row *row)
{
    return probe_result(syscall(SYS_tgkill, 1, 1, (int)row->number));
}

/* si_code and si_pid as the kernel would fill them: rt_sigqueueinfo lets a process choose. */
static int forges_signal(const struct probe_row *row)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = SIGTERM;
    info.si_code = (int)row->number;
    return probe_result(syscall(SYS_rt_sigqueueinfo, 1, SIGTERM, &info));
}

static int forges_thread_signal(const struct probe_row *row)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = SIGTERM;
    info.si_code = (int)row->number;
    return probe_result(syscall(SYS_rt_tgsigqueueinfo, 1, 1, SIGTERM, &info));
}

static int signals_by_pidfd(const struct probe_row *row)
{
    int fd = (int)syscall(SYS_pidfd_open, 1, 0);
    if (fd < 0)
        return -errno;
    return probe_result(syscall(SYS_pidfd_send_signal, fd, (int)row->number, NULL, 0));
}

/* The kernel sends the signal on our behalf when the socket becomes readable: did init get it? The
 * owner is set when the kernel says yes; whether it is heeded, kills.bats shows. */
static int signals_by_owner(const struct probe_row *row)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return -errno;
    if (fcntl(pair[0], F_SETOWN, (int)row->number) < 0)
        return -errno;
    fcntl(pair[0], F_SETSIG, SIGTERM);
    fcntl(pair[0], F_SETFL, O_ASYNC);
    if (write(pair[1], "x", 1) < 0)
        return -errno;
    usleep(50000);
    return kill(1, 0) == 0 || errno == EPERM ? probe_word("init lives") : 0;
}

static int signals_host(const struct probe_row *row)
{
    (void)row;
    long pid = probe_conf_number("host_pid");
    return pid > 0 ? probe_result(kill((pid_t)pid, 0)) : probe_word("no pid to try");
}

static int limits_init(const struct probe_row *row)
{
    struct rlimit old;
    if (prlimit(1, (enum __rlimit_resource)row->number, NULL, &old) < 0)
        return -errno;
    return probe_result(prlimit(1, (enum __rlimit_resource)row->number, &old, NULL));
}

static int renices_init(const struct probe_row *row)
{
    (void)row;
    return probe_result(setpriority(PRIO_PROCESS, 1, getpriority(PRIO_PROCESS, 0)));
}

static int schedules_init(const struct probe_row *row)
{
    (void)row;
    struct sched_param p = {0};
    return probe_result(sched_setscheduler(1, SCHED_OTHER, &p));
}

static int pins_init(const struct probe_row *row)
{
    (void)row;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return -errno;
    return probe_result(sched_setaffinity(1, sizeof set, &set));
}

static int reprioritises_init_io(const struct probe_row *row)
{
    (void)row;
    return probe_result(syscall(SYS_ioprio_set, 1, 1, 2 << 13 | 4));
}

static int moves_init_group(const struct probe_row *row)
{
    (void)row;
    return probe_result(setpgid(1, 0));
}

static int traces(const struct probe_row *row)
{
    pid_t pid = row->path ? (pid_t)probe_conf_number(row->path) : 1;
    long request = row->number ? row->number : PTRACE_ATTACH;
    int r = probe_result(ptrace((enum __ptrace_request)request, pid, NULL, NULL));
    if (r == 0) {
        if (request == PTRACE_ATTACH)
            waitpid(pid, NULL, __WALL);
        ptrace(PTRACE_DETACH, pid, NULL, NULL);
    }
    return r;
}

static int reads_memory(const struct probe_row *row)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {&byte, 1};
    pid_t pid = row->path ? (pid_t)probe_conf_number(row->path) : 1;
    ssize_t n = row->number ? process_vm_writev(pid, &here, 1, &there, 1, 0)
                            : process_vm_readv(pid, &here, 1, &there, 1, 0);
    return n < 0 && errno != EFAULT ? -errno : 0;
}

static int compares(const struct probe_row *row)
{
    (void)row;
    return probe_result(syscall(SYS_kcmp, 1, getpid(), 1 /* KCMP_VM */, 0, 0));
}

static int takes_descriptor(const struct probe_row *row)
{
    int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
    if (pidfd < 0)
        return -errno;
    return probe_result(syscall(SYS_pidfd_getfd, pidfd, (int)row->number, 0));
}

static int advises_init(const struct probe_row *row)
{
    (void)row;
    int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
    struct iovec nothing = {NULL, 0};
    if (pidfd < 0)
        return -errno;
    return probe_result(syscall(SYS_process_madvise, pidfd, &nothing, 1, 21, 0));
}

static int releases_init_memory(const struct probe_row *row)
{
    (void)row;
    int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
    if (pidfd < 0)
        return -errno;
    int r = probe_result(syscall(SYS_process_mrelease, pidfd, 0));
    return r == -EINVAL ? 0 : r; /* EINVAL: init is not dying, else it would have been done */
}

static int moves_init_pages(const struct probe_row *row)
{
    void *page = NULL;
    int status;
    unsigned long nodes = 1;
    return probe_result(row->number == SYS_move_pages
                            ? syscall(SYS_move_pages, 1, 1UL, &page, NULL, &status, 0)
                            : syscall(SYS_migrate_pages, 1, 2UL, &nodes, &nodes));
}

/* As root their names can be listed; what they stand for must stay out of reach. */
static int opens_init_descriptor(const struct probe_row *row)
{
    char path[64], target[256];
    int r = -ENOENT;
    (void)row;
    for (int fd = 0; fd < 64; fd++) {
        snprintf(path, sizeof path, "/proc/1/fd/%d", fd);
        if (readlink(path, target, sizeof target) >= 0 || open(path, O_PATH | O_CLOEXEC) >= 0)
            return 0;
        if (errno != ENOENT)
            r = -errno;
    }
    return r;
}

/* Any process whose own user or command line we should not know: all that are not pid 1 and not of
 * our session's making. The sandbox holds init and what the command started. */
static int sees_other_processes(const struct probe_row *row)
{
    (void)row;
    char path[64], name[64];
    DIR *proc = opendir("/proc");
    if (!proc)
        return -errno;
    for (struct dirent *e; (e = readdir(proc));) {
        long pid = strtol(e->d_name, NULL, 10);
        if (pid <= 1)
            continue;
        snprintf(path, sizeof path, "/proc/%ld/comm", pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof name - 1);
        if (fd >= 0)
            close(fd);
        if (n <= 0)
            continue;
        name[n] = 0;
        name[strcspn(name, "\n")] = 0;
        if (strcmp(name, "probe") != 0 && strcmp(name, "sh") != 0) {
            closedir(proc);
            return 0;
        }
    }
    closedir(proc);
    return probe_word("own only");
}

static int sees_host_process(const struct probe_row *row)
{
    char path[64];
    long pid = probe_conf_number("host_pid");
    if (pid < 0)
        return probe_word("no pid to try");
    snprintf(path, sizeof path, "/proc/%ld/%s", pid, row->path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : 0;
}

/* A secret of the policy in init's command line (S14). */
static int init_arguments(const struct probe_row *row)
{
    (void)row;
    int fd = open("/proc/1/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int found = probe_holds_canary(fd);
    return found < 0 ? found : found ? 0 : probe_word("clean");
}

/* These end whatever they reach: alone. */
static int kills_all(const struct probe_row *row)
{
    return probe_result(kill((pid_t)row->number, SIGKILL));
}

static int kills_group_by_signal(const struct probe_row *row)
{
    return probe_result(kill(0, (int)row->number));
}

static const struct probe_row probe_processes_rows[] = {
    {"init.kill-0", signals_init, NULL, 0, 0},
    {"init.kill-stop", signals_init, NULL, SIGSTOP, 0},
    {"init.kill-term", signals_init, NULL, SIGTERM, 0},
    {"init.kill-kill", signals_init, NULL, SIGKILL, 0},
    {"init.tgkill", signals_init_thread, NULL, SIGTERM, 0},
    {"init.sigqueue-user", forges_signal, NULL, SI_USER, 0},
    {"init.sigqueue-kernel", forges_signal, NULL, SI_KERNEL, 0},
    {"init.sigqueue-queue", forges_signal, NULL, SI_QUEUE, 0},
    {"init.sigqueue-tkill", forges_signal, NULL, SI_TKILL, 0},
    {"init.tgsigqueue-user", forges_thread_signal, NULL, SI_USER, 0},
    {"init.pidfd-signal", signals_by_pidfd, NULL, SIGTERM, 0},
    {"init.signal-by-owner", signals_by_owner, NULL, 1, 0},
    {"init.rlimit-nofile", limits_init, NULL, RLIMIT_NOFILE, 0},
    {"init.rlimit-cpu", limits_init, NULL, RLIMIT_CPU, 0},
    {"init.rlimit-fsize", limits_init, NULL, RLIMIT_FSIZE, 0},
    {"init.rlimit-as", limits_init, NULL, RLIMIT_AS, 0},
    {"init.renice", renices_init, NULL, 0, 0},
    {"init.scheduler", schedules_init, NULL, 0, 0},
    {"init.affinity", pins_init, NULL, 0, 0},
    {"init.ioprio", reprioritises_init_io, NULL, 0, 0},
    {"init.setpgid", moves_init_group, NULL, 0, 0},
    {"init.ptrace-attach", traces, NULL, 0, 0},
    {"init.ptrace-seize", traces, NULL, PTRACE_SEIZE, 0},
    {"init.vm-read", reads_memory, NULL, 0, 0},
    {"init.vm-write", reads_memory, NULL, 1, 0},
    {"init.kcmp", compares, NULL, 0, 0},
    {"init.pidfd-getfd", takes_descriptor, NULL, 0, 0},
    {"init.madvise", advises_init, NULL, 0, 0},
    {"init.mrelease", releases_init_memory, NULL, 0, 0},
    {"init.move-pages", moves_init_pages, NULL, SYS_move_pages, 0},
    {"init.migrate-pages", moves_init_pages, NULL, SYS_migrate_pages, 0},
    {"init.fd-open", opens_init_descriptor, NULL, 0, 0},
    {"init.arguments", init_arguments, NULL, 0, 0},
    {"host.kill", signals_host, NULL, 0, 0},
    {"host.ptrace", traces, "host_pid", 0, 0},
    {"host.vm-read", reads_memory, "host_pid", 0, 0},
    {"host.proc-cmdline", sees_host_process, "cmdline", 0, 0},
    {"host.proc-environ", sees_host_process, "environ", 0, 0},
    {"host.processes", sees_other_processes, NULL, 0, 0},
    {"host.kill-all", kills_all, NULL, -1, 1},
    {"host.kill-group", kills_all, NULL, 0, 1},
    {"host.stop-group", kills_group_by_signal, NULL, SIGSTOP, 1},
};
PROBE_TABLE(probe_processes);
