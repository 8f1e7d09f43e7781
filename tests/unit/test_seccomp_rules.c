/* The filters of both architectures, run by a small interpreter: (architecture, number,
 * arguments) -> action. Numbers are written out here, from the kernel's tables, and not taken from
 * libseccomp, which made the filters. */
#include "base/banned.h"
#include "confine/seccomp.h"
#include "unit/cmocka_all.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { LAST_KNOWN = 469, NOWHERE = -1 };
#define GARBAGE     (UINT64_C(0xdead) << 32) /* high half, dropped by the kernel for an int */
#define DENY(error) (SECCOMP_RET_ERRNO | (uint32_t)(error))
#define SUCCEED     DENY(0)
#define ALLOW       SECCOMP_RET_ALLOW

static const uint32_t audit_arch[] = {
    [SBOX_SECCOMP_X86_64] = AUDIT_ARCH_X86_64,
    [SBOX_SECCOMP_AARCH64] = AUDIT_ARCH_AARCH64,
};

static uint32_t load(const struct seccomp_data *data, uint32_t offset)
{
    uint32_t word;
    assert_true(offset % 4 == 0 && offset + sizeof word <= sizeof *data);
    memcpy(&word, (const char *)data + offset, sizeof word);
    return word;
}

static bool holds(uint16_t code, uint32_t a, uint32_t k)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return a == k;
    case BPF_JGT:
        return a > k;
    case BPF_JGE:
        return a >= k;
    case BPF_JSET:
        return (a & k) != 0;
    default:
        fail_msg("jump 0x%x", code);
        return false;
    }
}

static uint32_t run(const struct sbox_seccomp_program *p, const struct seccomp_data *data)
{
    uint32_t a = 0;
    for (size_t pc = 0; pc < p->length; pc++) {
        const struct sock_filter *i = &p->code[pc];
        if (i->code == (BPF_LD | BPF_W | BPF_ABS))
            a = load(data, i->k);
        else if (i->code == (BPF_ALU | BPF_AND | BPF_K))
            a &= i->k;
        else if (i->code == (BPF_RET | BPF_K))
            return i->k;
        else if (i->code == (BPF_JMP | BPF_JA))
            pc += i->k;
        else if (BPF_CLASS(i->code) == BPF_JMP && BPF_SRC(i->code) == BPF_K)
            pc += holds(i->code, a, i->k) ? i->jt : i->jf;
        else
            fail_msg("instruction 0x%x at %zu", i->code, pc);
    }
    fail_msg("ran off the end");
    return 0;
}

static uint32_t ask(enum sbox_seccomp_arch arch, enum sbox_seccomp_kind kind, int nr,
                    const uint64_t args[6])
{
    struct seccomp_data data = {.nr = nr, .arch = audit_arch[arch]};
    memcpy(data.args, args, sizeof data.args);
    return run(sbox_seccomp_program_for(arch, kind), &data);
}

/* Refused whatever the arguments; the rest of the numbers is not (test_nothing_else_is_refused). */
static const struct {
    const char *name;
    int x86_64;
    int aarch64;
    int answer;
} always[] = {
    {"mount", 165, 40, EPERM},
    {"umount2", 166, 39, EPERM},
    {"pivot_root", 155, 41, EPERM},
    {"chroot", 161, 51, EPERM},
    {"open_tree", 428, 428, EPERM},
    {"move_mount", 429, 429, EPERM},
    {"fsopen", 430, 430, EPERM},
    {"fsconfig", 431, 431, EPERM},
    {"fsmount", 432, 432, EPERM},
    {"fspick", 433, 433, EPERM},
    {"mount_setattr", 442, 442, EPERM},
    {"open_tree_attr", 467, 467, EPERM},
    {"setns", 308, 268, EPERM},
    {"clone3", 435, 435, ENOSYS},
    {"io_uring_setup", 425, 425, ENOSYS},
    {"io_uring_enter", 426, 426, ENOSYS},
    {"io_uring_register", 427, 427, ENOSYS},
    {"bpf", 321, 280, EPERM},
    {"perf_event_open", 298, 241, EPERM},
    {"userfaultfd", 323, 282, EPERM},
    {"fanotify_init", 300, 262, EPERM},
    {"add_key", 248, 217, EPERM},
    {"request_key", 249, 218, EPERM},
    {"keyctl", 250, 219, EPERM},
    {"open_by_handle_at", 304, 265, EPERM},
    {"lookup_dcookie", 212, 18, EPERM},
    {"nfsservctl", 180, 42, EPERM},
    {"kexec_load", 246, 104, EPERM},
    {"kexec_file_load", 320, 294, EPERM},
    {"create_module", 174, NOWHERE, EPERM},
    {"init_module", 175, 105, EPERM},
    {"finit_module", 313, 273, EPERM},
    {"delete_module", 176, 106, EPERM},
    {"reboot", 169, 142, EPERM},
    {"swapon", 167, 224, EPERM},
    {"swapoff", 168, 225, EPERM},
    {"acct", 163, 89, EPERM},
    {"quotactl", 179, 60, EPERM},
    {"quotactl_fd", 443, 443, EPERM},
    {"settimeofday", 164, 170, EPERM},
    {"clock_settime", 227, 112, EPERM},
    {"sethostname", 170, 161, EPERM},
    {"setdomainname", 171, 162, EPERM},
    {"syslog", 103, 116, EPERM},
    {"vhangup", 153, 58, EPERM},
    {"iopl", 172, NOWHERE, EPERM},
    {"ioperm", 173, NOWHERE, EPERM},
    {"uselib", 134, NOWHERE, ENOSYS},
    {"modify_ldt", 154, NOWHERE, ENOSYS},
};

/* What depends on arguments. */
static const struct row {
    const char *name;
    int x86_64;
    int aarch64;
    uint64_t args[6];
    uint32_t action;
    uint32_t noscope_action; /* 0: the same */
} rows[] = {
    {"clone thread", 56, 220, {0x3d0f00}, ALLOW, 0},
    {"clone vfork", 56, 220, {0x4111}, ALLOW, 0},
    {"clone NEWTIME is a signal number there", 56, 220, {0x80}, ALLOW, 0},
    {"clone NEWNS", 56, 220, {0x00020011}, DENY(EPERM), 0},
    {"clone NEWCGROUP", 56, 220, {0x02000011}, DENY(EPERM), 0},
    {"clone NEWUTS", 56, 220, {0x04000011}, DENY(EPERM), 0},
    {"clone NEWIPC", 56, 220, {0x08000011}, DENY(EPERM), 0},
    {"clone NEWUSER", 56, 220, {0x10000011}, DENY(EPERM), 0},
    {"clone NEWPID", 56, 220, {0x20000011}, DENY(EPERM), 0},
    {"clone NEWNET", 56, 220, {0x40000011}, DENY(EPERM), 0},
    {"clone NEWUSER and garbage", 56, 220, {GARBAGE | 0x10000011}, DENY(EPERM), 0},
    {"clone stack may look like a flag", 56, 220, {0x11, 0x10000000, 0x20000000}, ALLOW, 0},
    {"unshare FILES", 272, 97, {0x400}, ALLOW, 0},
    {"unshare NEWNS", 272, 97, {0x00020000}, DENY(EPERM), 0},
    {"unshare NEWTIME", 272, 97, {0x80}, DENY(EPERM), 0},
    {"unshare NEWUSER NEWPID", 272, 97, {0x30000000}, DENY(EPERM), 0},
    {"unshare NEWNET and garbage", 272, 97, {GARBAGE | 0x40000000}, DENY(EPERM), 0},
    {"unshare NEWCGROUP", 272, 97, {0x02000000}, DENY(EPERM), 0},
    {"unshare NEWUTS", 272, 97, {0x04000000}, DENY(EPERM), 0},
    {"unshare NEWIPC", 272, 97, {0x08000000}, DENY(EPERM), 0},

    {"socket unix", 41, 198, {AF_UNIX, SOCK_STREAM}, ALLOW, 0},
    {"socket unix raw is datagram", 41, 198, {AF_UNIX, SOCK_RAW}, ALLOW, 0},
    {"socket inet tcp cloexec", 41, 198, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 6}, ALLOW, 0},
    {"socket inet udp", 41, 198, {AF_INET, SOCK_DGRAM, 17}, ALLOW, 0},
    {"socket inet mptcp", 41, 198, {AF_INET, SOCK_STREAM, 262}, ALLOW, 0},
    {"socket inet6 tcp", 41, 198, {AF_INET6, SOCK_STREAM}, ALLOW, 0},
    {"socket inet and garbage", 41, 198, {GARBAGE | AF_INET, SOCK_STREAM}, ALLOW, 0},
    {"socket inet raw", 41, 198, {AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1}, DENY(EPERM), 0},
    {"socket inet raw, garbage", 41, 198, {GARBAGE | AF_INET, GARBAGE | SOCK_RAW}, DENY(EPERM), 0},
    {"socket inet packet", 41, 198, {AF_INET, SOCK_PACKET, 0x300}, DENY(EPERM), 0},
    {"socket inet sctp", 41, 198, {AF_INET, SOCK_SEQPACKET}, DENY(EPERM), 0},
    {"socket inet6 raw", 41, 198, {AF_INET6, SOCK_RAW, 58}, DENY(EPERM), 0},
    {"socket inet6 dccp", 41, 198, {AF_INET6, SOCK_DCCP}, DENY(EPERM), 0},
    {"socket netlink route", 41, 198, {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0}, ALLOW, 0},
    {"socket netlink diag", 41, 198, {AF_NETLINK, SOCK_RAW, 4}, DENY(EPROTONOSUPPORT), 0},
    {"socket netlink audit", 41, 198, {AF_NETLINK, SOCK_RAW, 9}, DENY(EPROTONOSUPPORT), 0},
    {"socket unspec", 41, 198, {AF_UNSPEC}, DENY(EAFNOSUPPORT), 0},
    {"socket packet", 41, 198, {AF_PACKET, SOCK_RAW}, DENY(EAFNOSUPPORT), 0},
    {"socket alg", 41, 198, {AF_ALG, SOCK_SEQPACKET}, DENY(EAFNOSUPPORT), 0},
    {"socket vsock", 41, 198, {AF_VSOCK, SOCK_STREAM}, DENY(EAFNOSUPPORT), 0},
    {"socket vsock and garbage", 41, 198, {GARBAGE | AF_VSOCK}, DENY(EAFNOSUPPORT), 0},
    {"socket bluetooth", 41, 198, {AF_BLUETOOTH, SOCK_RAW}, DENY(EAFNOSUPPORT), 0},
    {"socket xdp", 41, 198, {44, SOCK_RAW}, DENY(EAFNOSUPPORT), 0},
    {"socketpair unix", 53, 199, {AF_UNIX, SOCK_STREAM}, ALLOW, 0},
    {"socketpair tipc", 53, 199, {30, SOCK_STREAM}, DENY(EAFNOSUPPORT), 0},

    {"personality linux", 135, 92, {0}, ALLOW, 0},
    {"personality ask", 135, 92, {0xffffffff}, ALLOW, 0},
    {"personality ask, 64 bits", 135, 92, {UINT64_MAX}, ALLOW, 0},
    {"personality linux32", 135, 92, {8}, ALLOW, 0},
    {"personality no randomize", 135, 92, {0x0040000}, ALLOW, 0},
    {"personality read implies exec", 135, 92, {0x0400000}, DENY(EPERM), 0},
    {"personality the same, bit 31", 135, 92, {0x80400000}, DENY(EPERM), 0},
    {"personality mmap page zero", 135, 92, {0x0140000}, DENY(EPERM), 0},

    {"ioctl TIOCGWINSZ", 16, 29, {0, 0x5413}, ALLOW, 0},
    {"ioctl TIOCSTI", 16, 29, {0, 0x5412}, DENY(EPERM), 0},
    {"ioctl TIOCSTI and garbage", 16, 29, {0, GARBAGE | 0x5412}, DENY(EPERM), 0},
    {"ioctl TIOCLINUX", 16, 29, {0, GARBAGE | 0x541c}, DENY(EPERM), 0},
    {"ioctl TIOCSETD", 16, 29, {0, 0x5423}, DENY(EPERM), 0},
    {"ioctl a pointer like TIOCSTI", 16, 29, {0x5412, 0x5401, 0x5412}, ALLOW, 0},

    {"prlimit own get", 302, 261, {0, 7, 0, 0x7fff0000}, ALLOW, 0},
    {"prlimit own set", 302, 261, {0, 7, 0x7fff0000}, ALLOW, 0},
    {"prlimit other get", 302, 261, {1, 7, 0, 0x7fff0000}, ALLOW, 0},
    {"prlimit other set", 302, 261, {1, 7, 0x7fff0000}, DENY(EPERM), 0},
    {"prlimit other set, high pointer", 302, 261, {77, 7, UINT64_C(1) << 32}, DENY(EPERM), 0},
    {"prlimit other core", 302, 261, {1, 4, 0x7fff0000}, DENY(EPERM), 0},
    {"prlimit own, garbage", 302, 261, {GARBAGE, 7, 0x7fff0000}, DENY(EPERM), 0},
    {"prlimit own core get", 302, 261, {0, 4, 0, 0x7fff0000}, ALLOW, 0},
    {"prlimit own core set", 302, 261, {0, 4, 0x7fff0000}, SUCCEED, 0},
    {"prlimit own core set, garbage", 302, 261, {0, GARBAGE | 4, 0x7fff0000}, SUCCEED, 0},
    {"prlimit own core, high pointer", 302, 261, {0, 4, UINT64_C(1) << 32}, SUCCEED, 0},
    {"setrlimit core", 160, 164, {4, 0x7fff0000}, SUCCEED, 0},
    {"setrlimit core, garbage", 160, 164, {GARBAGE | 4, 0x7fff0000}, SUCCEED, 0},
    {"setrlimit nofile", 160, 164, {7, 0x7fff0000}, ALLOW, 0},
    {"getrlimit core", 97, 163, {4, 0x7fff0000}, ALLOW, 0},

    {"rt_sigqueueinfo init", 129, 138, {1, 10}, DENY(EPERM), 0},
    {"rt_sigqueueinfo init, garbage", 129, 138, {GARBAGE | 1, 10}, DENY(EPERM), 0},
    {"rt_sigqueueinfo other", 129, 138, {77, 10}, ALLOW, 0},
    {"rt_tgsigqueueinfo init", 297, 240, {1, 1, 10}, DENY(EPERM), 0},
    {"rt_tgsigqueueinfo other", 297, 240, {77, 77, 10}, ALLOW, 0},
    {"pidfd_open init", 434, 434, {1}, DENY(EPERM), 0},
    {"pidfd_open other", 434, 434, {77}, ALLOW, 0},
    {"kill group", 62, 129, {0, 9}, ALLOW, DENY(EPERM)},
    {"kill group, garbage", 62, 129, {GARBAGE, 9}, ALLOW, DENY(EPERM)},
    {"kill one", 62, 129, {77, 9}, ALLOW, 0},
    {"kill all of the namespace", 62, 129, {0xffffffff, 9}, ALLOW, 0},
    {"pidfd_send_signal", 424, 424, {5, 9, 0, 0}, ALLOW, 0},
    {"pidfd_send_signal group", 424, 424, {5, 9, 0, 4}, ALLOW, DENY(EPERM)},

    {"read", 0, 63, {0}, ALLOW, 0},
    {"openat", 257, 56, {0}, ALLOW, 0},
    {"execve", 59, 221, {0}, ALLOW, 0},
    {"mmap", 9, 222, {0}, ALLOW, 0},
    {"fork", 57, NOWHERE, {0}, ALLOW, 0},
    {"ptrace", 101, 117, {0}, ALLOW, 0},
    {"process_vm_readv", 310, 270, {77}, ALLOW, 0},
    {"seccomp", 317, 277, {1}, ALLOW, 0},
    {"landlock_restrict_self", 446, 446, {3}, ALLOW, 0},
    {"fchmod setuid", 91, 52, {3, 04755}, ALLOW, 0},
    {"file_setattr", 469, 469, {0}, ALLOW, 0},
    {"after the last known", 470, 470, {0}, DENY(ENOSYS), 0},
    {"far after", 99999, 99999, {0}, DENY(ENOSYS), 0},
    {"x32 read", 0x40000000, NOWHERE, {0}, DENY(ENOSYS), 0},
    {"x32 mount", 0x40000000 + 165, NOWHERE, {0}, DENY(ENOSYS), 0},
};

static int number_in(enum sbox_seccomp_arch arch, int x86_64, int aarch64)
{
    return arch == SBOX_SECCOMP_X86_64 ? x86_64 : aarch64;
}

static void expect(enum sbox_seccomp_arch arch, enum sbox_seccomp_kind kind, const char *name,
                   uint32_t got, uint32_t wanted)
{
    if (got != wanted)
        fail_msg("%s (architecture %d, kind %d): 0x%x, not 0x%x", name, arch, kind, got, wanted);
}

typedef void (*check)(enum sbox_seccomp_arch arch, enum sbox_seccomp_kind kind);

static void on_each_program(check f)
{
    for (enum sbox_seccomp_arch arch = 0; arch <= SBOX_SECCOMP_AARCH64; arch++)
        for (enum sbox_seccomp_kind kind = 0; kind <= SBOX_SECCOMP_COMMAND_NOSCOPE; kind++)
            f(arch, kind);
}

static void check_always(enum sbox_seccomp_arch arch, enum sbox_seccomp_kind kind)
{
    const uint64_t zeros[6] = {0};
    const uint64_t ones[6] = {1, 1, 1, 1, 1, 1};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        int nr = number_in(arch, always[i].x86_64, always[i].aarch64);
        if (nr == NOWHERE)
            continue;
        expect(arch, kind, always[i].name, ask(arch, kind, nr, zeros), DENY(always[i].answer));
        expect(arch, kind, always[i].name, ask(arch, kind, nr, ones), DENY(always[i].answer));
    }
}

static void test_refused_whatever_the_arguments(void **state)
{
    (void)state;
    on_each_program(check_always);
}

static void check_rows(enum sbox_seccomp_arch arch, enum sbox_seccomp_kind kind)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        int nr = number_in(arch, row->x86_64, row->aarch64);
        if (nr == NOWHERE)
            continue;
        uint32_t wanted = kind == SBOX_SECCOMP_COMMAND_NOSCOPE && row->noscope_action
                              ? row->noscope_action
                              : row->action;
        expect(arch, kind, row->name, ask(arch, kind, nr, row->args), wanted);
    }
}

static void test_decided_by_arguments(void **state)
{
    (void)state;
    on_each_program(check_rows);
}

static bool is_always(enum sbox_seccomp_arch arch, int nr)
{
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (number_in(arch, always[i].x86_64, always[i].aarch64) == nr)
            return true;
    return false;
}

static bool is_in_rows(enum sbox_seccomp_arch arch, int nr)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (number_in(arch, rows[i].x86_64, rows[i].aarch64) == nr)
            return true;
    return false;
}

static void check_the_rest(enum sbox_seccomp_arch arch, enum sbox_seccomp_kind kind)
{
    const uint64_t small[6] = {1, 4, 1, 4, 1, 4};
    const uint64_t large[6] = {UINT64_MAX, UINT64_MAX, UINT64_MAX,
                               UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (int nr = 0; nr <= LAST_KNOWN; nr++) {
        if (is_always(arch, nr) || is_in_rows(arch, nr))
            continue;
        expect(arch, kind, "not listed", ask(arch, kind, nr, small), ALLOW);
        expect(arch, kind, "not listed", ask(arch, kind, nr, large), ALLOW);
    }
}

static void test_nothing_else_is_refused(void **state)
{
    (void)state;
    on_each_program(check_the_rest);
}

static void check_foreign(enum sbox_seccomp_arch arch, enum sbox_seccomp_kind kind)
{
    const uint32_t foreign[] = {
        AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_RISCV64, 0,
        audit_arch[arch == SBOX_SECCOMP_X86_64 ? SBOX_SECCOMP_AARCH64 : SBOX_SECCOMP_X86_64]};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        struct seccomp_data data = {.nr = 0, .arch = foreign[i]};
        expect(arch, kind, "foreign", run(sbox_seccomp_program_for(arch, kind), &data),
               SECCOMP_RET_KILL_PROCESS);
    }
}

static void test_other_architectures_end_the_process(void **state)
{
    (void)state;
    on_each_program(check_foreign);
}

static void check_skip(enum sbox_seccomp_arch arch, enum sbox_seccomp_kind kind)
{
    const uint64_t zeros[6] = {0};
    expect(arch, kind, "-1", ask(arch, kind, -1, zeros), ALLOW);
}

static void test_a_debugger_may_skip_a_call(void **state)
{
    (void)state;
    on_each_program(check_skip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_whatever_the_arguments),
        cmocka_unit_test(test_decided_by_arguments),
        cmocka_unit_test(test_nothing_else_is_refused),
        cmocka_unit_test(test_other_architectures_end_the_process),
        cmocka_unit_test(test_a_debugger_may_skip_a_call),
    };
    return cmocka_run_group_tests_name("seccomp rules", tests, NULL, NULL);
}
