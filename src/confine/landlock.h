/* Landlock: the second wall behind the mount namespace. It repeats the view as rules, so that a
 * directory descriptor that was kept, or a mount that should not have been there, reaches nothing.
 *
 * Safe after clone: no heap, no stdio, no locks; one system call per call. All functions return 0
 * (or a positive result) or -errno. Source: landlock(7), Documentation/userspace-api/landlock.rst.
 * The constants are written out in landlock.c: the headers of Debian 12 (6.1) stop at ABI 2.
 *
 *     struct sbox_landlock l;
 *     sbox_landlock_begin(&l, 0);
 *     sbox_landlock_allow(&l, usr_fd, SBOX_ACCESS_READ);
 *     prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
 *     sbox_landlock_enforce(&l);
 */
#ifndef SBOX_CONFINE_LANDLOCK_H
#define SBOX_CONFINE_LANDLOCK_H

#include <stdint.h>

/* Rights of the file system, the kernel's bits. */
#define SBOX_LL_EXECUTE      (UINT64_C(1) << 0)
#define SBOX_LL_WRITE_FILE   (UINT64_C(1) << 1)
#define SBOX_LL_READ_FILE    (UINT64_C(1) << 2)
#define SBOX_LL_READ_DIR     (UINT64_C(1) << 3)
#define SBOX_LL_REMOVE_DIR   (UINT64_C(1) << 4)
#define SBOX_LL_REMOVE_FILE  (UINT64_C(1) << 5)
#define SBOX_LL_MAKE_CHAR    (UINT64_C(1) << 6)
#define SBOX_LL_MAKE_DIR     (UINT64_C(1) << 7)
#define SBOX_LL_MAKE_REG     (UINT64_C(1) << 8)
#define SBOX_LL_MAKE_SOCK    (UINT64_C(1) << 9)
#define SBOX_LL_MAKE_FIFO    (UINT64_C(1) << 10)
#define SBOX_LL_MAKE_BLOCK   (UINT64_C(1) << 11)
#define SBOX_LL_MAKE_SYM     (UINT64_C(1) << 12)
#define SBOX_LL_REFER        (UINT64_C(1) << 13) /* ABI 2: rename and link across directories */
#define SBOX_LL_TRUNCATE     (UINT64_C(1) << 14) /* ABI 3 */
#define SBOX_LL_IOCTL_DEV    (UINT64_C(1) << 15) /* ABI 5 */
#define SBOX_LL_RESOLVE_UNIX (UINT64_C(1) << 16) /* ABI 9: connect to a pathname Unix socket */

#define SBOX_LL_SCOPE_ABSTRACT_UNIX (UINT64_C(1) << 0) /* ABI 6 */
#define SBOX_LL_SCOPE_SIGNAL        (UINT64_C(1) << 1) /* ABI 6: signals stay in the domain */

/* What a rule grants on the file or on all that lies below the directory. */
enum sbox_access {
    SBOX_ACCESS_LIST,   /* list directories, nothing else: for "/" */
    SBOX_ACCESS_READ,   /* read files, list directories, execute */
    SBOX_ACCESS_WRITE,  /* READ, and write, truncate, create (no devices), remove, rename */
    SBOX_ACCESS_DEVICE, /* read, write, truncate, ioctl; list when it is a directory (/dev/pts) */
};

struct sbox_landlock {
    int fd;           /* the rule set; -1 before begin and after enforce or end */
    int abi;          /* the one in use: the kernel's, or the cap if that is lower */
    uint64_t handled; /* rights that are refused where no rule grants them */
    uint64_t scoped;  /* SBOX_LL_SCOPE_*; 0 below ABI 6: kill(0) then needs the NOSCOPE filter
                         of seccomp.h */
};

/* The kernel's ABI (1 or higher). -ENOSYS: not compiled in; -EOPNOTSUPP: disabled at boot. */
int sbox_landlock_abi(void);

/* Rights that exist in `abi`; pure. */
uint64_t sbox_landlock_rights(int abi);
uint64_t sbox_landlock_scopes(int abi);

/* Opens a rule set that handles every right and scope of the running ABI. `abi_cap` above 0 makes
 * an older kernel of a newer one (tests); 0: no cap. */
int sbox_landlock_begin(struct sbox_landlock *l, int abi_cap);

/* The same, and no TCP port may be bound (ABI 4 and later; below, the rest alone). For a process
 * that listens on nothing new: the command's servers must bind, see landlock.c. */
int sbox_landlock_begin_unbound(struct sbox_landlock *l);

/* Grants `access` on what `fd` (O_PATH will do) stands for. Rights that a file cannot have are
 * left out when it is no directory, and rights that the ABI lacks. -EINVAL when nothing is left
 * (LIST on a file). `fd` stays the caller's. */
int sbox_landlock_allow(struct sbox_landlock *l, int fd, enum sbox_access access);

/* The same by SBOX_LL_* bits. */
int sbox_landlock_allow_rights(struct sbox_landlock *l, int fd, uint64_t rights);

/* Grants what the open mode of `fd` already permits, so that /dev/stdin and /dev/stdout, which
 * open the file again, work as outside. Nothing to grant and 0 for a pipe, a socket or an O_PATH
 * descriptor; -EISDIR for a directory (a directory on 0-2 is refused by the caller); -EBADF when
 * closed. */
int sbox_landlock_allow_stream(struct sbox_landlock *l, int fd);

/* Binds the calling thread and what it starts, for good, and closes the rule set. The caller has
 * set no_new_privs (or holds CAP_SYS_ADMIN in its user namespace), else -EPERM. */
int sbox_landlock_enforce(struct sbox_landlock *l);

/* Closes the rule set without enforcing; for error paths. */
void sbox_landlock_end(struct sbox_landlock *l);

#endif
