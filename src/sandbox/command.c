/* The command's own process, from fork to exec: each step takes something away for good. The steps
 * and their order are the plan's (plan_command.c). */
#include "sandbox/init.h"

#include "base/cleanup.h"
#include "confine/caps.h"
#include "confine/landlock.h"
#include "confine/rlimit.h"
#include "confine/seccomp.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static enum sbox_access access_of(enum sbox_grant grant)
{
    if (grant == SBOX_GRANT_WRITE)
        return SBOX_ACCESS_WRITE;
    return grant == SBOX_GRANT_DEVICE ? SBOX_ACCESS_DEVICE : SBOX_ACCESS_READ;
}

static int allow_path(struct sbox_landlock *l, const char *path, enum sbox_access access)
{
    _cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno; /* an optional part of the view */
    return sbox_landlock_allow(l, fd, access);
}

/* The rules repeat the view: whatever else should become reachable, by a kept descriptor or a mount
 * that fell off, has no rule. */
static int apply_landlock(const struct sbox_init_context *c, struct sbox_landlock *l)
{
    int r = sbox_landlock_begin(l, c->policy->landlock_abi);
    if (r == 0)
        r = allow_path(l, "/", SBOX_ACCESS_LIST);
    if (r == 0 && c->plan->host_root)
        r = 0;
    for (size_t i = 0; r == 0 && i < c->plan->count; i++) {
        const struct sbox_step *step = &c->plan->steps[i];
        char path[PATH_MAX];
        if (step->grant == SBOX_GRANT_NONE)
            continue;
        if ((size_t)snprintf(path, sizeof path, "/%s", step->target) >= sizeof path)
            return -ENAMETOOLONG;
        r = allow_path(l, path, access_of(step->grant));
    }
    for (int fd = 0; r == 0 && fd <= 2; fd++)
        r = sbox_landlock_allow_stream(l, fd);
    return r < 0 ? r : sbox_landlock_enforce(l);
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

static int run_command_step(const struct sbox_init_context *c, enum sbox_op op,
                            struct sbox_landlock *l)
{
    switch ((int)op) {
    case SBOX_OP_NO_CORE: {
        int r = sbox_rlimit_no_core();
        return r > 0 ? 0 : r;
    }
    case SBOX_OP_CLOSE_FDS:
        return close_descriptors(c->policy);
    case SBOX_OP_NO_NEW_PRIVS:
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
    case SBOX_OP_LANDLOCK:
        return apply_landlock(c, l);
    case SBOX_OP_DROP_CAPS:
        return sbox_caps_drop_all();
    case SBOX_OP_SECCOMP:
        return sbox_seccomp_load(sbox_seccomp_program(l->scoped & SBOX_LL_SCOPE_SIGNAL
                                                          ? SBOX_SECCOMP_COMMAND
                                                          : SBOX_SECCOMP_COMMAND_NOSCOPE));
    default:
        return -EINVAL;
    }
}

static void fail(const struct sbox_init_context *c, int r, const char *stage, const char *detail)
{
    sbox_init_send(c->socket, SBOX_INIT_FAILED, -r, 0, stage, detail);
    _exit(125);
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

void sbox_command_main(const struct sbox_init_context *c)
{
    struct sbox_landlock landlock = {.fd = -1};
    (void)umask(c->policy->umask);
    if (chdir(c->policy->root->cwd) < 0)
        fail(c, -errno, "enter the current directory", c->policy->root->cwd);
    for (size_t i = 0; i < c->plan->count; i++) {
        enum sbox_op op = c->plan->steps[i].op;
        if (sbox_op_phase(op) != SBOX_PHASE_COMMAND)
            continue;
        int r = run_command_step(c, op, &landlock);
        if (r < 0)
            fail(c, r, sbox_op_text(op), NULL);
    }
    (void)sbox_rlimit_restore_nofile(&c->nofile);
    (void)sigprocmask(SIG_SETMASK, &c->mask, NULL);
    environ = (char **)(uintptr_t)c->policy->environment;
    int code = execute(c->policy->command);
    sbox_init_send(c->socket, SBOX_INIT_EXEC, code, 0, NULL, NULL);
    _exit(code == ENOENT || code == ENOTDIR ? 127 : 126);
}
