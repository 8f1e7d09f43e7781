/* Landlock in force, under each ABI that the running kernel can imitate. */
#include "base/banned.h"
#include "base/cleanup.h"
#include "confine/landlock.h"
#include "unit/child.h"
#include "unit/cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* /tmp/sbox-unit-*: ro/x, rw/{a,b}/, rw/old, none/x; all owned by the ordinary user. */
static char base[] = "/tmp/sbox-unit-XXXXXX";

static int at_base(const char *name, int flags)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", base, name);
    return open(path, flags | O_CLOEXEC, 0644);
}

static int make(const char *name, bool directory)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", base, name);
    int fd = directory ? -1 : open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    int r = directory ? mkdir(path, 0755) : write(fd, "text\n", 5) == 5 ? 0 : -1;
    sbox_close_p(&fd);
    if (r == 0 && geteuid() == 0)
        r = chown(path, ORDINARY_ID, ORDINARY_ID);
    return r;
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(base) || (geteuid() == 0 && chown(base, ORDINARY_ID, ORDINARY_ID) < 0))
        return -1;
    return make("ro", true) | make("ro/x", false) | make("rw", true) | make("rw/a", true) |
           make("rw/b", true) | make("rw/old", false) | make("none", true) | make("none/x", false);
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"ro/x", "ro",   "rw/a/f", "rw/b/f", "rw/old", "rw/fifo",
                                        "rw/a", "rw/b", "rw",     "none/x", "none"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", base, names[i]);
        (void)remove(path);
    }
    return rmdir(base);
}

static int allow_at(struct sbox_landlock *l, const char *path, enum sbox_access access)
{
    _cleanup_close_ int fd =
        path[0] == '/' ? open(path, O_PATH | O_CLOEXEC) : at_base(path, O_PATH);
    return fd < 0 ? -errno : sbox_landlock_allow(l, fd, access);
}

/* The view of these tests. */
static int confine(int abi_cap)
{
    struct sbox_landlock l;
    int r = sbox_landlock_begin(&l, abi_cap);
    if (r < 0)
        return r;
    r = allow_at(&l, "/", SBOX_ACCESS_LIST);
    if (r == 0)
        r = allow_at(&l, "/usr", SBOX_ACCESS_READ);
    if (r == 0)
        r = allow_at(&l, "ro", SBOX_ACCESS_READ);
    if (r == 0)
        r = allow_at(&l, "rw", SBOX_ACCESS_WRITE);
    if (r == 0)
        r = allow_at(&l, "/dev/null", SBOX_ACCESS_DEVICE);
    if (r == 0)
        r = allow_at(&l, "/dev/zero", SBOX_ACCESS_READ); /* on a file: no READ_DIR */
    return r < 0 ? r : sbox_landlock_enforce(&l);
}

static int files(void *cap)
{
    CHECK(confine(*(int *)cap) == 0);
    CHECK(at_base("ro/x", O_RDONLY) >= 0);
    CHECK_FAILS(at_base("ro/x", O_WRONLY), EACCES);
    CHECK_FAILS(at_base("ro/new", O_WRONLY | O_CREAT), EACCES);
    CHECK_FAILS(at_base("none/x", O_RDONLY), EACCES);
    CHECK_FAILS(open("/etc/passwd", O_RDONLY | O_CLOEXEC), EACCES);
    int fd = at_base("rw/a/f", O_RDWR | O_CREAT);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    CHECK(at_base("rw/old", O_WRONLY | O_TRUNC) >= 0);
    DIR *root = opendir("/");
    CHECK(root && readdir(root));
    (void)closedir(root);
    return 0;
}

static int kept_descriptor(void *cap)
{
    int none = at_base("none", O_RDONLY | O_DIRECTORY);
    CHECK(none >= 0);
    CHECK(confine(*(int *)cap) == 0);
    CHECK_FAILS(openat(none, "x", O_RDONLY | O_CLOEXEC), EACCES);
    return 0;
}

static int nodes(void *cap)
{
    CHECK(confine(*(int *)cap) == 0);
    int rw = at_base("rw", O_PATH);
    CHECK(rw >= 0);
    CHECK(mkfifoat(rw, "fifo", 0644) == 0);
    CHECK(unlinkat(rw, "fifo", 0) == 0);
    /* Landlock comes before the capability check, whose error would be EPERM. */
    CHECK_FAILS(mknodat(rw, "char", S_IFCHR | 0644, 0x103), EACCES);
    CHECK_FAILS(mknodat(rw, "block", S_IFBLK | 0644, 0x700), EACCES);
    return 0;
}

static int renames(void *cap)
{
    int abi = *(int *)cap;
    CHECK(confine(abi) == 0);
    int rw = at_base("rw", O_PATH);
    int fd = at_base("rw/a/f", O_WRONLY | O_CREAT);
    CHECK(rw >= 0 && fd >= 0);
    if (abi == 1)
        CHECK_FAILS(renameat(rw, "a/f", rw, "b/f"), EXDEV);
    else
        CHECK(renameat(rw, "a/f", rw, "b/f") == 0);
    return 0;
}

static int truncation(void *cap)
{
    int abi = *(int *)cap;
    int fd = at_base("ro/x", O_RDONLY);
    CHECK(fd >= 0);
    CHECK(confine(abi) == 0);
    char path[128];
    (void)snprintf(path, sizeof path, "%s/ro/x", base);
    if (abi < 3)
        CHECK(truncate(path, 5) == 0); /* only the read-only mount stops it there */
    else
        CHECK_FAILS(truncate(path, 5), EACCES);
    return 0;
}

static int device_ioctls(void *cap)
{
    int abi = *(int *)cap;
    CHECK(confine(abi) == 0);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    CHECK(null >= 0 && zero >= 0);
    CHECK_FAILS(ioctl(null, TCGETS, NULL), ENOTTY);
    CHECK_FAILS(ioctl(zero, TCGETS, NULL), abi < 5 ? ENOTTY : EACCES);
    return 0;
}

/* In memory shared with the parent, which ends the process that the confined child cannot. */
struct signal_test {
    int abi;
    pid_t outside;
};

static pid_t start_waiting(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)pause();
        _exit(0);
    }
    return pid;
}

static int signals(void *argument)
{
    struct signal_test *t = argument;
    t->outside = start_waiting();
    CHECK(confine(t->abi) == 0);
    pid_t inside = start_waiting();
    CHECK(kill(inside, SIGKILL) == 0);
    if (t->abi < 6)
        CHECK(kill(t->outside, 0) == 0);
    else
        CHECK_FAILS(kill(t->outside, 0), EPERM);
    return 0;
}

static int abstract_sockets(void *cap)
{
    int abi = *(int *)cap;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "sbox-unit-%d", getpid());
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(server, (struct sockaddr *)&name, size) == 0 && listen(server, 1) == 0);
    CHECK(confine(abi) == 0);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = connect(client, (struct sockaddr *)&name, size);
    if (abi < 6)
        CHECK(r == 0);
    else
        CHECK_FAILS(r, EPERM);
    return 0;
}

static void on_each_abi(int (*body)(void *))
{
    int newest = sbox_landlock_abi();
    assert_true(newest >= 1);
    for (int abi = 1; abi <= newest; abi++)
        if (in_child(body, &abi) != 0)
            fail_msg("ABI %d", abi);
}

static void test_rules_repeat_the_view(void **state)
{
    (void)state;
    on_each_abi(files);
}

static void test_a_kept_directory_reaches_nothing(void **state)
{
    (void)state;
    on_each_abi(kept_descriptor);
}

static void test_no_device_is_made(void **state)
{
    (void)state;
    on_each_abi(nodes);
}

static void test_rename_needs_abi_2(void **state)
{
    (void)state;
    on_each_abi(renames);
}

static void test_truncate_needs_abi_3(void **state)
{
    (void)state;
    on_each_abi(truncation);
}

static void test_ioctl_needs_abi_5(void **state)
{
    (void)state;
    on_each_abi(device_ioctls);
}

static void test_abstract_sockets_need_abi_6(void **state)
{
    (void)state;
    on_each_abi(abstract_sockets);
}

static void test_signals_need_abi_6(void **state)
{
    (void)state;
    struct signal_test *t =
        mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(t != MAP_FAILED);
    for (t->abi = 1; t->abi <= sbox_landlock_abi(); t->abi++) {
        int r = in_child(signals, t);
        if (t->outside > 0)
            (void)kill(t->outside, SIGKILL);
        if (r != 0)
            fail_msg("ABI %d", t->abi);
    }
    (void)munmap(t, sizeof *t);
}

static int streams(void *unused)
{
    (void)unused;
    struct sbox_landlock l;
    int out = at_base("rw/old", O_WRONLY);
    int in = at_base("ro/x", O_RDONLY);
    int ends[2];
    CHECK(out >= 0 && in >= 0 && pipe2(ends, O_CLOEXEC) == 0);
    CHECK(dup2(in, 0) == 0 && dup2(out, 1) == 1);
    CHECK(sbox_landlock_begin(&l, 0) == 0);
    CHECK(allow_at(&l, "/proc", SBOX_ACCESS_READ) == 0);
    CHECK(sbox_landlock_allow_stream(&l, 0) == 0 && sbox_landlock_allow_stream(&l, 1) == 0);
    CHECK(sbox_landlock_allow_stream(&l, ends[0]) == 0);
    CHECK(sbox_landlock_allow_stream(&l, at_base("none/x", O_PATH)) == 0);
    CHECK(sbox_landlock_allow_stream(&l, at_base("none", O_RDONLY)) == -EISDIR);
    CHECK(sbox_landlock_allow_stream(&l, 9999) == -EBADF);
    CHECK(sbox_landlock_enforce(&l) == 0 && l.fd == -1);
    CHECK(open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC) >= 0);
    CHECK_FAILS(open("/proc/self/fd/0", O_WRONLY | O_CLOEXEC), EACCES);
    CHECK(open("/proc/self/fd/1", O_WRONLY | O_TRUNC | O_CLOEXEC) >= 0);
    CHECK_FAILS(open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC), EACCES);
    CHECK_FAILS(at_base("none/x", O_RDONLY), EACCES);
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    CHECK(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) >= 0);
    return 0;
}

static void test_streams_open_again_in_their_mode(void **state)
{
    (void)state;
    assert_int_equal(in_child(streams, NULL), 0);
}

static void test_rights_of_each_abi(void **state)
{
    (void)state;
    static const uint64_t wanted[] = {0,      0x1fff, 0x3fff, 0x7fff,  0x7fff,  0xffff,
                                      0xffff, 0xffff, 0xffff, 0x1ffff, 0x1ffff, 0x1ffff};
    for (int abi = 0; abi < 12; abi++)
        assert_int_equal(sbox_landlock_rights(abi), wanted[abi]);
    assert_int_equal(sbox_landlock_scopes(5), 0);
    assert_int_equal(sbox_landlock_scopes(6), 3);
    assert_int_equal(sbox_landlock_scopes(99), 3);
}

static void test_begin_reports_what_is_in_force(void **state)
{
    (void)state;
    struct sbox_landlock l;
    assert_int_equal(sbox_landlock_begin(&l, 2), 0);
    assert_int_equal(l.abi, 2);
    assert_int_equal(l.handled, 0x3fff);
    assert_int_equal(l.scoped, 0);
    assert_int_equal(fcntl(l.fd, F_GETFD), FD_CLOEXEC);
    _cleanup_close_ int file = at_base("ro/x", O_PATH);
    assert_int_equal(sbox_landlock_allow(&l, file, SBOX_ACCESS_LIST), -EINVAL);
    assert_int_equal(sbox_landlock_allow(&l, file, SBOX_ACCESS_READ), 0);
    assert_int_equal(sbox_landlock_allow(&l, file, SBOX_ACCESS_WRITE), 0);
    assert_int_equal(sbox_landlock_allow(&l, -1, SBOX_ACCESS_READ), -EBADF);
    sbox_landlock_end(&l);
    assert_int_equal(l.fd, -1);
    sbox_landlock_end(&l);
}

static void test_needs_no_new_privs(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        _exit(become_ordinary() < 0 || confine(0) != -EPERM);
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rights_of_each_abi),
        cmocka_unit_test(test_begin_reports_what_is_in_force),
        cmocka_unit_test(test_rules_repeat_the_view),
        cmocka_unit_test(test_a_kept_directory_reaches_nothing),
        cmocka_unit_test(test_no_device_is_made),
        cmocka_unit_test(test_rename_needs_abi_2),
        cmocka_unit_test(test_truncate_needs_abi_3),
        cmocka_unit_test(test_ioctl_needs_abi_5),
        cmocka_unit_test(test_abstract_sockets_need_abi_6),
        cmocka_unit_test(test_signals_need_abi_6),
        cmocka_unit_test(test_streams_open_again_in_their_mode),
        cmocka_unit_test(test_needs_no_new_privs),
    };
    return cmocka_run_group_tests_name("landlock", tests, set_up, tear_down);
}
