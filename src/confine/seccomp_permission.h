/* One line of a filter that allows by list: data for seccomp_gen.c. */
#ifndef SBOX_CONFINE_SECCOMP_PERMISSION_H
#define SBOX_CONFINE_SECCOMP_PERMISSION_H

#include "confine/seccomp_list.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { PERMISSION_MATCHES = 2 };
struct permission {
    const char *name;
    struct match match[PERMISSION_MATCHES]; /* all of them; none: whatever the arguments */
};

/* clang-format off */
#define NOT_EXECUTABLE(name) {name, {{MASKED, 2, PROT_EXEC, 0}}}
/* clang-format on */

/* What both helper programs (sbox-proxy, sbox-archive) need, as any program does; with sanitizers
 * (SBOX_SANITIZE) what their reports need. */
static const struct permission helper_permissions[] = {
    /* where there is a vDSO the clock costs no call */
    {"clock_gettime", {{0}}},
    {"gettimeofday", {{0}}},
    {"time", {{0}}},
    {"restart_syscall", {{0}}},
    {"rt_sigreturn", {{0}}},

    {"brk", {{0}}},
    NOT_EXECUTABLE("mmap"),
    NOT_EXECUTABLE("mprotect"),
    {"munmap", {{0}}},
    {"mremap", {{0}}},
    {"madvise", {{0}}},
    {"futex", {{0}}},
    {"getrandom", {{0}}},

    {"exit", {{0}}},
    {"exit_group", {{0}}},

#ifdef SBOX_SANITIZED
    {"sigaltstack", {{0}}},
    {"rt_sigaction", {{0}}},
    {"rt_sigprocmask", {{0}}},
    {"getpid", {{0}}},
    {"gettid", {{0}}},
    {"tgkill", {{0}}},
    {"readlink", {{0}}},
    {"readlinkat", {{0}}},
    {"sched_yield", {{0}}},
    {"getrlimit", {{0}}},
    {"prlimit64", {IS_EXACTLY(2, 0)}}, /* reading */
    {"sched_getaffinity", {{0}}},
    {"stat", {{0}}},
    {"open", {{0}}},
    {"uname", {{0}}},
    {"mincore", {{0}}},
    {"pipe2", {{0}}},
    {"getcwd", {{0}}},
    {"clock_nanosleep", {{0}}},
#endif
};

#endif
