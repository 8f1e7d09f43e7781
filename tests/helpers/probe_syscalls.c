/* System calls that nothing in a build or a test needs and that open the kernel. Arguments are such
 * that the call fails harmlessly where it is allowed: EFAULT, EINVAL, EBADF then show that the
 * kernel got as far as looking at them, which counts as OK here. EPERM, EACCES and ENOSYS are
 * refusals; whose they are (the filter's or the kernel's) the layer table shows. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/landlock.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Only a refusal by principle is one. */
static int reached(long value)
{
    if (value >= 0)
        return 0;
    return errno == EPERM || errno == EACCES || errno == ENOSYS ? -errno : 0;
}

/* Every argument is invalid: -1 is no descriptor, no address, no size. */
static int bare_call(const struct probe_row *row)
{
    return reached(syscall(row->number, -1L, -1L, -1L, -1L, -1L, -1L));
}

static int null_call(const struct probe_row *row)
{
    return reached(syscall(row->number, 0L, 0L, 0L, 0L, 0L, 0L));
}

static int unknown_call(const struct probe_row *row)
{
    /* ENOSYS is the right answer for what does not exist: anything else would break libc. */
    return probe_result(syscall(row->number, 0L, 0L, 0L, 0L, 0L, 0L));
}

static int uring(const struct probe_row *row)
{
    (void)row;
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    return probe_result(syscall(SYS_io_uring_setup, 4, &p));
}

static int perf(const struct probe_row *row)
{
    (void)row;
    struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
                                .size = sizeof a,
                                .config = PERF_COUNT_SW_CPU_CLOCK,
                                .exclude_kernel = 1,
                                .exclude_hv = 1};
    return probe_result(syscall(SYS_perf_event_open, &a, 0, -1, -1, 0));
}

static int bpf_map(const struct probe_row *row)
{
    (void)row;
    union bpf_attr a;
    memset(&a, 0, sizeof a);
    a.map_type = BPF_MAP_TYPE_ARRAY;
    a.key_size = a.value_size = 4;
    a.max_entries = 1;
    return probe_result(syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof a));
}

static int user_fault(const struct probe_row *row)
{
    return probe_result(syscall(SYS_userfaultfd, row->number | O_CLOEXEC));
}

static int adds_key(const struct probe_row *row)
{
    (void)row;
    return probe_result(
        syscall(SYS_add_key, "user", "sbox-probe", "x", 1, -2 /* process keyring */));
}

static int reads_keyring(const struct probe_row *row)
{
    return probe_result(
        syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, row->number, 0L, 0L, 0L));
}

static int kernel_log(const struct probe_row *row)
{
    char buffer[64];
    return probe_result(syscall(SYS_syslog, row->number, buffer, sizeof buffer));
}

static int sets_host_name(const struct probe_row *row)
{
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return probe_result(syscall(row->number, name, strlen(name)));
}

/* The i386 entry: a filter that looks at numbers only sees another system call. 20: getpid. */
static int i386_call(const struct probe_row *row)
{
    (void)row;
#if defined(__x86_64__)
    long value;
    __asm__ volatile("int $0x80" : "=a"(value) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
    if (value < 0) {
        errno = (int)-value;
        return -errno;
    }
    return 0;
#else
    return probe_word("no such entry");
#endif
}

static int x32_call(const struct probe_row *row)
{
    return probe_result(syscall(row->number | 0x40000000L));
}

/* A terminal of our own becomes the controlling one: what is pushed into it would be read by a
 * shell after us. */
static int pushes_input(const struct probe_row *row)
{
    char byte = '\n';
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        return -errno;
    if (setsid() < 0)
        return -errno;
    int slave = open(ptsname(master), O_RDWR | O_CLOEXEC);
    if (slave < 0)
        return -errno;
    ioctl(slave, TIOCSCTTY, 0);
    return reached(syscall(SYS_ioctl, slave, (unsigned long)row->number, &byte));
}

static int fans_out(const struct probe_row *row)
{
    (void)row;
    return probe_result(syscall(SYS_fanotify_init, 0x200 /* FAN_REPORT_FID */, O_RDONLY));
}

static int sets_clock(const struct probe_row *row)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return probe_result(syscall(row->number, CLOCK_REALTIME, &now));
}

static int becomes(const struct probe_row *row)
{
    uid_t other = getuid() == 0 ? 65534 : 0;
    return probe_result(syscall(row->number, other, other, other));
}

static int sets_groups(const struct probe_row *row)
{
    (void)row;
    gid_t group = 0;
    return probe_result(syscall(SYS_setgroups, 1, &group));
}

static const struct probe_row probe_syscalls_rows[] = {
    {"sys.io-uring", uring, NULL, 0, 0},
    {"sys.io-uring-enter", bare_call, NULL, SYS_io_uring_enter, 0},
    {"sys.io-uring-register", bare_call, NULL, SYS_io_uring_register, 0},
    {"sys.userfaultfd", user_fault, NULL, 0, 0},
    {"sys.userfaultfd-user", user_fault, NULL, 1, 0},
    {"sys.perf", perf, NULL, 0, 0},
    {"sys.bpf", bpf_map, NULL, 0, 0},
    {"sys.add-key", adds_key, NULL, 0, 0},
    {"sys.request-key", bare_call, NULL, SYS_request_key, 0},
    {"sys.keyring-session", reads_keyring, NULL, -3, 0},
    {"sys.keyring-user", reads_keyring, NULL, -4, 0},
    {"sys.kexec-load", bare_call, NULL, SYS_kexec_load, 0},
#ifdef SYS_kexec_file_load
    {"sys.kexec-file-load", bare_call, NULL, SYS_kexec_file_load, 0},
#endif
    {"sys.init-module", bare_call, NULL, SYS_init_module, 0},
    {"sys.finit-module", bare_call, NULL, SYS_finit_module, 0},
    {"sys.delete-module", bare_call, NULL, SYS_delete_module, 0},
    {"sys.reboot", bare_call, NULL, SYS_reboot, 0},
    {"sys.swapon", bare_call, NULL, SYS_swapon, 0},
    {"sys.swapoff", bare_call, NULL, SYS_swapoff, 0},
    {"sys.acct", bare_call, NULL, SYS_acct, 0},
    {"sys.quotactl", bare_call, NULL, SYS_quotactl, 0},
    {"sys.quotactl-fd", bare_call, NULL, 443, 0},
    {"sys.nfsservctl", bare_call, NULL, SYS_nfsservctl, 0},
    {"sys.vhangup", null_call, NULL, SYS_vhangup, 0},
    {"sys.syslog-read", kernel_log, NULL, 3, 0},
    {"sys.syslog-size", kernel_log, NULL, 10, 0},
    {"sys.sethostname", sets_host_name, NULL, SYS_sethostname, 0},
    {"sys.setdomainname", sets_host_name, NULL, SYS_setdomainname, 0},
    {"sys.settimeofday", bare_call, NULL, SYS_settimeofday, 0},
    {"sys.clock-settime", sets_clock, NULL, SYS_clock_settime, 0},
    {"sys.fanotify", fans_out, NULL, 0, 0},
    {"sys.open-by-handle", bare_call, NULL, SYS_open_by_handle_at, 0},
    {"sys.lookup-dcookie", bare_call, NULL, SYS_lookup_dcookie, 0},
#ifdef SYS_iopl
    {"sys.iopl", bare_call, NULL, SYS_iopl, 0},
    {"sys.ioperm", null_call, NULL, SYS_ioperm, 0},
    {"sys.uselib", null_call, NULL, SYS_uselib, 0},
#endif
    {"sys.i386", i386_call, NULL, 0, 0},
    {"sys.x32", x32_call, NULL, 39, 0},
    {"sys.unknown-600", unknown_call, NULL, 600, 0},
    {"sys.unknown-1000", unknown_call, NULL, 1000, 0},
    {"sys.setuid-other", becomes, NULL, SYS_setuid, 0},
    {"sys.setresuid-other", becomes, NULL, SYS_setresuid, 0},
    {"sys.setresgid-other", becomes, NULL, SYS_setresgid, 0},
    {"sys.setgroups", sets_groups, NULL, 0, 0},
    {"tty.tiocsti", pushes_input, NULL, TIOCSTI, 0},
    {"tty.tiocsti-high-bits", pushes_input, NULL, 0x100000000L | TIOCSTI, 0},
    {"tty.tioclinux", pushes_input, NULL, TIOCLINUX, 0},
    {"tty.tioclinux-high-bits", pushes_input, NULL, 0x700000000L | TIOCLINUX, 0},
    {"tty.tioccons", pushes_input, NULL, TIOCCONS, 0},
};
PROBE_TABLE(probe_syscalls);
