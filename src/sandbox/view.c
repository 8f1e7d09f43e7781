/* The view: which files exist inside.
 *
 * Theory of operation
 * 1. Mount propagation is cut: nothing that is mounted here shows on the host.
 * 2. A tmpfs becomes the new root. It is stacked on "/", which hides nothing from this process,
 *    because its own root is still the directory below: host paths can be bound from.
 * 3. SETUP steps, in order: binds by open_tree and move_mount onto names that were made on that
 *    tmpfs. Attributes are set on the detached copy, before it is visible.
 * 4. procfs is mounted while the old one is still in the namespace: the kernel grants a fresh
 *    instance only to who can see one already (mount_too_revealing).
 * 5. pivot_root(".", ".") and a lazy umount: the host's tree is gone from the namespace.
 * 6. SEALED steps (sealed.c) work below the workspace on descriptors only.
 *
 * Everything that is thrown away lives on the root's tmpfs, in a directory that nobody may enter
 * (SBOX_SCRATCH_DIR), and is bound to its places from there: one bound for all of it, one file
 * system to set up. The binds are writable, the root is not.
 */
#include "sandbox/view.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>

int sbox_mount_clone(int dirfd, const char *path, unsigned flags, uint64_t attr)
{
    unsigned open_flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags;
    _cleanup_close_ int fd = open_tree(dirfd, path, open_flags);
    if (fd < 0)
        return -errno;
    struct mount_attr set = {.attr_set = attr};
    if (attr && mount_setattr(fd, "", AT_EMPTY_PATH | (flags & AT_RECURSIVE), &set, sizeof set) < 0)
        return -errno;
    return TAKE_FD(fd);
}

int sbox_mount_onto(int mount_fd, int target_fd)
{
    unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
    return move_mount(mount_fd, "", target_fd, "", flags) < 0 ? -errno : 0;
}

/* A detached file system of `type`; `options` are NULL-terminated pairs of key and value. */
static int make_filesystem(const char *type, const char *const options[][2], unsigned attr)
{
    _cleanup_close_ int fs = fsopen(type, FSOPEN_CLOEXEC);
    if (fs < 0)
        return -errno;
    for (size_t i = 0; options[i][0]; i++)
        if (fsconfig(fs, FSCONFIG_SET_STRING, options[i][0], options[i][1], 0) < 0)
            return -errno;
    if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -errno;
    int fd = fsmount(fs, FSMOUNT_CLOEXEC, attr);
    return fd < 0 ? -errno : fd;
}

static bool is_directory(int root, const char *path)
{
    struct stat st;
    return fstatat(root, path, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

/* Cuts off the last component; false when there is only one. */
static bool cut_last(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return false;
    *slash = '\0';
    return true;
}

/* mkdir -p without heap. Directories that exist are fine, also on read-only mounts. Most parents do
 * exist: it begins at the far end, goes back to what can be made, and forth again. */
static int make_dirs(int root, const char *path, mode_t mode)
{
    char part[PATH_MAX];
    size_t size = strlen(path);
    if (size >= sizeof part)
        return -ENAMETOOLONG;
    memcpy(part, path, size + 1);
    for (;;) {
        size_t at = strlen(part);
        if (mkdirat(root, part, at == size ? mode : 0755) < 0) {
            int saved = errno;
            if (saved == ENOENT && cut_last(part))
                continue;
            if (!is_directory(root, part))
                return -saved;
        }
        if (at == size)
            return 0;
        part[at] = '/'; /* the next component is still there, behind its NUL */
    }
}

/* A name could not be made for want of its directory: makes that. */
static int make_parents(int root, const char *path)
{
    char parent[PATH_MAX];
    if ((size_t)snprintf(parent, sizeof parent, "%s", path) >= sizeof parent)
        return -ENAMETOOLONG;
    return cut_last(parent) ? make_dirs(root, parent, 0755) : -ENOENT;
}

static int make_file(int root, const char *path, const char *data, mode_t mode)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    _cleanup_close_ int fd = openat(root, path, flags, mode);
    if (fd < 0 && errno == ENOENT) {
        int r = make_parents(root, path);
        if (r < 0)
            return r;
        fd = openat(root, path, flags, mode);
    }
    if (fd < 0)
        return errno == EEXIST ? 0 : -errno;
    return data ? sbox_write_full(fd, data, strlen(data)) : 0;
}

/* Something of the right type to mount on. */
static int make_mountpoint(int root, const char *path, mode_t type)
{
    return S_ISDIR(type) ? make_dirs(root, path, 0755) : make_file(root, path, NULL, 0644);
}

static int place(int root, int mount_fd, const char *target)
{
    struct stat st;
    if (fstat(mount_fd, &st) < 0)
        return -errno;
    int r = make_mountpoint(root, target, st.st_mode);
    if (r < 0)
        return r;
    return move_mount(mount_fd, "", root, target, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno : 0;
}

/* The rules repeat the view: whatever else should become reachable, by a kept descriptor or a mount
 * that fell off, has no rule. A rule sticks to the file itself, which `fd` is open on. */
static int grant(struct sbox_view *view, const struct sbox_step *step, int fd)
{
    static const enum sbox_access access[] = {[SBOX_GRANT_READ] = SBOX_ACCESS_READ,
                                              [SBOX_GRANT_WRITE] = SBOX_ACCESS_WRITE,
                                              [SBOX_GRANT_DEVICE] = SBOX_ACCESS_DEVICE};
    if (!view->rules || step->grant == SBOX_GRANT_NONE)
        return 0;
    return sbox_landlock_allow(view->rules, fd, access[step->grant]);
}

/* What a step mounts, at its place and with its rule. */
static int expose(struct sbox_view *view, const struct sbox_step *step, int mount_fd)
{
    int r = place(view->root, mount_fd, step->target);
    return r < 0 ? r : grant(view, step, mount_fd);
}

static int step_dir(struct sbox_view *view, const struct sbox_step *step)
{
    int r = make_dirs(view->root, step->target, step->mode);
    if (r < 0 || step->grant == SBOX_GRANT_NONE)
        return r;
    _cleanup_close_ int fd = openat(view->root, step->target, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : grant(view, step, fd);
}

static int step_file(struct sbox_view *view, const struct sbox_step *step)
{
    int r = make_file(view->root, step->target, step->source, 0444);
    if (r < 0 || step->grant == SBOX_GRANT_NONE)
        return r;
    _cleanup_close_ int fd = openat(view->root, step->target, O_PATH | O_CLOEXEC);
    return fd < 0 ? -errno : grant(view, step, fd);
}

static int step_bind(struct sbox_view *view, const struct sbox_step *step)
{
    _cleanup_close_ int fd = sbox_mount_clone(AT_FDCWD, step->source, AT_RECURSIVE, step->attr);
    if (fd < 0)
        return fd;
    return expose(view, step, fd);
}

/* The path may lead elsewhere by now: what is mounted must be what the supervisor has open. */
static int step_workspace(struct sbox_view *view, const struct sbox_step *step)
{
    _cleanup_close_ int at = open(step->source, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (at < 0 || fstat(at, &st) < 0)
        return -errno;
    if (!sbox_fileid_equal(sbox_fileid_of(&st), step->id))
        return -ESTALE;
    _cleanup_close_ int fd = sbox_mount_clone(at, "", AT_RECURSIVE | AT_EMPTY_PATH, step->attr);
    if (fd < 0)
        return fd;
    int r = expose(view, step, fd);
    if (r < 0)
        return r;
    view->workspace =
        openat(view->root, step->target, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return view->workspace < 0 ? -errno : 0;
}

static int step_layers(struct sbox_view *view, const struct sbox_step *step)
{
    _cleanup_close_ int fd = sbox_layers_step(view, step);
    return fd < 0 ? fd : expose(view, step, fd);
}

static int step_again(struct sbox_view *view, const struct sbox_step *step)
{
    _cleanup_close_ int fd = sbox_mount_clone(view->root, step->source, 0, step->attr);
    return fd < 0 ? fd : expose(view, step, fd);
}

static int step_scratch(struct sbox_view *view, const struct sbox_step *step)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%u", view->scratch_dirs++);
    if (mkdirat(view->scratch, name, step->mode) < 0) /* umask is 0 here */
        return -errno;
    _cleanup_close_ int fd = sbox_mount_clone(view->scratch, name, 0, step->attr);
    return fd < 0 ? fd : expose(view, step, fd);
}

static int step_proc(struct sbox_view *view, const struct sbox_step *step)
{
    static const char *const none[][2] = {{NULL, NULL}};
    _cleanup_close_ int fd =
        make_filesystem("proc", none, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    return fd < 0 ? fd : expose(view, step, fd);
}

static int step_devpts(struct sbox_view *view, const struct sbox_step *step)
{
    static const char *const options[][2] = {{"ptmxmode", "0666"}, {"mode", "620"}, {NULL, NULL}};
    _cleanup_close_ int fd =
        make_filesystem("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
    return fd < 0 ? fd : expose(view, step, fd);
}

/* ttyname(3) looks for /dev/pts/N, and the sandbox's devpts has no N of the host's. Terminals are
 * numbered from 0 by the first free number, so N is made by opening that many; then the caller's
 * terminal is bound over it. The pair behind it stays open as long as init lives, else N vanishes.
 */
static int claim_pts_number(int root, unsigned long number)
{
    enum { MOST = 128 };
    int masters[MOST];
    unsigned long n = 0;
    int r = number < MOST ? 0 : -ENOENT;
    while (r == 0 && n <= number) {
        masters[n] = openat(root, "dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
        r = masters[n] < 0 ? -errno : 0;
        if (r == 0)
            n++;
    }
    for (unsigned long i = 0; i < n; i++)
        if (r < 0 || i != number)
            sbox_close(masters[i]);
    return r;
}

static int step_tty(struct sbox_view *view, const struct sbox_step *step)
{
    static const char pts[] = "dev/pts/";
    _cleanup_close_ int fd = sbox_mount_clone(AT_FDCWD, step->source, 0, step->attr);
    if (fd < 0)
        return 0; /* a terminal that this mount namespace cannot name works by its descriptor */
    const char *target = step->target;
    unsigned long long number = 0;
    if (sbox_str_starts(target, pts)) {
        if (sbox_parse_u64(target + strlen(pts), 100000, &number) < 0 ||
            claim_pts_number(view->root, (unsigned long)number) < 0)
            target = "dev/console";
        else
            return move_mount(fd, "", view->root, target, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno : 0;
    }
    return place(view->root, fd, target);
}

static int step_self_ro(struct sbox_view *view, const struct sbox_step *step)
{
    _cleanup_close_ int fd = sbox_mount_clone(view->root, step->target, AT_RECURSIVE, step->attr);
    if (fd < 0)
        return fd;
    return move_mount(fd, "", view->root, step->target, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno : 0;
}

static int step_hide(struct sbox_view *view, const struct sbox_step *step)
{
    struct stat st;
    if (fstatat(view->root, step->target, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -errno;
    const char *cover = S_ISDIR(st.st_mode) ? SBOX_HIDDEN_DIR : SBOX_HIDDEN_FILE;
    _cleanup_close_ int fd = sbox_mount_clone(view->covers, cover, 0, MOUNT_ATTR_RDONLY);
    if (fd < 0)
        return fd;
    return move_mount(fd, "", view->root, step->target, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno : 0;
}

static int step_sysctl(struct sbox_view *view, const struct sbox_step *step)
{
    _cleanup_close_ int fd = openat(view->root, step->target, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : sbox_write_full(fd, step->source, strlen(step->source));
}

int sbox_view_text(struct sbox_view *view, const char *text, uint64_t attr)
{
    char name[32];
    (void)snprintf(name, sizeof name, SBOX_TEXT_FILE "%u", view->texts++);
    int r = make_file(view->covers, name, text, 0444);
    return r < 0 ? r : sbox_mount_clone(view->covers, name, 0, attr);
}

/* The file or link may lie in a directory that is shown read-only. Its target is looked for inside
 * the new root, since the process's own root is still the host's. */
static int step_replace(struct sbox_view *view, const struct sbox_step *step)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    _cleanup_close_ int at = (int)syscall(SYS_openat2, view->root, step->target, &how, sizeof how);
    if (at < 0)
        return -errno;
    _cleanup_close_ int fd = sbox_view_text(view, step->source, step->attr);
    return fd < 0 ? fd : sbox_mount_onto(fd, at);
}

static int step_symlink(struct sbox_view *view, const struct sbox_step *step)
{
    if (symlinkat(step->source, view->root, step->target) == 0 || errno == EEXIST)
        return 0;
    int r = errno == ENOENT ? make_parents(view->root, step->target) : -errno;
    if (r == 0 && symlinkat(step->source, view->root, step->target) < 0)
        r = -errno;
    return r;
}

static int run_setup_step(struct sbox_view *view, const struct sbox_step *step)
{
    int r;
    switch ((int)step->op) {
    case SBOX_OP_DIR:
        return step_dir(view, step);
    case SBOX_OP_SYMLINK:
        return step_symlink(view, step);
    case SBOX_OP_FILE:
        return step_file(view, step);
    case SBOX_OP_BIND:
        r = step_bind(view, step);
        break;
    case SBOX_OP_WORKSPACE:
        return step_workspace(view, step);
    case SBOX_OP_LAYERS:
        return step_layers(view, step);
    case SBOX_OP_AGAIN:
        return step_again(view, step);
    case SBOX_OP_SCRATCH:
        return step_scratch(view, step);
    case SBOX_OP_PROC:
        return step_proc(view, step);
    case SBOX_OP_DEVPTS:
        return step_devpts(view, step);
    case SBOX_OP_TTY:
        return step_tty(view, step);
    case SBOX_OP_SELF_RO:
        r = step_self_ro(view, step);
        break;
    case SBOX_OP_HIDE:
        return step_hide(view, step);
    case SBOX_OP_SYSCTL:
        return step_sysctl(view, step);
    case SBOX_OP_REPLACE:
        r = step_replace(view, step);
        break;
    default:
        return -EINVAL;
    }
    bool absent = r == -ENOENT || r == -ENOTDIR || r == -EACCES;
    return step->optional && absent ? 0 : r;
}

static int make_root(const struct sbox_plan *plan, struct sbox_view *view)
{
    static const char *const options[][2] = {{"mode", "0755"}, {"size", "50%"}, {NULL, NULL}};
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -errno;
    view->root = plan->host_root
                     ? sbox_mount_clone(AT_FDCWD, "/", AT_RECURSIVE, 0)
                     : make_filesystem("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (view->root < 0)
        return view->root;
    if (move_mount(view->root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return -errno;
    return view->rules ? sbox_landlock_allow(view->rules, view->root, SBOX_ACCESS_LIST) : 0;
}

/* With the host's root below (tests only), nothing may be written into it: a tmpfs of its own,
 * which must be attached somewhere, or nothing can be bound from it; /tmp is a place that every
 * root has.
 */
static int make_apart(struct sbox_view *view)
{
    static const char *const options[][2] = {{"mode", "0755"}, {NULL, NULL}};
    int fd = make_filesystem("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (fd >= 0 && move_mount(fd, "", view->root, "tmp", MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return -errno;
    return fd;
}

static int make_hidden_places(const struct sbox_plan *plan, struct sbox_view *view)
{
    int at = plan->host_root ? make_apart(view) : view->root;
    if (at < 0)
        return at;
    if (mkdirat(at, ".sbox", 0711) < 0 || mkdirat(at, SBOX_HIDDEN_DIR, 0) < 0 ||
        mkdirat(at, SBOX_EMPTY_DIR, 0555) < 0 || mkdirat(at, SBOX_SCRATCH_DIR, 0) < 0)
        return -errno;
    view->covers = at;
    view->scratch = openat(at, SBOX_SCRATCH_DIR, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return view->scratch < 0 ? -errno : make_file(at, SBOX_HIDDEN_FILE, NULL, 0);
}

static int pivot(struct sbox_view *view)
{
    if (fchdir(view->root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
        return -errno;
    /* The old root now lies on top of the new one at "."; its lazy umount uncovers the new. */
    if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return -errno;
    return 0;
}

int sbox_view_build(const struct sbox_plan *plan, struct sbox_view *view,
                    struct sbox_failure *failure)
{
    umask(0);
    view->workspace = -1;
    failure->path = NULL;
    failure->stage = "make the sandbox's root";
    int r = make_root(plan, view);
    if (r == 0)
        r = make_hidden_places(plan, view);
    for (size_t i = 0; r == 0 && i < plan->count; i++) {
        const struct sbox_step *step = &plan->steps[i];
        if (sbox_op_phase(step->op) != SBOX_PHASE_SETUP)
            continue;
        r = run_setup_step(view, step);
        failure->stage = sbox_op_text(step->op);
        failure->path = step->target;
    }
    if (r < 0)
        return r;
    failure->path = NULL;
    failure->stage = "enter the sandbox's root (pivot_root)";
    return pivot(view);
}
