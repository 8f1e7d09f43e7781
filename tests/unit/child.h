/* Tests that confine a process confine a child. It reports by exit code and _exit, never by a
 * cmocka assert, and is an ordinary user, since root hides permission bugs. */
#ifndef SBOX_TESTS_UNIT_CHILD_H
#define SBOX_TESTS_UNIT_CHILD_H

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDINARY_ID = 65534, CHILD_SET_UP_FAILED = 99, CHILD_KILLED = 1000 };

static inline int become_ordinary(void)
{
    if (geteuid() != 0)
        return 0;
    if (setgroups(0, NULL) < 0 || setresgid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID) < 0)
        return -1;
    return setresuid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID);
}

/* Runs body(argument) in an ordinary child with no_new_privs. Its exit code (0: all held; else the
 * line of CHECK that did not, as the body chooses), or CHILD_KILLED + the signal. */
static inline int in_child(int (*body)(void *), void *argument)
{
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (become_ordinary() < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
            _exit(CHILD_SET_UP_FAILED);
        _exit(body(argument));
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFSIGNALED(status) ? CHILD_KILLED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* In a body: says on stderr what did not hold, and fails the child. */
#define CHECK(condition)                                                                      \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            (void)dprintf(2, "child: line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
            return 1;                                                                         \
        }                                                                                     \
    } while (0)

#define CHECK_FAILS(expression, error) CHECK((expression) < 0 && errno == (error))

#endif
