/* The command's own process, from fork to exec: each step takes something away for good. The steps
 * and their order are the plan's (plan_command.c).
 *
 * Theory of operation. init forks it first of all, and while init builds the view on one processor,
 * it does on another what needs nothing of the view: it makes the network namespace (the dearest of
 * all, 0.35 ms), the gateway where there is a network (twice as dear again), drops capabilities,
 * loads the filter (0.1 ms). init gets the network namespace over a socket of theirs and enters it.
 * When the view is complete init says go. pivot_root has moved this process's root and current
 * directory along with init's; a look at a path now sees the view.
 */
#include "sandbox/gateway.h"
#include "sandbox/init.h"

#include "base/cleanup.h"
#include "confine/caps.h"
#include "confine/rlimit.h"
#include "confine/seccomp.h"
#include "net/wire.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static void fail(const struct sbox_init_context *c, int r, const char *stage, const char *detail)
{
    sbox_init_send(c->socket, SBOX_INIT_FAILED, -r, 0, stage, detail);
    _exit(125);
}

/* -- beside init ------------------------------------------------------------------------------- */

static int raise_loopback(void)
{
    _cleanup_close_ int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_name = "lo"};
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    return s < 0 || ioctl(s, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

static void make_gateway(const struct sbox_init_context *c, int init, int own_ns)
{
    struct sbox_failure failure = {NULL, NULL};
    struct sbox_gateway gateway = {.network = c->policy->network,
                                   .resolver_on_loopback = c->plan->resolver_on_loopback};
    _cleanup_close_ int fd = sbox_gateway_open(&gateway, own_ns, &failure);
    if (fd < 0)
        fail(c, fd, failure.stage, NULL);
    if (sbox_wire_send(init, "", 1, fd) < 0)
        fail(c, -errno, "hand over the gateway", NULL);
}

static void make_network(const struct sbox_init_context *c, int init)
{
    if (!(c->plan->namespaces & CLONE_NEWNET))
        return;
    if (unshare(CLONE_NEWNET) < 0)
        fail(c, -errno, "make the network namespace", NULL);
    int r = raise_loopback();
    if (r < 0)
        fail(c, r, "bring up loopback", NULL);
    _cleanup_close_ int fd = openat(c->host_proc, "self/ns/net", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || sbox_wire_send(init, "", 1, fd) < 0)
        fail(c, -errno, "hand over the network namespace", NULL);
    if (c->policy->network)
        make_gateway(c, init, fd);
}

/* -- steps ------------------------------------------------------------------------------------- */

/* /proc/sys/net is of the network namespace of whoever looks. Through the host's procfs: by now the
 * sandbox's may be in place, where it is read-only. */
static int set_network(const struct sbox_init_context *c, const struct sbox_step *step)
{
    _cleanup_close_ int fd = openat(c->host_proc, step->target, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : sbox_write_full(fd, step->source, strlen(step->source));
}

static int close_descriptors(const struct sbox_policy *policy)
{
    if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
        return -errno;
    for (size_t i = 0; i < policy->pass_fd_count; i++)
        if (fcntl(policy->pass_fds[i], F_SETFD, 0) < 0)
            return -errno;
    return 0;
}

static int run_command_step(struct sbox_init_context *c, const struct sbox_step *step)
{
    switch ((int)step->op) {
    case SBOX_OP_NET_SYSCTL:
        return set_network(c, step);
    case SBOX_OP_NO_CORE: {
        int r = sbox_rlimit_no_core();
        return r > 0 ? 0 : r;
    }
    case SBOX_OP_CLOSE_FDS:
        return close_descriptors(c->policy);
    case SBOX_OP_NO_NEW_PRIVS:
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
    case SBOX_OP_DROP_CAPS:
        return sbox_caps_drop_all();
    case SBOX_OP_SECCOMP:
        return sbox_seccomp_load(sbox_seccomp_program(c->landlock.scoped & SBOX_LL_SCOPE_SIGNAL
                                                          ? SBOX_SECCOMP_COMMAND
                                                          : SBOX_SECCOMP_COMMAND_NOSCOPE));
    case SBOX_OP_LANDLOCK:
        return sbox_landlock_enforce(&c->landlock);
    default:
        return -EINVAL;
    }
}

static void run_phase(struct sbox_init_context *c, enum sbox_phase phase)
{
    for (size_t i = 0; i < c->plan->count; i++) {
        const struct sbox_step *step = &c->plan->steps[i];
        if (sbox_op_phase(step->op) != phase)
            continue;
        int r = run_command_step(c, step);
        if (r < 0)
            fail(c, r, sbox_op_text(step->op), step->target);
    }
}

/* execvp(3), but it asks for a file before it executes it: an execve(2) that finds nothing has made
 * a whole new address space first, 40 us for each entry of PATH (measured). What comes back is
 * errno.
 */
static int execute(char *const argv[])
{
    const char *path = !*argv[0] || strchr(argv[0], '/') ? "" : getenv("PATH");
    int code = ENOENT;
    if (!path || !*path) {
        (void)execvp(argv[0], argv);
        return errno;
    }
    for (const char *end; path; path = *end ? end + 1 : NULL) {
        char file[PATH_MAX];
        end = strchrnul(path, ':');
        int n = snprintf(file, sizeof file, "%.*s%s%s", (int)(end - path), path,
                         end > path ? "/" : "./", argv[0]);
        if (n < 0 || (size_t)n >= sizeof file)
            continue;
        if (faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) == 0)
            (void)execvp(file, argv); /* with a slash it only adds: a script without #! is sh's */
        if (errno == EACCES)
            code = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR)
            return errno;
    }
    return code;
}

void sbox_command_main(struct sbox_init_context *c, int init)
{
    char go;
    if (chdir("/") < 0) /* pivot_root takes it along: nothing of the host's tree is kept */
        fail(c, -errno, "leave the current directory", NULL);
    if (c->plan->undumpable && sbox_set_undumpable() < 0)
        fail(c, -errno, "make the command's process undumpable", NULL);
    make_network(c, init);
    run_phase(c, SBOX_PHASE_AHEAD);
    sbox_close(c->host_proc);
    if (sbox_wire_receive(init, &go, sizeof go, NULL) <= 0)
        _exit(125); /* init is gone, and says why */
    (void)umask(c->policy->umask);
    if (chdir(c->policy->root->cwd) < 0)
        fail(c, -errno, "enter the current directory", c->policy->root->cwd);
    run_phase(c, SBOX_PHASE_COMMAND);
    (void)sbox_rlimit_restore_nofile(&c->nofile);
    (void)sigprocmask(SIG_SETMASK, &c->mask, NULL);
    environ = (char **)(uintptr_t)c->policy->environment;
    int code = execute(c->policy->command);
    sbox_init_send(c->socket, SBOX_INIT_EXEC, code, 0, NULL, NULL);
    _exit(code == ENOENT || code == ENOTDIR ? 127 : 126);
}
