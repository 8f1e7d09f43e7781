#include "base/cleanup.h"
#include "base/fd.h"
#include "project/lease.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* A child that holds the lease until it is killed. Returns once it has it. */
static pid_t hold(const struct scratch *s, bool exclusive, const char *verb)
{
    int ready[2];
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char ok = sbox_lease_acquire(s->fd, exclusive, verb, 0, NULL) >= 0 ? 'y' : 'n';
        if (write(ready[1], &ok, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char answer = 'n';
    close(ready[1]);
    assert_int_equal(sbox_read_full(ready[0], &answer, 1), 1);
    close(ready[0]);
    assert_int_equal(answer, 'y');
    return pid;
}

static void end(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_shared_with_shared_only(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    pid_t holder = hold(s, false, "run");
    _cleanup_close_ int fd = sbox_lease_acquire(s->fd, false, "verify", 0, &err);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(sbox_lease_acquire(s->fd, true, "lock", 0, &err), -EBUSY);
    end(holder);
}

static void test_names_the_holder(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    char expected[64];
    pid_t holder = hold(s, true, "lock");
    assert_int_equal(sbox_lease_acquire(s->fd, false, "run", 1, &err), -EBUSY);
    (void)snprintf(expected, sizeof expected,
                   "the project is busy: sbox lock (pid %d) has held it for ", (int)holder);
    assert_memory_equal(err.message, expected, strlen(expected));
    assert_int_equal(err.code, EBUSY);
    end(holder);
}

static void test_dies_with_its_process(void **state)
{
    struct scratch *s = *state;
    end(hold(s, true, "lock"));
    _cleanup_close_ int fd = sbox_lease_acquire(s->fd, true, "lock", 0, NULL);
    assert_true(fd >= 0);
}

static void test_waits_until_it_is_free(void **state)
{
    struct scratch *s = *state;
    pid_t holder = hold(s, true, "lock");
    pid_t killer = fork();
    assert_true(killer >= 0);
    if (killer == 0) {
        usleep(100000);
        _exit(kill(holder, SIGKILL) == 0 ? 0 : 1);
    }
    _cleanup_close_ int fd = sbox_lease_acquire(s->fd, true, "lock", 60, NULL);
    assert_true(fd >= 0);
    assert_int_equal(waitpid(killer, NULL, 0), killer);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
}

static void test_a_stopped_holder_is_said_to_be(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    int status = 0;
    pid_t holder = hold(s, true, "lock");
    assert_int_equal(kill(holder, SIGSTOP), 0);
    assert_int_equal(waitpid(holder, &status, WUNTRACED), holder);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(sbox_lease_acquire(s->fd, false, "run", 0, &err), -EBUSY);
    assert_non_null(strstr(err.message, "is stopped"));
    assert_non_null(strstr(err.message, "kill -CONT"));
    end(holder);
}

/* The last who signed is gone, an earlier one still holds: the living one is named. */
static void test_the_dead_are_not_named(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    char expected[64];
    pid_t living = hold(s, false, "run");
    end(hold(s, false, "verify"));
    assert_int_equal(sbox_lease_acquire(s->fd, true, "lock", 0, &err), -EBUSY);
    (void)snprintf(expected, sizeof expected, "sbox run (pid %d)", (int)living);
    assert_non_null(strstr(err.message, expected));
    end(living);
}

/* A line that is older than the process of that pid was written by somebody else. */
static void test_a_reused_pid_is_not_named(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    char line[64];
    pid_t holder = hold(s, true, "lock");
    (void)snprintf(line, sizeof line, "lock %d 1\ngarbage\n%%n 1 2\n", (int)holder);
    scratch_write(s, "holders", line);
    assert_int_equal(sbox_lease_acquire(s->fd, true, "lock", 0, &err), -EBUSY);
    assert_non_null(strstr(err.message, "another process"));
    end(holder);
}

static void test_a_removed_file_is_no_lease(void **state)
{
    struct scratch *s = *state;
    pid_t holder = hold(s, true, "forget");
    pid_t waiter = fork();
    assert_true(waiter >= 0);
    if (waiter == 0) {
        int fd = sbox_lease_acquire(s->fd, true, "lock", 60, NULL);
        struct stat held, named;
        _exit(fd >= 0 && fstat(fd, &held) == 0 && fstatat(s->fd, "lease", &named, 0) == 0 &&
                      held.st_ino == named.st_ino
                  ? 0
                  : 1);
    }
    usleep(20000);
    assert_int_equal(unlinkat(s->fd, "lease", 0), 0);
    end(holder);
    int status = -1;
    assert_int_equal(waitpid(waiter, &status, 0), waiter);
    assert_int_equal(status, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_shared_with_shared_only),        TEST(test_names_the_holder),
        TEST(test_dies_with_its_process),          TEST(test_waits_until_it_is_free),
        TEST(test_a_stopped_holder_is_said_to_be), TEST(test_the_dead_are_not_named),
        TEST(test_a_reused_pid_is_not_named),      TEST(test_a_removed_file_is_no_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
