/* Resource limits and dumpability. Safe after clone. Source: getrlimit(2), prctl(2), core(5). */
#ifndef SBOX_CONFINE_RLIMIT_H
#define SBOX_CONFINE_RLIMIT_H

#include <sys/resource.h>

/* No core of the calling process and what it starts: neither a file nor a handler of the host.
 * 0; or 1 where the caller's hard limit is already 0 and cannot be raised: no file then, but a
 * handler that core_pattern pipes to would still be started; or -errno. */
int sbox_rlimit_no_core(void);

/* sbox itself holds many descriptors: raises the soft limit to the hard one. *ret_saved is what
 * the command must get back, by restore, before exec. 0 or -errno. */
int sbox_rlimit_raise_nofile(struct rlimit *ret_saved);
int sbox_rlimit_restore_nofile(const struct rlimit *saved);

/* Processes of the same user, inside the sandbox or not, cannot ptrace the calling process, read
 * its memory, environment or descriptors in /proc, and no core is made of it. Undone by exec.
 * Afterwards its own /proc files belong to root: write uid_map and gid_map first. 0 or -errno. */
int sbox_set_undumpable(void);

#endif
