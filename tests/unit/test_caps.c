/* Capabilities in a user namespace of the child's own, where an ordinary user holds them all; and
 * limits. */
#include "base/banned.h"
#include "confine/caps.h"
#include "confine/rlimit.h"
#include "unit/child.h"
#include "unit/cmocka_all.h"

#include <linux/securebits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

static const uint64_t some = SBOX_CAP(CAP_SYS_ADMIN) | SBOX_CAP(CAP_SETPCAP);

/* As the sandbox's init after clone: all capabilities, some inheritable and ambient. */
static int gain_all(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || syscall(SYS_capget, &header, data) < 0)
        return -1;
    data[0].inheritable = data[0].permitted;
    if (syscall(SYS_capset, &header, data) < 0)
        return -1;
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0);
}

static int drop_all(void *unused)
{
    (void)unused;
    struct sbox_caps caps;
    CHECK(gain_all() == 0);
    CHECK(sbox_caps_read(&caps) == 0);
    CHECK((caps.effective & some) == some && (caps.bounding & some) == some);
    CHECK((caps.inheritable & some) == some && caps.ambient == SBOX_CAP(CAP_SYS_ADMIN));
    CHECK(sbox_caps_drop_all() == 0);
    CHECK(sbox_caps_read(&caps) == 0);
    CHECK(!caps.effective && !caps.permitted && !caps.inheritable && !caps.bounding &&
          !caps.ambient);
    CHECK_FAILS(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), EPERM);
    CHECK(sbox_caps_drop_all() == 0); /* nothing left to do is no error */
    return 0;
}

static void test_nothing_is_left(void **state)
{
    (void)state;
    assert_int_equal(in_child(drop_all, NULL), 0);
}

static int securebits(void *unused)
{
    (void)unused;
    const int locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                       SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                       SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    CHECK(gain_all() == 0);
    CHECK(sbox_caps_keep(some) == 0);
    CHECK(prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == locked);
    CHECK_FAILS(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0), EPERM); /* in spite of CAP_SETPCAP */
    return 0;
}

static void test_secure_bits_are_locked(void **state)
{
    (void)state;
    assert_int_equal(in_child(securebits, NULL), 0);
}

static int keep_some(void *unused)
{
    (void)unused;
    struct sbox_caps caps;
    CHECK(gain_all() == 0);
    CHECK(sbox_caps_keep(some) == 0);
    CHECK(sbox_caps_read(&caps) == 0);
    CHECK(caps.effective == some && caps.permitted == some && caps.bounding == some);
    CHECK(!caps.inheritable && !caps.ambient);
    CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    CHECK(sbox_caps_drop_all() == 0);
    CHECK(sbox_caps_read(&caps) == 0 && !caps.bounding && !caps.permitted);
    return 0;
}

static void test_some_are_kept_and_given_up_later(void **state)
{
    (void)state;
    assert_int_equal(in_child(keep_some, NULL), 0);
}

static int keep_without_setpcap(void *unused)
{
    (void)unused;
    CHECK(gain_all() == 0);
    CHECK(sbox_caps_keep(SBOX_CAP(CAP_SYS_ADMIN)) == 0);
    CHECK(sbox_caps_drop_all() == -EPERM); /* says so, and does not half succeed in silence */
    return 0;
}

static void test_dropping_needs_setpcap(void **state)
{
    (void)state;
    assert_int_equal(in_child(keep_without_setpcap, NULL), 0);
}

static int no_core(void *unused)
{
    (void)unused;
    struct rlimit limit = {.rlim_cur = 0, .rlim_max = 4096};
    CHECK(setrlimit(RLIMIT_CORE, &limit) == 0);
    CHECK(sbox_rlimit_no_core() == 0);
    CHECK(getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 1 && limit.rlim_max == 1);
    CHECK(sbox_rlimit_no_core() == 0);
    limit = (struct rlimit){0};
    CHECK(setrlimit(RLIMIT_CORE, &limit) == 0);
    CHECK(sbox_rlimit_no_core() == 1);
    return 0;
}

static void test_core_limit_is_the_one_that_stops_handlers(void **state)
{
    (void)state;
    assert_int_equal(in_child(no_core, NULL), 0);
}

static int nofile(void *unused)
{
    (void)unused;
    struct rlimit saved;
    struct rlimit limit = {.rlim_cur = 64, .rlim_max = 128};
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(sbox_rlimit_raise_nofile(&saved) == 0);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 128);
    CHECK(sbox_rlimit_restore_nofile(&saved) == 0);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(limit.rlim_cur == 64 && limit.rlim_max == 128);
    return 0;
}

static void test_descriptor_limit_is_raised_and_given_back(void **state)
{
    (void)state;
    assert_int_equal(in_child(nofile, NULL), 0);
}

static int undumpable(void *unused)
{
    (void)unused;
    CHECK(sbox_set_undumpable() == 0);
    CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
    return 0;
}

static void test_undumpable(void **state)
{
    (void)state;
    assert_int_equal(in_child(undumpable, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_left),
        cmocka_unit_test(test_secure_bits_are_locked),
        cmocka_unit_test(test_some_are_kept_and_given_up_later),
        cmocka_unit_test(test_dropping_needs_setpcap),
        cmocka_unit_test(test_core_limit_is_the_one_that_stops_handlers),
        cmocka_unit_test(test_descriptor_limit_is_raised_and_given_back),
        cmocka_unit_test(test_undumpable),
    };
    return cmocka_run_group_tests_name("caps", tests, NULL, NULL);
}
