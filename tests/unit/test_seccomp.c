/* The filter in force: what a child meets, and what must go on working. */
#include "base/banned.h"
#include "confine/seccomp.h"
#include "unit/child.h"
#include "unit/cmocka_all.h"

#include <ifaddrs.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static int load(enum sbox_seccomp_kind kind)
{
    return sbox_seccomp_load(sbox_seccomp_program(kind));
}

static int refusals(void *unused)
{
    (void)unused;
    CHECK(load(SBOX_SECCOMP_COMMAND) == 0);
    CHECK_FAILS(mount("none", "/", NULL, MS_REMOUNT, NULL), EPERM);
    CHECK_FAILS(unshare(CLONE_NEWUSER), EPERM);
    CHECK(unshare(CLONE_FILES) == 0);
    struct clone_args args = {.exit_signal = SIGCHLD};
    CHECK_FAILS(syscall(SYS_clone3, &args, sizeof args), ENOSYS);
    CHECK_FAILS(syscall(SYS_io_uring_setup, 1, NULL), ENOSYS);
    CHECK_FAILS(syscall(SYS_keyctl, 0, -3, 0), EPERM);
    CHECK_FAILS(syscall(SYS_mount_setattr, -1, "", 0, NULL, 0), EPERM);
    CHECK_FAILS(syscall(100000), ENOSYS);
    CHECK_FAILS(socket(AF_VSOCK, SOCK_STREAM, 0), EAFNOSUPPORT);
    CHECK_FAILS(socket(AF_NETLINK, SOCK_RAW, 4), EPROTONOSUPPORT);
    CHECK_FAILS(personality(READ_IMPLIES_EXEC), EPERM);
    /* EBADF is what the kernel would say, before it looks at the command. */
    CHECK_FAILS(syscall(SYS_ioctl, -1, (0xdeadUL << 32) | TIOCSTI, "x"), EPERM);
    CHECK_FAILS(ioctl(-1, TIOCGWINSZ, NULL), EBADF);
    struct rlimit limit = {.rlim_cur = 100, .rlim_max = 100};
    CHECK_FAILS(prlimit(getpid() + 1, RLIMIT_NOFILE, &limit, NULL), EPERM);
    return 0;
}

static void test_refusals_meet_the_caller(void **state)
{
    (void)state;
    assert_int_equal(in_child(refusals, NULL), 0);
}

static void *say_yes(void *ret)
{
    *(int *)ret = 1;
    return NULL;
}

static int trace_a_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        (void)raise(SIGSTOP);
        _exit(7);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
    CHECK(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    return 0;
}

static int everyday(void *unused)
{
    (void)unused;
    CHECK(load(SBOX_SECCOMP_COMMAND) == 0);
    int ran = 0;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, say_yes, &ran) == 0); /* by clone, after ENOSYS */
    CHECK(pthread_join(thread, NULL) == 0 && ran);
    struct ifaddrs *list = NULL;
    CHECK(getifaddrs(&list) == 0); /* routing netlink */
    freeifaddrs(list);
    CHECK(personality(0xffffffff) >= 0);
    CHECK(kill(getpid(), 0) == 0 && kill(0, 0) == 0);
    struct rlimit limit;
    CHECK(prlimit(0, RLIMIT_NOFILE, NULL, &limit) == 0);
    CHECK(prlimit(0, RLIMIT_NOFILE, &limit, NULL) == 0);
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    return trace_a_child();
}

static void test_threads_names_and_debuggers_work(void **state)
{
    (void)state;
    assert_int_equal(in_child(everyday, NULL), 0);
}

static int lower_core(void *unused)
{
    (void)unused;
    struct rlimit limit = {.rlim_cur = 1, .rlim_max = 1};
    CHECK(setrlimit(RLIMIT_CORE, &limit) == 0);
    CHECK(load(SBOX_SECCOMP_COMMAND) == 0);
    limit = (struct rlimit){0};
    CHECK(setrlimit(RLIMIT_CORE, &limit) == 0); /* libc uses prlimit64 */
    CHECK(syscall(SYS_setrlimit, RLIMIT_CORE, &limit) == 0);
    CHECK(getrlimit(RLIMIT_CORE, &limit) == 0);
    CHECK(limit.rlim_cur == 1 && limit.rlim_max == 1);
    return 0;
}

static void test_the_core_limit_cannot_be_lowered(void **state)
{
    (void)state;
    assert_int_equal(in_child(lower_core, NULL), 0);
}

static int group_signal(void *unused)
{
    (void)unused;
    CHECK(load(SBOX_SECCOMP_COMMAND_NOSCOPE) == 0);
    CHECK_FAILS(kill(0, 0), EPERM);
    CHECK(kill(getpid(), 0) == 0);
    return 0;
}

static void test_noscope_refuses_the_callers_group(void **state)
{
    (void)state;
    assert_int_equal(in_child(group_signal, NULL), 0);
}

#if defined(__x86_64__)
static int compat_getpid(void *unused)
{
    (void)unused;
    CHECK(load(SBOX_SECCOMP_COMMAND) == 0);
    long result = 20; /* getpid in the i386 table */
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return 0;
}

static void test_the_32_bit_gate_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(in_child(compat_getpid, NULL), CHILD_KILLED + SIGSYS);
}
#endif

static void test_needs_no_new_privs(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        _exit(become_ordinary() < 0 || load(SBOX_SECCOMP_COMMAND) != -EACCES);
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(sbox_seccomp_probe(), 0);
}

static int probe_changes_nothing(void *unused)
{
    (void)unused;
    CHECK(sbox_seccomp_probe() == 0);
    CHECK(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0);
    return 0;
}

static void test_the_probe_loads_nothing(void **state)
{
    (void)state;
    assert_int_equal(in_child(probe_changes_nothing, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals_meet_the_caller),
        cmocka_unit_test(test_threads_names_and_debuggers_work),
        cmocka_unit_test(test_the_core_limit_cannot_be_lowered),
        cmocka_unit_test(test_noscope_refuses_the_callers_group),
#if defined(__x86_64__)
        cmocka_unit_test(test_the_32_bit_gate_ends_the_process),
#endif
        cmocka_unit_test(test_needs_no_new_privs),
        cmocka_unit_test(test_the_probe_loads_nothing),
    };
    return cmocka_run_group_tests_name("seccomp", tests, NULL, NULL);
}
