#include "project/scan_read.h"

#include "base/cleanup.h"
#include "base/strv.h"
#include "project/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>

#define XFS_MAGIC 0x58465342 /* not in linux/magic.h */

enum { NEAR_NS = 20000000 }; /* two ticks at HZ=100, the coarsest clock a kernel stamps with */

static int64_t nanoseconds(struct statx_timestamp t)
{
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Before the multigrain timestamps of 6.13 all changes within a tick carry the same ctime. */
static bool has_fine_timestamps(void)
{
    struct utsname u;
    char *end = NULL;
    if (uname(&u) < 0)
        return false;
    unsigned long major = strtoul(u.release, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return major > 6 || (major == 6 && minor >= 13);
}

int sbox_scan_clock_init(int root_fd, struct sbox_scan_clock *ret)
{
    struct statfs fs;
    struct stat st;
    if (fstatfs(root_fd, &fs) < 0 || fstat(root_fd, &st) < 0)
        return -errno;
    /* FUSE, NFS and overlayfs may show a ctime that is somebody else's idea. */
    ret->ctime_moves = fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_MAGIC ||
                       fs.f_type == BTRFS_SUPER_MAGIC || fs.f_type == F2FS_SUPER_MAGIC ||
                       fs.f_type == TMPFS_MAGIC;
    ret->dev = (uint64_t)st.st_dev;
    ret->fine = has_fine_timestamps();
    return 0;
}

int sbox_scan_stat(int dirfd, const char *path, struct sbox_scan_node *ret)
{
    struct statx sx;
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
    unsigned mask = STATX_TYPE | STATX_MODE | STATX_UID | STATX_INO | STATX_MTIME | STATX_CTIME;
    if (statx(dirfd, path, flags, mask, &sx) < 0)
        return -errno;
    if (!S_ISDIR(sx.stx_mode))
        return -ENOTDIR;
    ret->id.dev = (uint64_t)makedev(sx.stx_dev_major, sx.stx_dev_minor);
    ret->id.ino = sx.stx_ino;
    ret->mtime = nanoseconds(sx.stx_mtime);
    ret->ctime = nanoseconds(sx.stx_ctime);
    uid_t self = geteuid(); /* root's rights do not depend on the mode */
    ret->closed = self != 0 && sx.stx_uid == self && (sx.stx_mode & 0500) != 0500;
    return 0;
}

int sbox_scan_reopen(int dirfd, const char *path)
{
    struct stat st;
    char name[32];
    _cleanup_close_ int fd = sbox_open_beneath(dirfd, path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0)
        return fd;
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (fstat(fd, &st) < 0 || chmod(name, (st.st_mode & 07777) | 0500) < 0)
        return -errno;
    return 0;
}

static int64_t now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static bool is_yarn_part(const char *name)
{
    static const char *const parts[] = {"cache", "unplugged", "releases", "plugins", "sdks"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(name, parts[i]) == 0)
            return true;
    return false;
}

/* What lies around a name. */
struct around {
    const char *dir; /* the directory's own name; "" for the root */
    bool yarn;       /* it is a `.yarn` beside .pnp.* */
};

static int role_of(const char *name, unsigned char type, const struct around *around)
{
    bool yarn = around->yarn;
    bool file_like = type == DT_REG || type == DT_LNK;
    bool tree_like = type == DT_DIR || type == DT_LNK;
    if (type == DT_SOCK)
        return SBOX_ROLE_SOCKET;
    if (strcmp(name, ".git") == 0)
        return SBOX_ROLE_GIT;
    if (sbox_scan_is_secret_name(name))
        return SBOX_ROLE_SECRET;
    if (tree_like && strcmp(name, "node_modules") == 0)
        return SBOX_ROLE_NODE_MODULES;
    if (tree_like && (strcmp(name, ".venv") == 0 || strcmp(name, "venv") == 0))
        return SBOX_ROLE_VENV;
    if (tree_like && strcmp(name, "vendor") == 0)
        return SBOX_ROLE_VENDOR;
    if (tree_like && yarn && is_yarn_part(name))
        return SBOX_ROLE_YARN_PART;
    if (file_like && sbox_conf_syntax_of(around->dir, name) != SBOX_CONF_NONE)
        return SBOX_ROLE_CONF;
    return type == DT_DIR ? SBOX_ROLE_DIR : -1;
}

static int add_name(int dir, const struct dirent64 *entry, const struct around *around,
                    struct sbox_scan_node *node)
{
    const char *name = entry->d_name;
    unsigned char type = entry->d_type;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0;
    if (type == DT_UNKNOWN) {
        struct stat st;
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return errno == ENOENT ? 0 : -errno;
        type = (unsigned char)IFTODT(st.st_mode);
    }
    int role = role_of(name, type, around);
    if (role < 0)
        return 0;
    return sbox_scan_node_add(node, (enum sbox_scan_role)role, type == DT_DIR, name) ? 0 : -ENOMEM;
}

/* `.yarn` means something only beside a .pnp.* file. */
static void mark_yarn(struct sbox_scan_node *node, bool pnp)
{
    for (size_t i = 0; pnp && i < node->count; i++)
        if (node->names[i].role == SBOX_ROLE_DIR && strcmp(node->names[i].name, ".yarn") == 0)
            node->names[i].role = SBOX_ROLE_YARN;
}

static int read_names(int dir, const struct around *around, struct sbox_scan_node *node)
{
    _Alignas(struct dirent64) char buffer[8192];
    bool pnp = false;
    for (;;) {
        long n = syscall(SYS_getdents64, dir, buffer, sizeof buffer);
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        for (long at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(buffer + at);
            at += entry->d_reclen;
            pnp = pnp || sbox_str_starts(entry->d_name, ".pnp.");
            int r = add_name(dir, entry, around, node);
            if (r < 0)
                return r;
        }
    }
    mark_yarn(node, pnp);
    return 0;
}

/* Children that are still there keep what is known of them. Both lists are in directory order, so
 * the search for the next goes on where the last one ended. */
static void keep_known(struct sbox_scan_node *old, struct sbox_scan_node *fresh)
{
    size_t at = 0;
    for (size_t i = 0; i < fresh->count; i++) {
        for (size_t tried = 0; tried < old->count; tried++, at = at + 1 < old->count ? at + 1 : 0) {
            struct sbox_scan_name *known = &old->names[at];
            if (known->node && fresh->names[i].directory &&
                strcmp(known->name, fresh->names[i].name) == 0) {
                fresh->names[i].node = known->node;
                known->node = NULL;
                break;
            }
        }
    }
}

int sbox_scan_read(int dirfd, const char *path, const struct sbox_scan_clock *clock, bool yarn,
                   struct sbox_scan_node *node)
{
    _cleanup_close_ int dir = sbox_open_beneath(dirfd, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (dir < 0)
        return dir;
    struct sbox_scan_node fresh = {0};
    const char *slash = strrchr(path, '/');
    const struct around around = {.dir = slash ? slash + 1 : path, .yarn = yarn};
    int64_t begun = now();
    int r = sbox_scan_stat(dir, ".", &fresh);
    if (r == 0)
        r = read_names(dir, &around, &fresh);
    if (r < 0) {
        sbox_scan_node_clear(&fresh);
        return r;
    }
    fresh.trusted =
        clock->ctime_moves && fresh.id.dev == clock->dev && fresh.ctime + NEAR_NS < begun;
    keep_known(node, &fresh);
    sbox_scan_node_clear(node);
    *node = fresh;
    return 0;
}
