/* All that sbox-archive may ask of the kernel: data for seccomp_gen.c. It unpacks archives that may
 * have been altered, and reads trees that attackers wrote; anything that is not listed ends it.
 *
 * What is not here, on purpose: exec, fork and threads, sockets, signals to others, memory that can
 * be executed, and everything that makes, removes or names a file. openat2 stays for the files of
 * the trees to be archived; Landlock keeps it to reading those (archive_confine.c). What it writes
 * goes into descriptors that sbox opened.
 *
 * With sanitizers (SBOX_SANITIZE) a report needs more, and the filter is wider by that. */
#ifndef SBOX_CONFINE_SECCOMP_ARCHIVE_H
#define SBOX_CONFINE_SECCOMP_ARCHIVE_H

#include "confine/seccomp_permission.h"

static const struct permission archive_permissions[] = {
    {"read", {{0}}},
    {"pread64", {{0}}},
    {"write", {{0}}},
    {"recvmsg", {{0}}},
    {"sendmsg", {{0}}},
    {"lseek", {{0}}},
    {"close", {{0}}},
    {"fstat", {{0}}},
    {"newfstatat", {{0}}}, /* fstat(3) of a glibc */
    {"openat2", {{0}}},
    {"fcntl", {IS(1, F_DUPFD_CLOEXEC)}},
    {"fadvise64", {{0}}},

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
    {"prlimit64", {{0}}},
    {"sched_getaffinity", {{0}}},
    {"stat", {{0}}},
    {"open", {{0}}},
    {"uname", {{0}}},
    {"mincore", {{0}}},
    {"pipe2", {{0}}},
    {"getcwd", {{0}}},
    {"clock_nanosleep", {{0}}},
    {"openat", {{0}}},
#endif
};

#endif
