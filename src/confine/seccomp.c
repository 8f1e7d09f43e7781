#include "confine/seccomp.h"

#include "base/banned.h"
#include "confine/seccomp_programs.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
static const enum sbox_seccomp_arch own_arch = SBOX_SECCOMP_X86_64;
#elif defined(__aarch64__) && !defined(__ILP32__)
static const enum sbox_seccomp_arch own_arch = SBOX_SECCOMP_AARCH64;
#else
#error "sbox has a system-call filter for x86-64 and arm64 only"
#endif

const struct sbox_seccomp_program *sbox_seccomp_program_for(enum sbox_seccomp_arch arch,
                                                            enum sbox_seccomp_kind kind)
{
    return &sbox_seccomp_programs[arch][kind];
}

const struct sbox_seccomp_program *sbox_seccomp_program(enum sbox_seccomp_kind kind)
{
    return sbox_seccomp_program_for(own_arch, kind);
}

/* The kernel's struct sock_fprog, but for the const: the kernel only reads. */
struct filter {
    unsigned short length;
    const struct sock_filter *code;
};
_Static_assert(sizeof(struct filter) == sizeof(struct sock_fprog) &&
                   offsetof(struct filter, code) == offsetof(struct sock_fprog, filter),
               "struct filter stands in for struct sock_fprog");

static int set_filter(const struct filter *filter)
{
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter) < 0 ? -errno : 0;
}

int sbox_seccomp_load(const struct sbox_seccomp_program *program)
{
    const struct filter filter = {.length = program->length, .code = program->code};
    return set_filter(&filter);
}

int sbox_seccomp_probe(void)
{
    /* A NULL program: EFAULT from a kernel that has filters and wanted to read it. */
    int r = set_filter(NULL);
    return r == -EFAULT ? 0 : r;
}
