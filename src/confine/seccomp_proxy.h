/* All that sbox-proxy may ask of the kernel once it serves: data for seccomp_gen.c. It parses
 * hostile bytes; what took it over could use these calls and no others: anything else ends the
 * process, and with it the network of the run.
 *
 * What is not here, on purpose: exec, fork and threads, kill and ptrace, bind and listen, other
 * kinds of sockets, memory that can be executed, everything that makes or changes a file. open
 * stays for one file, /etc/hosts; Landlock keeps it to that (proxy_confine.c).
 */
#ifndef SBOX_CONFINE_SECCOMP_PROXY_H
#define SBOX_CONFINE_SECCOMP_PROXY_H

#include "confine/seccomp_permission.h"

/* The values of x86-64 and arm64, which agree. */
enum { LOW32_FIONREAD = 0x541b, LOW32_FIONBIO = 0x5421 };

/* clang-format off */
#define SOCKET_TYPE(family, type) \
    {"socket", {IS(0, family), {MASKED, 1, SOCK_TYPE_BITS, type}}}
/* clang-format on */

/* Beside helper_permissions. */
static const struct permission proxy_permissions[] = {
    /* bytes */
    {"read", {{0}}},
    {"write", {{0}}},
    {"readv", {{0}}},
    {"writev", {{0}}},
    {"recvfrom", {{0}}},
    {"sendto", {{0}}},
    {"recvmsg", {{0}}},
    {"sendmsg", {{0}}},
    {"close", {{0}}},
    {"lseek", {{0}}}, /* stdio, with /etc/hosts */

    /* connections */
    SOCKET_TYPE(AF_INET, SOCK_STREAM),
    SOCKET_TYPE(AF_INET, SOCK_DGRAM), /* DNS queries */
    SOCKET_TYPE(AF_INET6, SOCK_STREAM),
    SOCKET_TYPE(AF_INET6, SOCK_DGRAM),
    {"connect", {{0}}},
    {"accept4", {{0}}},
    {"shutdown", {{0}}},
    {"getsockname", {{0}}},
    {"getpeername", {{0}}},
    {"getsockopt", {{0}}},
    {"setsockopt", {{0}}},
    {"ioctl", {IS(1, LOW32_FIONREAD)}}, /* libevent's buffers */
    {"ioctl", {IS(1, LOW32_FIONBIO)}},
    {"fcntl", {IS(1, F_GETFD)}},
    {"fcntl", {IS(1, F_SETFD)}},
    {"fcntl", {IS(1, F_GETFL)}},
    {"fcntl", {IS(1, F_SETFL)}},
    {"fcntl", {IS(1, F_DUPFD_CLOEXEC)}},

    /* waiting */
    {"epoll_wait", {{0}}},
    {"epoll_pwait", {{0}}},
    {"epoll_pwait2", {{0}}},
    {"epoll_ctl", {{0}}},
    {"poll", {{0}}},
    {"ppoll", {{0}}},

    {"sysinfo", {{0}}}, /* qsort, of large arrays */

    /* /etc/hosts */
    {"openat", {{0}}},
    {"newfstatat", {{0}}},
    {"fstat", {{0}}},
};

#endif
