/* What the command may not ask of the kernel: data for seccomp_gen.c, which compiles it. Names are
 * libseccomp's; one that an architecture lacks is left out there.
 *
 * The list holds what leads out of the sandbox (namespaces, mounts), what reaches over the user's
 * other processes (keys, limits, forged signals), and what is a large or young piece of the kernel
 * that no build, test or server needs (bpf, io_uring, userfaultfd ...). Most of it the kernel also
 * refuses for want of a capability; the filter is there for the day when it does not.
 *
 * Looked at and left alone:
 *   ptrace, process_vm_*, pidfd_getfd, kcmp, process_madvise, move_pages: gdb and strace need them
 *     on their own children; init and guard are protected by not being dumpable and by Landlock.
 *   adjtimex, clock_adjtime: reading the clock's state goes through them, and every change wants
 *     CAP_SYS_TIME of the host.
 *   statmount, listmount, name_to_handle_at: they tell what /proc/self/mountinfo tells.
 *   chmod with setuid bits: a file can only become setuid of the user himself, openat2 creates one
 *     from a structure that no filter can read, and refusing setgid breaks `git init --shared`,
 *     `cp -a` and tar. The manifest records these bits, and verify shows them.
 *   memfd_secret, landlock_*, seccomp: they only take away.
 */
#ifndef SBOX_CONFINE_SECCOMP_LIST_H
#define SBOX_CONFINE_SECCOMP_LIST_H

#include <errno.h>
#include <linux/sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/personality.h>
#include <sys/socket.h>

/* The highest system call of Linux 6.18 (file_setattr), on both architectures: their numbers have
 * been the same since 5.1. What comes after it nobody has looked at: ENOSYS, as on an older kernel,
 * and every libc has a fallback for that. Raise it only after reading what was added. */
enum { SBOX_SECCOMP_LAST_KNOWN = 469 };

/* Refused whatever the arguments. */
static const struct {
    const char *name;
    int answer;
} refused[] = {
    /* mounts, old and new: C2, C4, C13 */
    {"mount", EPERM},
    {"umount2", EPERM},
    {"pivot_root", EPERM},
    {"chroot", EPERM},
    {"open_tree", EPERM},
    {"move_mount", EPERM},
    {"fsopen", EPERM},
    {"fsconfig", EPERM},
    {"fsmount", EPERM},
    {"fspick", EPERM},
    {"mount_setattr", EPERM},
    {"setns", EPERM},
    /* Its flags lie in memory, where a filter cannot look. With ENOSYS every libc and Go's runtime
     * make threads by clone; EPERM would be taken for a verdict. */
    {"clone3", ENOSYS},
    /* io_uring does file and socket work that no filter sees. libuv and others take ENOSYS for an
     * old kernel and fall back. */
    {"io_uring_setup", ENOSYS},
    {"io_uring_enter", ENOSYS},
    {"io_uring_register", ENOSYS},
    {"bpf", EPERM},
    {"perf_event_open", EPERM},
    {"userfaultfd", EPERM},
    {"fanotify_init", EPERM},
    /* the user's keys: keyrings are not namespaced */
    {"add_key", EPERM},
    {"request_key", EPERM},
    {"keyctl", EPERM},
    /* files by handle, past every path rule */
    {"open_by_handle_at", EPERM},
    {"lookup_dcookie", EPERM},
    {"nfsservctl", EPERM},
    /* the machine */
    {"kexec_load", EPERM},
    {"kexec_file_load", EPERM},
    {"init_module", EPERM},
    {"finit_module", EPERM},
    {"delete_module", EPERM},
    {"create_module", EPERM},
    {"reboot", EPERM},
    {"swapon", EPERM},
    {"swapoff", EPERM},
    {"acct", EPERM},
    {"quotactl", EPERM},
    {"quotactl_fd", EPERM},
    {"settimeofday", EPERM},
    {"clock_settime", EPERM},
    {"sethostname", EPERM},
    {"setdomainname", EPERM},
    {"syslog", EPERM},
    {"vhangup", EPERM},
    {"iopl", EPERM},
    {"ioperm", EPERM},
    {"uselib", ENOSYS},
    {"modify_ldt", ENOSYS}, /* as CONFIG_MODIFY_LDT_SYSCALL=n; 32-bit programs are refused anyway */
};

/* The same, newer than the libseccomp of Debian 12, which has no name for them. */
static const struct {
    uint32_t number;
    int answer;
} refused_numbers[] = {
    {467, EPERM}, /* open_tree_attr, 6.15 */
};

/* Only these values of the low 32 bits of an argument are allowed. */
enum { ALLOWED_VALUES = 6 };
static const struct {
    const char *name;
    unsigned argument;
    int answer;
    unsigned count;
    uint32_t values[ALLOWED_VALUES];
} allowed_values[] = {
    /* A family that is not there is what programs expect to meet and cope with: hence not EPERM.
     * Netlink and raw sockets are narrowed below. */
    {"socket", 0, EAFNOSUPPORT, 4, {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}},
    {"socketpair", 0, EAFNOSUPPORT, 1, {AF_UNIX}},
    /* Linux, a 32-bit uname, both with the fixed addresses that gdb wants, and the question. Not
     * READ_IMPLIES_EXEC, MMAP_PAGE_ZERO and other weakening. */
    {"personality",
     0,
     EPERM,
     5,
     {PER_LINUX, PER_LINUX32, ADDR_NO_RANDOMIZE, PER_LINUX32 | ADDR_NO_RANDOMIZE, 0xffffffff}},
};

/* Refused when any of these bits is set in the low half of an argument. Namespaces: the flags are
 * argument 0 on both architectures. Threads, vfork and unshare(CLONE_FILES) are untouched. */
#define NAMESPACES                                                                                \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
     CLONE_NEWNET)
static const struct {
    const char *name;
    unsigned argument;
    int answer;
    uint32_t bits;
} refused_bits[] = {
    {"clone", 0, EPERM, NAMESPACES}, /* NEWTIME, 0x80, is part of the exit signal here */
    {"unshare", 0, EPERM, NAMESPACES | CLONE_NEWTIME},
};

/* Refused when up to three arguments match. MASKED compares the low bits under `mask`, so that
 * garbage in the high half, which the kernel drops for an int, does not get past. */
enum compare { NONE = 0, MASKED, DIFFERS, EQUAL };
struct match {
    enum compare how;
    unsigned argument;
    uint64_t mask; /* MASKED only */
    uint64_t value;
};

enum { RULE_MATCHES = 3 };
struct rule {
    const char *name;
    int answer; /* 0: the call succeeds and does nothing */
    bool noscope_only;
    struct match match[RULE_MATCHES];
};

/* Written out: the same on both architectures, which the build machine's headers need not be. */
enum {
    LOW32_TIOCSTI = 0x5412,
    LOW32_TIOCSETD = 0x5423,
    LOW32_TIOCLINUX = 0x541c,
    SOCK_TYPE_BITS = 0xf,
    NETLINK_ROUTE_PROTOCOL = 0,
    RESOURCE_CORE = 4,
    PIDFD_SIGNAL_PROCESS_GROUP_FLAG = 1 << 2, /* 6.9 */
    INIT = 1,
};
#define LOW32 UINT64_C(0xffffffff)

/* The formatter takes initialisers in macros for blocks. */
/* clang-format off */
#define HAS_FLAG(arg, flag)    {MASKED, arg, (flag), (flag)}
#define IS(arg, value)         {MASKED, arg, LOW32, (value)}
#define IS_NOT(arg, value)     {DIFFERS, arg, 0, (value)}
#define IS_EXACTLY(arg, value) {EQUAL, arg, 0, (value)}

#define IOCTL_RULE(command) {"ioctl", EPERM, false, {IS(1, command)}}
#define INET_TYPE(family, type) \
    {"socket", EPERM, false, {IS(0, family), {MASKED, 1, SOCK_TYPE_BITS, type}}}
/* clang-format on */

static const struct rule rules[] = {
    /* Sockets: routing netlink is what getifaddrs uses, with type RAW; other protocols reach the
     * kernel's configuration. For the internet TCP and UDP only. */
    {"socket", EPROTONOSUPPORT, false, {IS(0, AF_NETLINK), IS_NOT(2, NETLINK_ROUTE_PROTOCOL)}},
    INET_TYPE(AF_INET, SOCK_RAW),
    INET_TYPE(AF_INET, SOCK_SEQPACKET),
    INET_TYPE(AF_INET, SOCK_DCCP),
    INET_TYPE(AF_INET, SOCK_PACKET),
    INET_TYPE(AF_INET6, SOCK_RAW),
    INET_TYPE(AF_INET6, SOCK_SEQPACKET),
    INET_TYPE(AF_INET6, SOCK_DCCP),

    /* The terminal is the caller's: TIOCSTI types into it, TIOCLINUX pastes into a console,
     * TIOCSETD puts a line discipline on it. */
    IOCTL_RULE(LOW32_TIOCSTI),
    IOCTL_RULE(LOW32_TIOCLINUX),
    IOCTL_RULE(LOW32_TIOCSETD),

    /* Limits of another process: with RLIMIT_NOFILE 0 init could no longer put a mask back (C33).
     * libc passes 0 for one's own; reading is free. */
    {"prlimit64", EPERM, false, {IS_NOT(0, 0), IS_NOT(2, 0)}},
    /* A core limit of 0 would bring the host's crash handler back (rlimit.c). gpg and ssh-agent
     * set it and exit when they cannot, and what they want is the case already: success. */
    {"prlimit64", 0, false, {IS_EXACTLY(0, 0), IS(1, RESOURCE_CORE), IS_NOT(2, 0)}},
    {"setrlimit", 0, false, {IS(0, RESOURCE_CORE)}},

    /* Signals to init with a sender of one's own invention (C33). kill(1, ...) carries the truth
     * and init ignores it. */
    {"rt_sigqueueinfo", EPERM, false, {IS(0, INIT)}},
    {"rt_tgsigqueueinfo", EPERM, false, {IS(0, INIT)}},
    {"pidfd_open", EPERM, false, {IS(0, INIT)}},

    /* Without Landlock's signal scope (C16): the process group is the one of the caller's job,
     * whose other members live outside. */
    {"kill", EPERM, true, {IS(0, 0)}},
    {"pidfd_send_signal", EPERM, true, {HAS_FLAG(3, PIDFD_SIGNAL_PROCESS_GROUP_FLAG)}},
};

#endif
