/* The system-call filter of the command. It allows by default and refuses by list: what it is for
 * and what each entry answers stands in seccomp_gen.c, which turns the list into BPF with
 * libseccomp when sbox is built. At run time one system call loads a constant array: libseccomp
 * would cost more than the namespaces do, and its heap has no place after clone.
 *
 * Safe after clone: no heap, no stdio, no locks. Source: seccomp(2).
 */
#ifndef SBOX_CONFINE_SECCOMP_H
#define SBOX_CONFINE_SECCOMP_H

#include <linux/filter.h>

enum sbox_seccomp_kind {
    SBOX_SECCOMP_COMMAND,         /* where Landlock keeps signals inside (ABI 6 and later) */
    SBOX_SECCOMP_COMMAND_NOSCOPE, /* the same, and no signal to the caller's own process group,
                                     which the host's shell and make are members of */
    SBOX_SECCOMP_PROXY,   /* sbox-proxy: the other way round, what is not listed ends the process */
    SBOX_SECCOMP_ARCHIVE, /* sbox-archive: likewise */
    SBOX_SECCOMP_KINDS,
};

/* Programs exist for both architectures in every build, so that both are tested everywhere. */
enum sbox_seccomp_arch { SBOX_SECCOMP_X86_64, SBOX_SECCOMP_AARCH64 };

struct sbox_seccomp_program {
    const struct sock_filter *code;
    unsigned short length; /* instructions; the kernel takes at most 4096 */
};

/* The program for the machine sbox was built for. Never NULL. */
const struct sbox_seccomp_program *sbox_seccomp_program(enum sbox_seccomp_kind kind);
const struct sbox_seccomp_program *sbox_seccomp_program_for(enum sbox_seccomp_arch arch,
                                                            enum sbox_seccomp_kind kind);

/* Filters the calling thread and what it starts, for good. 0 or -errno: -EACCES without
 * no_new_privs, -ENOSYS or -EINVAL where the kernel has no seccomp filters. */
int sbox_seccomp_load(const struct sbox_seccomp_program *program);

/* Does the kernel take filters? 0, or -errno as above; nothing is loaded. */
int sbox_seccomp_probe(void);

#endif
