/* All that sbox-archive may ask of the kernel: data for seccomp_gen.c. It unpacks archives that may
 * have been altered, and reads trees that attackers wrote; anything that is not listed ends it.
 *
 * What is not here, on purpose: exec, fork and threads, sockets, signals to others, memory that can
 * be executed, and everything that makes, removes or names a file. openat2 stays for the files of
 * the trees to be archived; Landlock keeps it to reading those (archive_confine.c). What it writes
 * goes into descriptors that sbox opened.
 */
#ifndef SBOX_CONFINE_SECCOMP_ARCHIVE_H
#define SBOX_CONFINE_SECCOMP_ARCHIVE_H

#include "confine/seccomp_permission.h"

/* Beside helper_permissions. */
static const struct permission archive_permissions[] = {
    {"read", {{0}}},       {"pread64", {{0}}},
    {"write", {{0}}},      {"recvmsg", {{0}}},
    {"sendmsg", {{0}}},    {"lseek", {{0}}},
    {"close", {{0}}},      {"fstat", {{0}}},
    {"newfstatat", {{0}}}, /* fstat(3) of a glibc */
    {"openat2", {{0}}},    {"fcntl", {IS(1, F_DUPFD_CLOEXEC)}},
    {"fadvise64", {{0}}},

#ifdef SBOX_SANITIZED
    {"openat", {{0}}},
#endif
};

#endif
