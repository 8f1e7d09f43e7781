/* What is mounted inside the workspace: trees, git internals, masks.
 *
 * Theory of operation. The names here lie in a directory that the attacker of an earlier run may
 * have filled, and that another sandbox of the same project may be renaming things in right now. A
 * mount by path would go wherever the path leads at that moment. So each target is opened beneath
 * the workspace without following any link and compared (dev, ino) with what the supervisor
 * scanned and still holds open; the mount goes onto the opened file itself. A mount sits on the
 * file's directory entry, not on a path: if the directory above it is renamed, the mount goes with
 * it. When all are in place each name is looked at once more: it must lead to a mount of ours. What
 * does not fit ends the start with -ESTALE.
 */
#include "base/cleanup.h"
#include "project/scan.h"
#include "sandbox/view.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <linux/stat.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

int sbox_sealed_open(int workspace_fd, const char *path, struct sbox_fileid id)
{
    _cleanup_close_ int fd = sbox_open_beneath(workspace_fd, path, O_PATH | O_NOFOLLOW);
    if (fd < 0)
        return fd == -ENOENT || fd == -ELOOP || fd == -ENOTDIR ? -ESTALE : fd;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!sbox_fileid_equal(sbox_fileid_of(&st), id))
        return -ESTALE;
    return TAKE_FD(fd);
}

int sbox_mask_apply(int target_fd, mode_t mode)
{
    const char *cover = S_ISDIR(mode) ? "/" SBOX_EMPTY_DIR : "/dev/null";
    uint64_t attr = S_ISDIR(mode) ? MOUNT_ATTR_RDONLY : MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
    _cleanup_close_ int fd = sbox_mount_clone(AT_FDCWD, cover, 0, attr);
    if (fd < 0)
        return fd;
    int r = sbox_mount_onto(fd, target_fd);
    /* Some kernels refuse a mount on a link; what the link leads to has a mask of its own. */
    return S_ISLNK(mode) && (r == -EINVAL || r == -ENOTDIR || r == -ELOOP) ? 0 : r;
}

int sbox_mask_holds(int workspace_fd, const char *path)
{
    _cleanup_close_ int fd = sbox_open_beneath(workspace_fd, path, O_PATH | O_NOFOLLOW);
    if (fd < 0)
        return fd;
    struct statx sx;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &sx) < 0)
        return -errno;
    if (!(sx.stx_attributes & STATX_ATTR_MOUNT_ROOT))
        return 0;
    bool null = S_ISCHR(sx.stx_mode) && sx.stx_rdev_major == 1 && sx.stx_rdev_minor == 3;
    return null || S_ISDIR(sx.stx_mode);
}

/* -- locked trees ------------------------------------------------------------------------------ */

/* Cache directories of the tree below are made invisible: they hold code that nobody recorded. A
 * character device 0:0 is overlayfs's whiteout; making one needs no privilege (since 5.8). */
static int hide_caches(int upper, int lower)
{
    for (size_t i = 0; sbox_tree_caches[i]; i++) {
        struct stat st;
        if (fstatat(lower, sbox_tree_caches[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (mknodat(upper, sbox_tree_caches[i], S_IFCHR, makedev(0, 0)) < 0)
            return -errno;
    }
    return 0;
}

/* The lower layer is named "." with the tree as current directory: no path of the workspace is ever
 * looked up, and names with commas or colons need no escaping. */
static int make_overlay(int lower, const struct sbox_layer_pair *pair, uint64_t attr)
{
    if (fchdir(lower) < 0)
        return -errno;
    int r = sbox_layers_mount(".", pair, attr);
    return chdir("/") < 0 ? -errno : r;
}

static int cover_cache(struct sbox_view *view, int tree, const char *cache, uint64_t attr)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%u", view->scratch_dirs);
    _cleanup_close_ int at = openat(tree, cache, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (at < 0)
        return 0;
    if (mkdirat(view->scratch, name, 0755) < 0)
        return -errno;
    view->scratch_dirs++;
    _cleanup_close_ int empty = sbox_mount_clone(view->scratch, name, 0, attr);
    return empty < 0 ? empty : sbox_mount_onto(empty, at);
}

/* The fallback: the tree read-only, with an empty writable directory on each cache that exists. */
static int mount_read_only(struct sbox_view *view, int tree, uint64_t attr)
{
    _cleanup_close_ int ro =
        sbox_mount_clone(tree, "", AT_RECURSIVE | AT_EMPTY_PATH, attr | MOUNT_ATTR_RDONLY);
    if (ro < 0)
        return ro;
    int r = sbox_mount_onto(ro, tree);
    view->read_only_trees = true;
    for (size_t i = 0; r == 0 && sbox_tree_caches[i]; i++)
        r = cover_cache(view, ro, sbox_tree_caches[i], attr);
    return r;
}

static int mount_tree(struct sbox_view *view, const struct sbox_step *step, int tree,
                      struct sbox_layer_pair *pair)
{
    int r = sbox_layers_scratch(view, step->mode, pair);
    if (r < 0)
        return r;
    if (!sbox_layers_possible(pair->fd))
        return mount_read_only(view, tree, step->attr);
    r = hide_caches(pair->fd, tree);
    if (r < 0)
        return r;
    _cleanup_close_ int overlay = make_overlay(tree, pair, step->attr);
    if (overlay < 0)
        return overlay;
    r = sbox_mount_onto(overlay, tree);
    if (r == 0) {
        view->overlays[view->overlay_count].path = step->target;
        view->overlays[view->overlay_count++].upper = TAKE_FD(pair->fd);
    }
    return r;
}

static int step_overlay(struct sbox_view *view, const struct sbox_step *step)
{
    struct sbox_layer_pair pair = {.fd = -1};
    if (view->overlay_count == SBOX_OVERLAYS_MAX)
        return -E2BIG;
    _cleanup_close_ int tree = sbox_sealed_open(view->workspace, step->target, step->id);
    if (tree < 0)
        return tree;
    int r = mount_tree(view, step, tree, &pair);
    sbox_close(pair.fd);
    return r;
}

/* A private cache directory of the host appears inside the overlay; its mountpoint is made there.
 */
static int step_cache(struct sbox_view *view, const struct sbox_step *step)
{
    if (mkdirat(view->workspace, step->target, 0755) < 0 && errno != EEXIST)
        return -errno;
    _cleanup_close_ int at =
        sbox_open_beneath(view->workspace, step->target, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (at < 0)
        return at;
    char source[64];
    (void)snprintf(source, sizeof source, "/%s", step->source);
    _cleanup_close_ int fd = sbox_mount_clone(AT_FDCWD, source, 0, step->attr);
    return fd < 0 ? fd : sbox_mount_onto(fd, at);
}

/* -- git internals and masks ------------------------------------------------------------------- */

static int step_self_bind(struct sbox_view *view, const struct sbox_step *step)
{
    _cleanup_close_ int at = sbox_sealed_open(view->workspace, step->target, step->id);
    if (at < 0)
        return at;
    _cleanup_close_ int fd = sbox_mount_clone(at, "", AT_RECURSIVE | AT_EMPTY_PATH, step->attr);
    return fd < 0 ? fd : sbox_mount_onto(fd, at);
}

static int step_mask(struct sbox_view *view, const struct sbox_step *step)
{
    _cleanup_close_ int at = sbox_sealed_open(view->workspace, step->target, step->id);
    return at < 0 ? at : sbox_mask_apply(at, step->mode);
}

static int step_filter(struct sbox_view *view, const struct sbox_step *step)
{
    _cleanup_close_ int at = sbox_sealed_open(view->workspace, step->target, step->id);
    if (at < 0)
        return at;
    _cleanup_close_ int fd = sbox_view_text(view, step->source, step->attr);
    return fd < 0 ? fd : sbox_mount_onto(fd, at);
}

static int run_sealed_step(struct sbox_view *view, const struct sbox_step *step)
{
    switch ((int)step->op) {
    case SBOX_OP_OVERLAY:
        return step_overlay(view, step);
    case SBOX_OP_CACHE:
        return step_cache(view, step);
    case SBOX_OP_PIN:
    case SBOX_OP_LOCK_RO:
        return step_self_bind(view, step);
    case SBOX_OP_FILTER:
        return step_filter(view, step);
    case SBOX_OP_MASK:
        return step_mask(view, step);
    default:
        return -EINVAL;
    }
}

/* Does the name lead to a mount of ours, now that all are made? */
static int check_sealed_step(const struct sbox_view *view, const struct sbox_step *step)
{
    if (step->op == SBOX_OP_MASK && S_ISLNK(step->mode))
        return 0;
    _cleanup_close_ int fd = sbox_open_beneath(view->workspace, step->target, O_PATH | O_NOFOLLOW);
    if (fd < 0)
        return -ESTALE;
    struct statx sx;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &sx) < 0)
        return -errno;
    return sx.stx_attributes & STATX_ATTR_MOUNT_ROOT ? 0 : -ESTALE;
}

static int make_root_read_only(const struct sbox_plan *plan)
{
    struct mount_attr set = {.attr_set = MOUNT_ATTR_RDONLY};
    if (plan->host_root)
        return 0;
    return mount_setattr(AT_FDCWD, "/", 0, &set, sizeof set) < 0 ? -errno : 0;
}

int sbox_view_seal(const struct sbox_plan *plan, struct sbox_view *view,
                   struct sbox_failure *failure)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < plan->count; i++) {
            const struct sbox_step *step = &plan->steps[i];
            if (sbox_op_phase(step->op) != SBOX_PHASE_SEALED)
                continue;
            failure->stage = sbox_op_text(step->op);
            failure->path = step->target;
            int r = pass == 0 ? run_sealed_step(view, step) : check_sealed_step(view, step);
            if (r < 0)
                return r;
        }
    }
    failure->stage = "make the root read-only";
    failure->path = NULL;
    return make_root_read_only(plan);
}
