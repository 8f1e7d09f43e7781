#include "confine/landlock.h"

#include "base/banned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How the rights come about:
 *
 * 1. begin: every right that the kernel's ABI knows is *handled*, that is refused unless a rule
 *    grants it. Each ABI added rights at the top, so the mask of an ABI is a prefix of ours; of a
 *    newer kernel we use what is known here, for a right may not be handled blindly.
 * 2. allow: one rule per file hierarchy of the view. A rule on a file must not name rights that
 *    only directories have (EINVAL), so they are filtered by fstat.
 * 3. enforce.
 *
 * Two rights are never granted, although they are handled: making device nodes, and connecting to
 * pathname sockets that were bound outside the sandbox (ABI 9; below, such sockets are absent from
 * the view). Port rules (ABI 4) are not used: they know ports but no addresses, so that they
 * would also refuse a test suite its own loopback server, and the network namespace has no
 * route anyway. sbox-proxy, which binds nothing after its start, has the one for bind. */

enum { CREATE_RULESET_VERSION = 1, RULE_PATH_BENEATH = 1 };

/* ABI 7. Refusals of the command are what is expected and not worth a line in the audit log; the
 * kernel leaves them out after an exec by itself, but not those of sandboxes nested inside. */
enum { RESTRICT_SELF_LOG_SUBDOMAINS_OFF = 1 << 2 };
enum { BIND_TCP = 1 << 0 }; /* ABI 4 */

struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

struct path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

#define LL_FILE                                                                    \
    (SBOX_LL_EXECUTE | SBOX_LL_WRITE_FILE | SBOX_LL_READ_FILE | SBOX_LL_TRUNCATE | \
     SBOX_LL_IOCTL_DEV | SBOX_LL_RESOLVE_UNIX)
#define LL_READ (SBOX_LL_EXECUTE | SBOX_LL_READ_FILE | SBOX_LL_READ_DIR)
#define LL_WRITE                                                                                  \
    (LL_READ | SBOX_LL_WRITE_FILE | SBOX_LL_TRUNCATE | SBOX_LL_REMOVE_DIR | SBOX_LL_REMOVE_FILE | \
     SBOX_LL_MAKE_DIR | SBOX_LL_MAKE_REG | SBOX_LL_MAKE_SOCK | SBOX_LL_MAKE_FIFO |                \
     SBOX_LL_MAKE_SYM | SBOX_LL_REFER)
#define LL_DEVICE                                                                    \
    (SBOX_LL_READ_FILE | SBOX_LL_WRITE_FILE | SBOX_LL_TRUNCATE | SBOX_LL_IOCTL_DEV | \
     SBOX_LL_READ_DIR)

static int or_errno(long result)
{
    return result < 0 ? -errno : (int)result;
}

int sbox_landlock_abi(void)
{
    return or_errno(syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION));
}

uint64_t sbox_landlock_rights(int abi)
{
    static const struct {
        int abi;
        uint64_t top; /* the highest right of that ABI */
    } steps[] = {
        {9, SBOX_LL_RESOLVE_UNIX}, {5, SBOX_LL_IOCTL_DEV}, {3, SBOX_LL_TRUNCATE},
        {2, SBOX_LL_REFER},        {1, SBOX_LL_MAKE_SYM},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (abi >= steps[i].abi)
            return steps[i].top | (steps[i].top - 1);
    return 0;
}

uint64_t sbox_landlock_scopes(int abi)
{
    return abi >= 6 ? SBOX_LL_SCOPE_ABSTRACT_UNIX | SBOX_LL_SCOPE_SIGNAL : 0;
}

static int begin(struct sbox_landlock *l, int abi_cap, uint64_t net)
{
    *l = (struct sbox_landlock){.fd = -1};
    int abi = sbox_landlock_abi();
    if (abi < 0)
        return abi;
    if (abi_cap > 0 && abi > abi_cap)
        abi = abi_cap;

    /* The whole structure, whatever the ABI: the kernel accepts a longer one with a zero tail. */
    struct ruleset_attr attr = {
        .handled_access_fs = sbox_landlock_rights(abi),
        .handled_access_net = abi >= 4 ? net : 0,
        .scoped = sbox_landlock_scopes(abi),
    };
    int fd = or_errno(syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0));
    if (fd < 0)
        return fd;
    *l = (struct sbox_landlock){
        .fd = fd, .abi = abi, .handled = attr.handled_access_fs, .scoped = attr.scoped};
    return 0;
}

int sbox_landlock_begin(struct sbox_landlock *l, int abi_cap)
{
    return begin(l, abi_cap, 0);
}

int sbox_landlock_begin_unbound(struct sbox_landlock *l)
{
    return begin(l, 0, BIND_TCP);
}

static int add_rule(const struct sbox_landlock *l, int fd, uint64_t rights)
{
    struct path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};
    return or_errno(syscall(SYS_landlock_add_rule, l->fd, RULE_PATH_BENEATH, &rule, 0));
}

int sbox_landlock_allow_rights(struct sbox_landlock *l, int fd, uint64_t rights)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    rights &= l->handled;
    if (!S_ISDIR(st.st_mode))
        rights &= LL_FILE;
    return rights ? add_rule(l, fd, rights) : -EINVAL;
}

int sbox_landlock_allow(struct sbox_landlock *l, int fd, enum sbox_access access)
{
    static const uint64_t rights[] = {
        [SBOX_ACCESS_LIST] = SBOX_LL_READ_DIR,
        [SBOX_ACCESS_READ] = LL_READ,
        [SBOX_ACCESS_WRITE] = LL_WRITE,
        [SBOX_ACCESS_DEVICE] = LL_DEVICE,
    };
    return sbox_landlock_allow_rights(l, fd, rights[access]);
}

static uint64_t rights_of_mode(int flags)
{
    const uint64_t reading = SBOX_LL_READ_FILE;
    const uint64_t writing = SBOX_LL_WRITE_FILE | SBOX_LL_TRUNCATE; /* '> /dev/stdout' truncates */
    switch (flags & O_ACCMODE) {
    case O_RDONLY:
        return reading;
    case O_WRONLY:
        return writing;
    default:
        return reading | writing;
    }
}

int sbox_landlock_allow_stream(struct sbox_landlock *l, int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (flags & O_PATH)
        return 0;

    uint64_t rights = rights_of_mode(flags);
    if (S_ISCHR(st.st_mode))
        rights |= SBOX_LL_IOCTL_DEV; /* a terminal: size, modes */
    int r = sbox_landlock_allow_rights(l, fd, rights);
    /* Pipes and sockets lie on file systems of the kernel's own, where Landlock refuses nothing
     * and takes no rules. */
    return r == -EBADFD ? 0 : r;
}

int sbox_landlock_enforce(struct sbox_landlock *l)
{
    uint32_t flags = l->abi >= 7 ? RESTRICT_SELF_LOG_SUBDOMAINS_OFF : 0;
    int r = or_errno(syscall(SYS_landlock_restrict_self, l->fd, flags));
    sbox_landlock_end(l);
    return r;
}

void sbox_landlock_end(struct sbox_landlock *l)
{
    if (l->fd >= 0) {
        int saved = errno;
        (void)close(l->fd);
        errno = saved;
    }
    l->fd = -1;
}
