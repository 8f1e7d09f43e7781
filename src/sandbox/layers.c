/* Directories in layers (overlayfs): what a command writes goes into the upper one, which is thrown
 * away or kept, and the lower ones are never changed. Source: the kernel's overlayfs.rst; the mount
 * option userxattr is what a mount without privileges takes. */
#include "base/cleanup.h"
#include "sandbox/view.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/xattr.h>

int sbox_layers_scratch(struct sbox_view *view, mode_t mode, struct sbox_layer_pair *ret)
{
    char name[32];
    char sub[64];
    (void)snprintf(name, sizeof name, "%u", view->scratch_dirs++);
    if (mkdirat(view->scratch, name, 0700) < 0)
        return -errno;
    (void)snprintf(sub, sizeof sub, "%s/u", name);
    if (mkdirat(view->scratch, sub, mode & 07777) < 0)
        return -errno;
    (void)snprintf(ret->upper, sizeof ret->upper, "/proc/self/fd/%d/%s", view->scratch, sub);
    ret->fd = openat(view->scratch, sub, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)snprintf(sub, sizeof sub, "%s/w", name);
    if (ret->fd < 0 || mkdirat(view->scratch, sub, 0700) < 0)
        return -errno;
    (void)snprintf(ret->work, sizeof ret->work, "/proc/self/fd/%d/%s", view->scratch, sub);
    return 0;
}

/* tmpfs keeps user.* attributes only since 6.6; without them overlayfs silently degrades (renames
 * of directories fail), so this is found out by trying. */
bool sbox_layers_possible(int upper_fd)
{
    return fsetxattr(upper_fd, "user.sbox.probe", "1", 1, 0) == 0 &&
           fremovexattr(upper_fd, "user.sbox.probe") == 0;
}

int sbox_layers_mount(const char *lower, const struct sbox_layer_pair *pair, uint64_t attr)
{
    _cleanup_close_ int fs = fsopen("overlay", FSOPEN_CLOEXEC);
    if (fs < 0)
        return -errno;
    if (fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir", lower, 0) < 0 ||
        fsconfig(fs, FSCONFIG_SET_STRING, "upperdir", pair->upper, 0) < 0 ||
        fsconfig(fs, FSCONFIG_SET_STRING, "workdir", pair->work, 0) < 0 ||
        fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0 ||
        fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -errno;
    int fd = fsmount(fs, FSMOUNT_CLOEXEC, (unsigned)attr);
    return fd < 0 ? -errno : fd;
}

/* -- caches ------------------------------------------------------------------------------------ */

static int open_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* The directories that `own` (home_caches.h) holds, as the upper layer. `ret->fd` stays open, or
 * the name by its descriptor would be none. */
static int kept_pair(const char *own, struct sbox_layer_pair *ret)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/u", own);
    if (n < 0 || (size_t)n >= sizeof path)
        return -ENAMETOOLONG;
    ret->fd = open_directory(path);
    if (ret->fd < 0)
        return ret->fd;
    (void)snprintf(ret->upper, sizeof ret->upper, "/proc/self/fd/%d/.", ret->fd);
    (void)snprintf(ret->work, sizeof ret->work, "/proc/self/fd/%d/../w", ret->fd);
    return 0;
}

/* Names with colons need no escaping when they are named by descriptors. */
static int mount_over(const struct sbox_step *step, const struct sbox_layer_pair *pair)
{
    char names[SBOX_STEP_LOWERS * 32] = "";
    int fds[SBOX_STEP_LOWERS] = {-1, -1};
    int r = 0;
    for (int i = 0; r >= 0 && i < SBOX_STEP_LOWERS && step->lower[i]; i++) {
        size_t used = strlen(names);
        fds[i] = open_directory(step->lower[i]);
        r = fds[i];
        (void)snprintf(names + used, sizeof names - used, "%s/proc/self/fd/%d", i ? ":" : "",
                       fds[i]);
    }
    if (r >= 0)
        r = sbox_layers_mount(names, pair, step->attr);
    for (int i = 0; i < SBOX_STEP_LOWERS; i++)
        sbox_close(fds[i]);
    return r;
}

/* No layers on this kernel or file system: the private cache alone, or the first of the lower ones
 * as it is, which then cannot be written. */
static int mount_plain(struct sbox_view *view, const struct sbox_step *step,
                       const struct sbox_layer_pair *pair)
{
    view->plain_caches = true;
    if (step->source)
        return sbox_mount_clone(pair->fd, "", AT_EMPTY_PATH, step->attr);
    return sbox_mount_clone(AT_FDCWD, step->lower[0], AT_SYMLINK_NOFOLLOW,
                            step->attr | MOUNT_ATTR_RDONLY);
}

int sbox_layers_step(struct sbox_view *view, const struct sbox_step *step)
{
    struct sbox_layer_pair pair = {.fd = -1};
    int r = step->source ? kept_pair(step->source, &pair) : sbox_layers_scratch(view, 0755, &pair);
    if (r == 0) {
        r = sbox_layers_possible(pair.fd) ? mount_over(step, &pair) : -EOPNOTSUPP;
        if (r == -EOPNOTSUPP || r == -EINVAL || r == -EPERM || r == -ENODEV)
            r = mount_plain(view, step, &pair);
    }
    sbox_close(pair.fd);
    return r;
}
