/* Leaving the view: mounts, namespaces, roots. The last rows play the whole attacks of
 * cases/containment C1 and C2, step by step as far as the layers let them. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* <sys/mount.h> and <linux/mount.h> of Debian 12 do not go together. */
int mount(const char *, const char *, const char *, unsigned long, const void *);
int umount2(const char *, int);
enum { BIND = 4096, RECURSIVE = 16384, PRIVATE = 1 << 18, DETACH = 2 };

/* EINVAL or EBADF: the kernel would have done it for better arguments. */
static int reached(long value)
{
    if (value >= 0)
        return 0;
    return errno == EPERM || errno == EACCES || errno == ENOSYS ? -errno : 0;
}

static int unshares(const struct probe_row *row)
{
    return probe_result(unshare((int)row->number));
}

static int clones(const struct probe_row *row)
{
    long child = syscall(SYS_clone, row->number | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0)
        _exit(0);
    if (child < 0)
        return -errno;
    waitpid((pid_t)child, NULL, 0);
    return 0;
}

static int clones3(const struct probe_row *row)
{
    struct clone_args args = {.flags = (uint64_t)row->number, .exit_signal = SIGCHLD};
    long child = syscall(SYS_clone3, &args, sizeof args);
    if (child == 0)
        _exit(0);
    if (child < 0)
        return -errno;
    waitpid((pid_t)child, NULL, 0);
    return 0;
}

static int enters(const struct probe_row *row)
{
    int fd = open(row->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return probe_result(setns(fd, 0));
}

static int enters_bare(const struct probe_row *row)
{
    (void)row;
    return reached(setns(-1, 0));
}

static int mounts_tmpfs(const struct probe_row *row)
{
    return probe_result(mount("tmpfs", row->path, "tmpfs", 0, NULL));
}

static int mounts_proc(const struct probe_row *row)
{
    return probe_result(mount("proc", row->path, "proc", 0, NULL));
}

/* The workspace at a second place, where no mask lies. */
static int binds(const struct probe_row *row)
{
    mkdir("probe-view", 0700);
    int r = probe_result(mount(".", "probe-view", NULL, BIND, NULL));
    if (r == 0) {
        int fd = open("probe-view/.env", O_RDONLY | O_CLOEXEC);
        r = fd >= 0 && probe_holds_canary(fd) == 1 ? 0 : probe_word("masked");
        umount2("probe-view", DETACH);
    }
    rmdir("probe-view");
    (void)row;
    return r;
}

static int unmounts(const struct probe_row *row)
{
    return reached(umount2(row->path, (int)row->number));
}

static int remounts_writable(const struct probe_row *row)
{
    return reached(mount(NULL, row->path, NULL, 32 /* MS_REMOUNT */ | BIND, NULL));
}

static int sets_attributes(const struct probe_row *row)
{
    struct mount_attr attributes = {.attr_clr = 1 /* MOUNT_ATTR_RDONLY */};
    return reached(
        syscall(SYS_mount_setattr, AT_FDCWD, row->path, 0, &attributes, sizeof attributes));
}

static int opens_tree(const struct probe_row *row)
{
    return reached(syscall(SYS_open_tree, AT_FDCWD, ".", (unsigned)row->number));
}

static int moves_mount(const struct probe_row *row)
{
    (void)row;
    return reached(syscall(SYS_move_mount, -1, "", -1, "", 4));
}

static int opens_fs(const struct probe_row *row)
{
    return reached(syscall(SYS_fsopen, row->path, 0));
}

static int picks_fs(const struct probe_row *row)
{
    return reached(syscall(SYS_fspick, AT_FDCWD, row->path, 0));
}

static int bare_call(const struct probe_row *row)
{
    return reached(syscall(row->number, -1L, -1L, -1L, -1L, -1L));
}

static int pivots(const struct probe_row *row)
{
    (void)row;
    return reached(syscall(SYS_pivot_root, ".", "."));
}

static int changes_root(const struct probe_row *row)
{
    return probe_result(chroot(row->path));
}

/* --- C1: the mount namespace's masks end when its last process leaves; or under a mount namespace
 * of one's own they can be taken away. */

static int shows_canary(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int found = probe_holds_canary(fd);
    close(fd);
    return found < 0 ? found : found ? 0 : probe_word("masked");
}

static int new_namespaces(void)
{
    char map[64];
    uid_t uid = getuid();
    gid_t gid = getgid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return -errno;
    snprintf(map, sizeof map, "0 %u 1", uid);
    probe_write_text("/proc/self/uid_map", map);
    probe_write_text("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %u 1", gid);
    probe_write_text("/proc/self/gid_map", map); /* else mkdir on our tmpfs gives EOVERFLOW */
    mount(NULL, "/", NULL, RECURSIVE | PRIVATE, NULL);
    return 0;
}

static int nested_reads_by_dirfd(const struct probe_row *row)
{
    int dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = new_namespaces();
    return r < 0 ? r : shows_canary(dir, row->path);
}

static int nested_unmounts(const struct probe_row *row)
{
    int dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = new_namespaces();
    if (r < 0)
        return r;
    if (umount2(row->path, DETACH) < 0)
        return -errno;
    return shows_canary(dir, row->path);
}

/* --- C2: a new root of tmpfs, the old one detached with all masks, then the kept descriptor. */

static int nested_pivot(int *ret_dir)
{
    *ret_dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = new_namespaces();
    if (r < 0)
        return r;
    if (mount("tmpfs", "/tmp", "tmpfs", 0, NULL) < 0 || chdir("/tmp") < 0)
        return -errno;
    mkdir("old", 0700);
    if (syscall(SYS_pivot_root, ".", "old") < 0 || umount2("/old", DETACH) < 0)
        return -errno;
    return 0;
}

static int nested_pivot_reads(const struct probe_row *row)
{
    int dir, r = nested_pivot(&dir);
    return r < 0 ? r : shows_canary(dir, row->path);
}

static int nested_pivot_renames(const struct probe_row *row)
{
    char moved[256];
    int dir, r = nested_pivot(&dir);
    if (r < 0)
        return r;
    snprintf(moved, sizeof moved, "%s.probe-moved", row->path);
    r = probe_result(renameat(dir, row->path, dir, moved));
    if (r == 0)
        renameat(dir, moved, dir, row->path);
    return r;
}

static const struct probe_row probe_mounts_rows[] = {
    {"ns.unshare-user", unshares, NULL, CLONE_NEWUSER, 0},
    {"ns.unshare-user-mnt", unshares, NULL, CLONE_NEWUSER | CLONE_NEWNS, 0},
    {"ns.unshare-mnt", unshares, NULL, CLONE_NEWNS, 0},
    {"ns.unshare-pid", unshares, NULL, CLONE_NEWPID, 0},
    {"ns.unshare-net", unshares, NULL, CLONE_NEWNET, 0},
    {"ns.unshare-ipc", unshares, NULL, CLONE_NEWIPC, 0},
    {"ns.unshare-uts", unshares, NULL, CLONE_NEWUTS, 0},
    {"ns.unshare-cgroup", unshares, NULL, CLONE_NEWCGROUP, 0},
    {"ns.unshare-time", unshares, NULL, CLONE_NEWTIME, 0},
    {"ns.clone-user", clones, NULL, CLONE_NEWUSER, 0},
    {"ns.clone-user-net", clones, NULL, CLONE_NEWUSER | CLONE_NEWNET, 0},
    {"ns.clone-pid", clones, NULL, CLONE_NEWPID, 0},
    {"ns.clone3-user", clones3, NULL, CLONE_NEWUSER, 0},
    {"ns.clone3-mnt", clones3, NULL, CLONE_NEWNS, 0},
    {"ns.setns-mnt", enters, "/proc/1/ns/mnt", 0, 0},
    {"ns.setns-net", enters, "/proc/1/ns/net", 0, 0},
    {"ns.setns-user", enters, "/proc/1/ns/user", 0, 0},
    {"ns.setns-self-user", enters, "/proc/self/ns/user", 0, 0},
    {"ns.setns-bare", enters_bare, NULL, 0, 0},
    {"mount.tmpfs", mounts_tmpfs, "/tmp", 0, 0},
    {"mount.proc", mounts_proc, "/tmp", 0, 0},
    {"mount.bind-workspace", binds, NULL, 0, 0},
    {"mount.umount-env", unmounts, ".env", DETACH, 0},
    {"mount.umount-env-plain", unmounts, ".env", 0, 0},
    {"mount.umount-git-config", unmounts, ".git/config", DETACH, 0},
    {"mount.umount-proc", unmounts, "/proc", DETACH, 0},
    {"mount.remount-usr", remounts_writable, "/usr", 0, 0},
    {"mount.remount-git-config", remounts_writable, ".git/config", 0, 0},
    {"mount.setattr-usr", sets_attributes, "/usr", 0, 0},
    {"mount.open-tree-clone", opens_tree, NULL, 1, 0},
    {"mount.open-tree", opens_tree, NULL, 0, 0},
    {"mount.move-mount", moves_mount, NULL, 0, 0},
    {"mount.fsopen", opens_fs, "tmpfs", 0, 0},
    {"mount.fspick", picks_fs, "/tmp", 0, 0},
    {"mount.fsconfig", bare_call, NULL, SYS_fsconfig, 0},
    {"mount.fsmount", bare_call, NULL, SYS_fsmount, 0},
    {"mount.open-tree-attr", bare_call, NULL, 467, 0},
    {"mount.pivot-root", pivots, NULL, 0, 0},
    {"mount.chroot", changes_root, ".", 0, 0},
    {"mount.chroot-proc", changes_root, "/proc/1/root", 0, 0},
    {"nested.dirfd-env", nested_reads_by_dirfd, ".env", 0, 0},
    {"nested.umount-env", nested_unmounts, ".env", 0, 0},
    {"nested.pivot-env", nested_pivot_reads, ".env", 0, 0},
    {"nested.pivot-rename-env", nested_pivot_renames, ".env", 0, 0},
    {"nested.pivot-rename-config", nested_pivot_renames, ".git/config", 0, 0},
    {"nested.pivot-rename-hooks", nested_pivot_renames, ".git/hooks", 0, 0},
};
PROBE_TABLE(probe_mounts);
