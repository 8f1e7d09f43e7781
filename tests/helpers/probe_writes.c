/* Changing what lies outside of the workspace, and what the kernel lets /proc change. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A new file in the directory; gone again at once. */
static int creates_in(const struct probe_row *row)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/sbox-probe-new", probe_path(row->path));
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    close(fd);
    unlink(path);
    return 0;
}

static int makes_directory(const struct probe_row *row)
{
    const char *path = probe_path(row->path);
    int r = probe_result(mkdir(path, 0700));
    if (r == 0)
        rmdir(path);
    return r;
}

/* Opening for writing is the whole check for a file on a disk: nothing is written. */
static int opens_for_writing(const struct probe_row *row)
{
    int fd = open(probe_path(row->path), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

/* A file of /proc decides at the write. The value read is written back. */
static int writes_back(const struct probe_row *row)
{
    char value[4096];
    int fd = open(row->path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, value, sizeof value);
    int r = n < 0 ? -errno : probe_result(pwrite(fd, value, (size_t)n, 0));
    close(fd);
    return r;
}

/* The same where reading is not possible or not needed: "0" is harmless in each of them. */
static int writes_zero(const struct probe_row *row)
{
    return probe_write_text(row->path, "0");
}

static int makes_device(const struct probe_row *row)
{
    mode_t type = row->number == 0 ? S_IFBLK : S_IFCHR;
    dev_t device = row->number == 0 ? makedev(254, 0) : makedev(1, (unsigned)row->number);
    int r = probe_result(mknod("probe-device", type | 0600, device));
    unlink("probe-device");
    return r;
}

static int sets_file_capability(const struct probe_row *row)
{
    static const unsigned char cap_net_raw[20] = {1, 0, 0, 2, 0, 0x20};
    int fd = open("probe-cap", O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
    int r = probe_result(fsetxattr(fd, row->path, cap_net_raw, sizeof cap_net_raw, 0));
    close(fd);
    unlink("probe-cap");
    return r;
}

static int gives_away(const struct probe_row *row)
{
    if ((uid_t)row->number == getuid())
        return probe_word("own");
    int fd = open("probe-chown", O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
    int r = probe_result(fchown(fd, (uid_t)row->number, (gid_t)-1));
    close(fd);
    unlink("probe-chown");
    return r;
}

/* Out of the workspace by a link that is followed for writing. */
static int writes_through_link(const struct probe_row *row)
{
    unlink("probe-link");
    if (symlink(probe_path(row->path), "probe-link") < 0)
        return -errno;
    struct probe_row link = {.path = "probe-link"};
    int r = opens_for_writing(&link);
    unlink("probe-link");
    return r;
}

/* The workspace itself, moved away from under the masks. */
static int renames(const struct probe_row *row)
{
    char from[4096], to[4200];
    snprintf(from, sizeof from, "%s", probe_path(row->path));
    snprintf(to, sizeof to, "%s.moved", from);
    int r = probe_result(rename(from, to));
    if (r == 0)
        rename(to, from);
    return r;
}

static const struct probe_row probe_writes_rows[] = {
    {"write.root", creates_in, "/", 0, 0},
    {"write.usr-bin", creates_in, "/usr/bin", 0, 0},
    {"write.usr-local-bin", creates_in, "/usr/local/bin", 0, 0},
    {"write.etc", creates_in, "/etc", 0, 0},
    {"write.opt", creates_in, "/opt", 0, 0},
    {"write.var", creates_in, "/var", 0, 0},
    {"write.proc", creates_in, "/proc", 0, 0},
    {"write.sys", creates_in, "/sys", 0, 0},
    {"write.dev", creates_in, "/dev", 0, 0},
    {"write.cron", creates_in, "/var/spool/cron", 0, 0},
    {"write.systemd-system", creates_in, "/etc/systemd/system", 0, 0},
    {"write.etc.passwd", opens_for_writing, "/etc/passwd", 0, 0},
    {"write.etc.ld-preload", opens_for_writing, "/etc/ld.so.preload", 0, 0},
    {"write.usr-bin.env", opens_for_writing, "/usr/bin/env", 0, 0},
    {"write.home", creates_in, "~", 0, 0},
    {"write.home.bashrc", opens_for_writing, "~/.bashrc", 0, 0},
    {"write.home.profile", opens_for_writing, "~/.profile", 0, 0},
    {"write.home.zshrc", opens_for_writing, "~/.zshrc", 0, 0},
    {"write.home.gitconfig", opens_for_writing, "~/.gitconfig", 0, 0},
    {"write.home.npmrc", opens_for_writing, "~/.npmrc", 0, 0},
    {"write.home.bashrc-by-link", writes_through_link, "~/.bashrc", 0, 0},
    {"write.home.ssh", creates_in, "~/.ssh", 0, 0},
    {"write.home.ssh-dir", makes_directory, "~/.sshd", 0, 0},
    {"write.home.cargo-bin", creates_in, "~/.cargo/bin", 0, 0},
    {"write.home.cargo-bin.tool", opens_for_writing, "~/.cargo/bin/tool", 0, 0},
    {"write.home.local-bin", creates_in, "~/.local/bin", 0, 0},
    {"write.home.local-share", creates_in, "~/.local/share", 0, 0},
    {"write.home.sbox-data", creates_in, "~/.local/share/sbox", 0, 0},
    {"write.home.sbox-dir", makes_directory, "~/.local/share/sbox", 0, 0},
    {"write.home.sibling", creates_in, "~/project-tools", 0, 0},
    {"write.home.sibling-dir", makes_directory, "~/project-other", 0, 0},
    {"write.outside", creates_in, "$outside", 0, 0},
    {"write.workspace-rename", renames, "$workspace", 0, 0},
    {"write.home-rename", renames, "~", 0, 0},
    {"write.proc.core-pattern", writes_back, "/proc/sys/kernel/core_pattern", 0, 0},
    {"write.proc.hostname", writes_back, "/proc/sys/kernel/hostname", 0, 0},
    {"write.proc.ns-last-pid", writes_back, "/proc/sys/kernel/ns_last_pid", 0, 0},
    {"write.proc.shm-max", writes_back, "/proc/sys/kernel/shmmax", 0, 0},
    {"write.proc.modprobe", writes_back, "/proc/sys/kernel/modprobe", 0, 0},
    {"write.proc.ip-forward", writes_back, "/proc/sys/net/ipv4/ip_forward", 0, 0},
    {"write.proc.low-ports", writes_back, "/proc/sys/net/ipv4/ip_unprivileged_port_start", 0, 0},
    {"write.proc.userns-limit", writes_back, "/proc/sys/user/max_user_namespaces", 0, 0},
    {"write.proc.mntns-limit", writes_back, "/proc/sys/user/max_mnt_namespaces", 0, 0},
    {"write.proc.binfmt", writes_zero, "/proc/sys/fs/binfmt_misc/register", 0, 0},
    {"write.proc.sysrq", writes_zero, "/proc/sysrq-trigger", 0, 0},
    {"write.proc.irq", writes_back, "/proc/irq/default_smp_affinity", 0, 0},
    {"write.proc.1.oom", writes_back, "/proc/1/oom_score_adj", 0, 0},
    {"write.proc.1.timerslack", writes_back, "/proc/1/timerslack_ns", 0, 0},
    {"write.proc.1.comm", writes_back, "/proc/1/comm", 0, 0},
    {"write.proc.1.mem", opens_for_writing, "/proc/1/mem", 0, 0},
    {"write.proc.1.exe", opens_for_writing, "/proc/1/exe", 0, 0},
    {"write.proc.1.clear-refs", writes_zero, "/proc/1/clear_refs", 0, 0},
    {"write.proc.1.coredump-filter", writes_back, "/proc/1/coredump_filter", 0, 0},
    {"write.proc.1.sched", writes_zero, "/proc/1/sched", 0, 0},
    {"write.proc.1.autogroup", writes_zero, "/proc/1/autogroup", 0, 0},
    {"write.proc.self.uid-map", writes_zero, "/proc/self/uid_map", 0, 0},
    {"write.proc.self.setgroups", writes_back, "/proc/self/setgroups", 0, 0},
    {"write.cgroup", opens_for_writing, "/sys/fs/cgroup/cgroup.procs", 0, 0},
    {"write.sys-power", opens_for_writing, "/sys/power/state", 0, 0},
    {"write.sys-uevent-helper", opens_for_writing, "/sys/kernel/uevent_helper", 0, 0},
    {"write.device.mem", makes_device, NULL, 1, 0},
    {"write.device.null", makes_device, NULL, 3, 0},
    {"write.device.disk", makes_device, NULL, 0, 0},
    {"write.xattr.capability", sets_file_capability, "security.capability", 0, 0},
    {"write.xattr.trusted", sets_file_capability, "trusted.probe", 0, 0},
    {"write.chown.root", gives_away, NULL, 0, 0},
    {"write.chown.nobody", gives_away, NULL, 65534, 0},
};
PROBE_TABLE(probe_writes);
