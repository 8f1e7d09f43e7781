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

#endif
