/* Where a link of the workspace leads. It is followed as a program inside would: out of the
 * workspace and back, if its text says so; what counts is where it ends. Only an O_PATH descriptor
 * is made, so nothing is read or woken on the way. */
#include "sandbox/protect_list.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

int sbox_protect_link_target(const struct sbox_root *root, const char *path, char *ret_path,
                             size_t size, struct stat *ret_st)
{
    char name[64];
    char text[PATH_MAX];
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
    _cleanup_close_ int fd = (int)syscall(SYS_openat2, root->fd, path, &how, sizeof how);
    if (fd < 0 || fstat(fd, ret_st) < 0)
        return -errno;
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, text, sizeof text - 1);
    if (n < 0)
        return -errno;
    text[n] = '\0';
    const char *inside = sbox_path_below(text, root->path);
    if (!inside || !*inside)
        return -EXDEV;
    return (size_t)snprintf(ret_path, size, "%s", inside) < size ? 0 : -ENAMETOOLONG;
}
