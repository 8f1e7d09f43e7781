/* proxy-confined: sbox-proxy's own confinement, attacked from within. Each row is tried in a
 * process that has confined itself as sbox-proxy does before it reads a byte from inside; what it
 * still can do is what a bug in a parser would give to an attacker.
 *
 *     proxy-confined           NAME<tab>RESULT a line: OK, an errno, or how the process ended
 *     proxy-confined --bare    the same without the confinement: what a refusal is compared with
 */
#include "base/error.h"
#include "base/log.h"
#include "proxy/server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct row {
    const char *name;
    long (*attempt)(void);
};

static char scratch[64];
static pid_t parent;

static long word(long r)
{
    return r < 0 ? -errno : 0;
}

/* -- files ------------------------------------------------------------------------------------- */

static long read_hosts(void)
{
    return word(open("/etc/hosts", O_RDONLY | O_CLOEXEC));
}

static long read_passwd(void)
{
    return word(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static long list_root(void)
{
    return word(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static long read_environment(void)
{
    return word(open("/proc/self/environ", O_RDONLY | O_CLOEXEC));
}

static long create_file(void)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/new", scratch);
    return word(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static long write_file(void)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/there", scratch);
    return word(open(path, O_WRONLY | O_CLOEXEC));
}

static long truncate_file(void)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/there", scratch);
    return word(truncate(path, 0));
}

static long remove_file(void)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/there", scratch);
    return word(unlink(path));
}

static long change_mode(void)
{
    return word(chmod(scratch, 0700));
}

static long change_directory(void)
{
    return word(chdir("/tmp"));
}

/* -- processes --------------------------------------------------------------------------------- */

static long execute(void)
{
    char *argv[] = {(char *)(uintptr_t) "true", NULL};
    return word(execv("/bin/true", argv));
}

static long make_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return word(pid);
}

static long signal_parent(void)
{
    return word(kill(parent, 0));
}

static long trace_parent(void)
{
    return word(ptrace(PTRACE_SEIZE, parent, NULL, NULL));
}

static long read_parent(void)
{
    char byte;
    struct iovec here = {&byte, 1};
    struct iovec there = {scratch, 1};
    return word(process_vm_readv(parent, &here, 1, &there, 1, 0));
}

static long take_descriptor(void)
{
    int pidfd = (int)syscall(SYS_pidfd_open, parent, 0);
    return pidfd < 0 ? -errno : word(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static long executable_memory(void)
{
    void *p =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? -errno : 0;
}

static long limits_of_parent(void)
{
    const struct rlimit limit = {0, 0};
    return word(prlimit(parent, RLIMIT_CORE, &limit, NULL));
}

/* -- the kernel -------------------------------------------------------------------------------- */

static long new_namespace(void)
{
    return word(unshare(CLONE_NEWUSER));
}

static long mount_something(void)
{
    return word(mount("none", "/mnt", "tmpfs", 0, NULL));
}

static long load_bpf(void)
{
    return word(syscall(SYS_bpf, 0, NULL, 0));
}

static long use_io_uring(void)
{
    char parameters[128] = {0};
    return word(syscall(SYS_io_uring_setup, 4, parameters));
}

static long add_key(void)
{
    return word(syscall(SYS_keyctl, 0 /* GET_KEYRING_ID */, -3 /* session */, 0));
}

static long push_terminal_input(void)
{
    return word(ioctl(0, TIOCSTI, "x"));
}

static long become_dumpable(void)
{
    return word(prctl(PR_SET_DUMPABLE, 1));
}

/* -- sockets ----------------------------------------------------------------------------------- */

static long dial_tcp(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    return connect(fd, (struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS ? -errno : 0;
}

static long ask_udp(void)
{
    return word(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

static long listen_tcp(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof here) < 0)
        return -errno;
    return word(listen(fd, 1));
}

/* Without bind(2) the kernel chooses a port. */
static long listen_unbound(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return fd < 0 ? -errno : word(listen(fd, 1));
}

static long family(int domain, int type, int protocol)
{
    return word(socket(domain, type | SOCK_CLOEXEC, protocol));
}

static long unix_socket(void)
{
    return family(AF_UNIX, SOCK_STREAM, 0);
}

static long abstract_connect(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "\0sbox-confined"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd < 0 ? -errno : word(connect(fd, (struct sockaddr *)&to, sizeof to));
}

static long raw_socket(void)
{
    return family(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static long packet_socket(void)
{
    return family(AF_PACKET, SOCK_RAW, 0);
}

static long netlink_socket(void)
{
    return family(AF_NETLINK, SOCK_RAW, 12 /* NETLINK_NETFILTER */);
}

static long vsock_socket(void)
{
    return family(AF_VSOCK, SOCK_STREAM, 0);
}

static const struct row rows[] = {
    {"file.chdir", change_directory},
    {"file.chmod", change_mode},
    {"file.create", create_file},
    {"file.list-root", list_root},
    {"file.read-environ", read_environment},
    {"file.read-hosts", read_hosts},
    {"file.read-passwd", read_passwd},
    {"file.remove", remove_file},
    {"file.truncate", truncate_file},
    {"file.write", write_file},
    {"kernel.bpf", load_bpf},
    {"kernel.dumpable", become_dumpable},
    {"kernel.io-uring", use_io_uring},
    {"kernel.keyring", add_key},
    {"kernel.mount", mount_something},
    {"kernel.tiocsti", push_terminal_input},
    {"kernel.unshare", new_namespace},
    {"process.exec", execute},
    {"process.fork", make_process},
    {"process.getfd", take_descriptor},
    {"process.kill", signal_parent},
    {"process.mmap-exec", executable_memory},
    {"process.prlimit", limits_of_parent},
    {"process.ptrace", trace_parent},
    {"process.vm-read", read_parent},
    {"socket.abstract", abstract_connect},
    {"socket.listen", listen_tcp},
    {"socket.listen-unbound", listen_unbound},
    {"socket.netlink", netlink_socket},
    {"socket.packet", packet_socket},
    {"socket.raw", raw_socket},
    {"socket.tcp-connect", dial_tcp},
    {"socket.udp", ask_udp},
    {"socket.unix", unix_socket},
    {"socket.vsock", vsock_socket},
};

/* In the child, which has nothing to write to but the pipe. */
static void try_row(const struct row *row, bool bare, int report)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    int32_t result = 0;
    if (!bare && sbox_proxy_confine(&err) < 0) {
        (void)fprintf(stderr, "proxy-confined: %s\n", err.message);
        _exit(1);
    }
    /* an exec that works would end without a word */
    if (row->attempt == execute)
        (void)fcntl(report, F_SETFD, 0);
    result = (int32_t)row->attempt();
    _exit(write(report, &result, sizeof result) == sizeof result ? 0 : 1);
}

static void print_row(const struct row *row, bool bare)
{
    int pipe_fds[2], status = 0;
    int32_t result = 0;
    if (pipe(pipe_fds) < 0)
        exit(1);
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        try_row(row, bare, pipe_fds[1]);
    close(pipe_fds[1]);
    ssize_t n = read(pipe_fds[0], &result, sizeof result);
    close(pipe_fds[0]);
    (void)waitpid(child, &status, 0);
    if (n == sizeof result)
        printf("%s\t%s\n", row->name, result == 0 ? "OK" : strerrorname_np(-result));
    else if (WIFSIGNALED(status))
        printf("%s\tSIG%s\n", row->name, sigabbrev_np(WTERMSIG(status)));
    else
        printf("%s\t%s\n", row->name,
               row->attempt == execute && WEXITSTATUS(status) == 0 ? "OK" : "no word");
}

int main(int argc, char **argv)
{
    bool bare = argc > 1 && strcmp(argv[1], "--bare") == 0;
    char path[128];
    parent = getpid();
    (void)snprintf(scratch, sizeof scratch, "/tmp/proxy-confined.XXXXXX");
    if (!mkdtemp(scratch))
        return 1;
    (void)snprintf(path, sizeof path, "%s/there", scratch);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (fd >= 0)
            close(fd);
        print_row(&rows[i], bare);
    }
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/new", scratch);
    (void)unlink(path);
    (void)rmdir(scratch);
    return 0;
}
