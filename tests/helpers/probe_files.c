/* Reading what is none of the sandbox's business. The tests plant PROBE_CANARY in each of these
 * files; a file that can be opened but does not show it counts as masked. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* OK when the file shows the canary. */
static int reads(const struct probe_row *row)
{
    int fd = open(probe_path(row->path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int found = probe_holds_canary(fd);
    close(fd);
    if (found < 0)
        return found;
    return found ? 0 : probe_word("masked");
}

/* OK when the file can be read at all: for files of the system. */
static int reads_any(const struct probe_row *row)
{
    char byte;
    int fd = open(probe_path(row->path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, &byte, 1);
    int r = n < 0 ? -errno : n == 0 ? probe_word("empty") : 0;
    close(fd);
    return r;
}

/* OK when the directory shows an entry that the sandbox does not need: anything but row->number
 * entries. */
static int lists(const struct probe_row *row)
{
    DIR *d = opendir(probe_path(row->path));
    if (!d)
        return -errno;
    long entries = 0;
    for (struct dirent *e; (e = readdir(d));)
        entries += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return entries > row->number ? 0 : probe_word("bare");
}

/* From the root of the view upwards by "..", then down: the path of the host's key. */
static int reads_by_dotdot(const struct probe_row *row)
{
    char path[8192];
    snprintf(path, sizeof path, "/proc/self/root/../../..%s", probe_path(row->path));
    struct probe_row direct = {.path = path};
    return reads(&direct);
}

/* A link in the workspace leads out of it. */
static int reads_by_link(const struct probe_row *row)
{
    unlink("probe-link");
    if (symlink(probe_path(row->path), "probe-link") < 0)
        return -errno;
    struct probe_row direct = {.path = "probe-link"};
    int r = reads(&direct);
    unlink("probe-link");
    return r;
}

/* A descriptor kept on the directory, as malware keeps one before it plays with mounts. */
static int reads_by_dirfd(const struct probe_row *row)
{
    int dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = dir < 0 ? -1 : openat(dir, row->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int found = probe_holds_canary(fd);
    return found < 0 ? found : found ? 0 : probe_word("masked");
}

/* A handle names the inode beneath every mask. */
static int reads_by_handle(const struct probe_row *row)
{
    struct {
        struct file_handle head;
        unsigned char bytes[128];
    } h = {.head.handle_bytes = sizeof h.bytes};
    int mount_id;
    if (name_to_handle_at(AT_FDCWD, row->path, &h.head, &mount_id, 0) < 0)
        return -errno;
    int fd = open_by_handle_at(AT_FDCWD, &h.head, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : 0;
}

/* The file under another name: a hard link, made now. */
static int reads_by_hard_link(const struct probe_row *row)
{
    unlink("probe-alias");
    if (link(row->path, "probe-alias") < 0)
        return -errno;
    struct probe_row direct = {.path = "probe-alias"};
    int r = reads(&direct);
    unlink("probe-alias");
    return r;
}

/* The file under another name: moved, and back. row->number: RENAME_EXCHANGE with a new file. */
static int reads_by_rename(const struct probe_row *row)
{
    unsigned flags = row->number ? RENAME_EXCHANGE : 0;
    if (flags)
        close(open("probe-moved", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    int r = probe_result(renameat2(AT_FDCWD, row->path, AT_FDCWD, "probe-moved", flags));
    if (r == 0) {
        struct probe_row direct = {.path = "probe-moved"};
        r = reads(&direct);
        renameat2(AT_FDCWD, "probe-moved", AT_FDCWD, row->path, flags);
    }
    if (flags)
        unlink("probe-moved");
    return r;
}

/* The directory that holds the masked file is moved: do the masks move with it? */
static int reads_after_parent_moved(const struct probe_row *row)
{
    (void)row;
    int r = probe_result(rename("packages/a", "packages/moved"));
    if (r < 0)
        return r;
    struct probe_row direct = {.path = "packages/moved/.env"};
    r = reads(&direct);
    mkdir("packages/a", 0755);
    struct probe_row again = {.path = "packages/a/.env"};
    int fresh = reads(&again);
    rmdir("packages/a");
    rename("packages/moved", "packages/a");
    return r == 0 || fresh == 0 ? 0 : r;
}

static int removes(const struct probe_row *row)
{
    /* Outside this would lose the file: a link keeps it. */
    int kept = link(row->path, "probe-kept") == 0;
    int r = probe_result(unlink(row->path));
    if (r == 0 && kept)
        rename("probe-kept", row->path);
    unlink("probe-kept");
    return r;
}

/* The caller's descriptors above 2. The tests hold one open on a directory. */
static int inherits_descriptor(const struct probe_row *row)
{
    (void)row;
    for (int fd = 3; fd < 1024; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
            return 0;
    }
    return probe_word("none");
}

extern char **environ;

static int environment_holds_canary(const struct probe_row *row)
{
    (void)row;
    for (char **e = environ; *e; e++)
        if (strstr(*e, PROBE_CANARY))
            return 0;
    return probe_word("scrubbed");
}

static const struct probe_row probe_files_rows[] = {
    {"read.home.ssh-key", reads, "~/.ssh/id_ed25519", 0, 0},
    {"read.home.aws", reads, "~/.aws/credentials", 0, 0},
    {"read.home.firefox", reads, "~/.mozilla/firefox/x.default/logins.json", 0, 0},
    {"read.home.chrome", reads, "~/.config/google-chrome/Default/Cookies", 0, 0},
    {"read.home.gcloud", reads, "~/.config/gcloud/credentials.db", 0, 0},
    {"read.home.gh", reads, "~/.config/gh/hosts.yml", 0, 0},
    {"read.home.kube", reads, "~/.kube/config", 0, 0},
    {"read.home.docker", reads, "~/.docker/config.json", 0, 0},
    {"read.home.gnupg", reads, "~/.gnupg/secring.gpg", 0, 0},
    {"read.home.netrc", reads, "~/.netrc", 0, 0},
    {"read.home.pypirc", reads, "~/.pypirc", 0, 0},
    {"read.home.npmrc", reads, "~/.npmrc", 0, 0},
    {"read.home.git-credentials", reads, "~/.git-credentials", 0, 0},
    {"read.home.history", reads, "~/.bash_history", 0, 0},
    {"read.home.document", reads, "~/Documents/letter.txt", 0, 0},
    {"read.home.keyring", reads, "~/.local/share/keyrings/login.keyring", 0, 0},
    {"read.home.uv-credentials", reads, "~/.local/share/uv/credentials/x.toml", 0, 0},
    {"read.home.cargo-credentials", reads, "~/.cargo/credentials.toml", 0, 0},
    {"read.home.sbox-data", reads, "~/.local/share/sbox/canary", 0, 0},
    {"read.home.sbox-list", lists, "~/.local/share/sbox", 0, 0},
    {"read.home.sibling", reads, "~/project-tools/secret.txt", 0, 0},
    {"read.home.sibling-dotdot", reads, "../project-tools/secret.txt", 0, 0},
    {"read.home.by-link", reads_by_link, "~/.ssh/id_ed25519", 0, 0},
    {"read.home.by-dotdot", reads_by_dotdot, "~/.ssh/id_ed25519", 0, 0},
    {"read.outside", reads, "$outside/secret.txt", 0, 0},
    {"read.tmp", reads, "$tmp_file", 0, 0},
    {"read.var-tmp", reads, "$var_tmp_file", 0, 0},
    {"read.dev-shm", reads, "$shm_file", 0, 0},
    {"read.etc.shadow", reads_any, "/etc/shadow", 0, 0},
    {"read.etc.gshadow", reads_any, "/etc/gshadow", 0, 0},
    {"read.root-home", lists, "/root", 0, 0},
    {"read.home-list", lists, "/home", 1, 0},
    {"read.boot", lists, "/boot", 0, 0},
    {"read.var-log", lists, "/var/log", 0, 0},
    {"read.var-lib", lists, "/var/lib", 0, 0},
    {"read.srv", lists, "/srv", 0, 0},
    {"read.mnt", lists, "/mnt", 0, 0},
    {"read.sys-firmware", lists, "/sys/firmware", 0, 0},
    {"read.sys-kernel", lists, "/sys/kernel", 0, 0},
    {"read.cgroup", lists, "/sys/fs/cgroup", 0, 0},
    {"read.dev.mem", reads_any, "/dev/mem", 0, 0},
    {"read.dev.kmsg", reads_any, "/dev/kmsg", 0, 0},
    {"read.dev.disk", lists, "/dev/disk", 0, 0},
    {"read.dev.vda", reads_any, "/dev/vda", 0, 0},
    {"read.dev.input", lists, "/dev/input", 0, 0},
    {"read.dev.fuse", reads_any, "/dev/fuse", 0, 0},
    {"read.dev.tun", reads_any, "/dev/net/tun", 0, 0},
    {"read.dev.kvm", reads_any, "/dev/kvm", 0, 0},
    {"read.proc.kcore", reads_any, "/proc/kcore", 0, 0},
    {"read.proc.kallsyms", reads_any, "/proc/kallsyms", 0, 0},
    {"read.proc.kmsg", reads_any, "/proc/kmsg", 0, 0},
    {"read.proc.keys", reads_any, "/proc/keys", 0, 0},
    {"read.proc.timer-list", reads_any, "/proc/timer_list", 0, 0},
    {"read.proc.kpageflags", reads_any, "/proc/kpageflags", 0, 0},
    {"read.proc.1.environ", reads_any, "/proc/1/environ", 0, 0},
    {"read.proc.1.mem", reads_any, "/proc/1/mem", 0, 0},
    {"read.proc.1.maps", reads_any, "/proc/1/maps", 0, 0},
    {"read.proc.1.root", lists, "/proc/1/root", 0, 0},
    {"read.proc.1.cwd", lists, "/proc/1/cwd", 0, 0},
    {"read.proc.1.fd", lists, "/proc/1/fd", 0, 0},
    {"read.proc.1.auxv", reads_any, "/proc/1/auxv", 0, 0},
    {"read.proc.1.syscall", reads_any, "/proc/1/syscall", 0, 0},
    {"read.proc.1.stack", reads_any, "/proc/1/stack", 0, 0},
    {"secret.env", reads, ".env", 0, 0},
    {"secret.env.local", reads, ".env.local", 0, 0},
    {"secret.env.production", reads, ".env.production", 0, 0},
    {"secret.env.upper-case", reads, ".ENV", 0, 0},
    {"secret.env.backup", reads, ".env~", 0, 0},
    {"secret.env.swap", reads, ".env.swp", 0, 0},
    {"secret.envrc", reads, ".envrc", 0, 0},
    {"secret.env.nested", reads, "packages/a/.env", 0, 0},
    {"secret.env.directory", reads, ".env.d/secret", 0, 0},
    {"secret.env.link", reads, "linked/.env", 0, 0},
    {"secret.env.link-target", reads, "linked/target.txt", 0, 0},
    {"secret.env.by-dirfd", reads_by_dirfd, ".env", 0, 0},
    {"secret.env.by-handle", reads_by_handle, ".env", 0, 0},
    {"secret.env.by-proc-cwd", reads, "/proc/self/cwd/.env", 0, 0},
    {"secret.env.by-hard-link", reads_by_hard_link, ".env", 0, 0},
    {"secret.env.by-rename", reads_by_rename, ".env", 0, 0},
    {"secret.env.by-exchange", reads_by_rename, ".env", 1, 0},
    {"secret.env.by-parent-rename", reads_after_parent_moved, NULL, 0, 0},
    {"secret.env.unlink", removes, ".env", 0, 0},
    {"secret.environment", environment_holds_canary, NULL, 0, 0},
    {"secret.environment.proc", reads, "/proc/self/environ", 0, 0},
    {"secret.descriptor", inherits_descriptor, NULL, 0, 0},
};
PROBE_TABLE(probe_files);
