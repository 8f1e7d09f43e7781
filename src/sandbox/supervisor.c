/* The supervisor: the process that the user started.
 *
 * Theory of operation
 * 1. All signals are blocked and read from a descriptor. Those that the terminal sent to the whole
 *    process group (SI_KERNEL) the command has got itself; those that a process sent to sbox alone
 *    are passed on to it by init.
 * 2. clone3 makes init in all namespaces at once but the network's (command.c). The supervisor
 * clears its own dumpable flag after that: before, the child could not write its maps.
 * 3. When init reports READY the guard is forked, and init told to go on when the guard is in
 * place.
 * 4. When the command stops, the supervisor stops itself, so that the caller's shell sees a stopped
 *    job; `fg` continues the whole process group, the command included.
 * 5. The run is over when init's end of the socket is closed. Whatever is alive inside dies with
 *    init, and init and the guard die with the supervisor.
 */
#include "sandbox/sandbox.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/log.h"
#include "confine/rlimit.h"
#include "sandbox/build.h"
#include "sandbox/explain.h"
#include "sandbox/guard.h"
#include "sandbox/init.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct run {
    struct sbox_init_context init;
    struct sbox_plan *plan;
    struct sbox_sandbox_result *result;
    struct sbox_error *err;
    int socket;  /* to init */
    int signals; /* signalfd */
    int init_pidfd;
    int guard_socket;
    const struct sbox_policy_watch *watch; /* NULL: no longer */
    pid_t init_pid;
    pid_t guard_pid;
    pid_t terminal_group; /* foreground group at the start, when it was ours; else 0 */
    int status;           /* 0, or -errno: the sandbox could not be built */
    bool continued;       /* SIGCONT came, and init has not said so of the command yet */
    bool exited;          /* init reported the command's end */
    bool over;
};

static void order(struct run *run, int signal)
{
    struct sbox_init_order o = {.signal = signal};
    (void)send(run->socket, &o, sizeof o, MSG_NOSIGNAL);
}

/* -- start ------------------------------------------------------------------------------------- */

static int clone_init(struct run *run)
{
    _cleanup_close_ int inner = -1;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return sbox_error_set(run->err, errno, "socketpair");
    run->socket = pair[0];
    inner = pair[1];
    run->init.socket = inner;
    struct clone_args args = {
        /* The network namespace is the dearest: command.c makes it, while init mounts. */
        .flags = (run->plan->namespaces & ~(uint64_t)CLONE_NEWNET) | CLONE_PIDFD,
        .pidfd = (uint64_t)(uintptr_t)&run->init_pidfd,
        .exit_signal = SIGCHLD,
    };
    long pid = syscall(SYS_clone3, &args, sizeof args);
    if (pid < 0)
        return sbox_explain_clone(errno, run->err);
    if (pid == 0) {
        (void)close(run->socket);
        sbox_init_main(&run->init);
    }
    run->init_pid = (pid_t)pid;
    return 0;
}

static int start_guard(struct run *run, const int fds[SBOX_INIT_FDS])
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return sbox_error_set(run->err, errno, "socketpair");
    run->guard_socket = pair[0];
    struct sbox_guard_request request = {
        .plan = run->plan,
        .user_ns = fds[SBOX_INIT_USER_NS],
        .mount_ns = fds[SBOX_INIT_MOUNT_NS],
        .mountinfo = fds[SBOX_INIT_MOUNTINFO],
        .init_pidfd = run->init_pidfd,
        .report = pair[1],
    };
    run->guard_pid = fork();
    if (run->guard_pid == 0) {
        (void)close(run->socket);
        (void)close(run->guard_socket);
        _exit(sbox_guard_main(&request));
    }
    int saved = errno;
    (void)close(pair[1]);
    return run->guard_pid < 0 ? sbox_error_set(run->err, saved, "start the guard") : 0;
}

/* -- messages ---------------------------------------------------------------------------------- */

static void take_descriptors(struct msghdr *message, int fds[SBOX_INIT_FDS])
{
    for (struct cmsghdr *h = CMSG_FIRSTHDR(message); h; h = CMSG_NXTHDR(message, h))
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
            h->cmsg_len == CMSG_LEN(sizeof(int) * SBOX_INIT_FDS))
            memcpy(fds, CMSG_DATA(h), sizeof(int) * SBOX_INIT_FDS);
}

static void read_signals(struct run *run)
{
    struct signalfd_siginfo info;
    while (read(run->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        int signal = (int)info.ssi_signo;
        bool job_control = signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
        /* The terminal's own signals reached the command, too; but a hangup goes to the leader of
         * the session alone, and that is sbox where a terminal or ssh started it directly. */
        run->continued |= signal == SIGCONT;
        if (signal == SIGCHLD || signal == SIGWINCH || signal == SIGCONT ||
            (info.ssi_code == SI_KERNEL && signal != SIGTERM && signal != SIGHUP))
            continue;
        if (!run->result->started && !job_control)
            (void)kill(run->init_pid, SIGKILL);
        order(run, signal);
    }
}

static bool in_foreground(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (tcgetpgrp(fd) == getpgrp())
            return true;
    return false;
}

/* SIGCONT went to the whole process group between the command's stop and now. */
static bool continued_meanwhile(struct run *run)
{
    enum { PATIENCE_MS = 200 };
    struct sbox_init_message next;
    struct pollfd p = {.fd = run->socket, .events = POLLIN};
    read_signals(run);
    return run->continued && poll(&p, 1, PATIENCE_MS) > 0 &&
           recv(run->socket, &next, sizeof next, MSG_PEEK) == (ssize_t)sizeof next &&
           next.event == SBOX_INIT_CONTINUED;
}

/* The caller's shell must see a stopped job. But its `fg` may have come between the command's stop
 * and this moment. A shell that had not seen the job stop gives it the terminal and sends no
 * SIGCONT: what was stopped for reading in the background may read now. */
static void stop_with_command(struct run *run, int signal)
{
    if ((signal == SIGTTIN || signal == SIGTTOU) && in_foreground())
        order(run, SIGCONT);
    else if (!continued_meanwhile(run))
        (void)raise(SIGSTOP);
}

static void on_ready(struct run *run, const struct sbox_init_message *m,
                     const int fds[SBOX_INIT_FDS])
{
    run->result->read_only_trees = m->code & SBOX_READY_TREES_RO;
    run->result->plain_caches = m->code & SBOX_READY_CACHES_PLAIN;
    run->result->started = true;
    if (run->plan->guard)
        run->status = start_guard(run, fds);
}

static void on_init_message(struct run *run, const struct sbox_init_message *m,
                            const int fds[SBOX_INIT_FDS])
{
    switch (m->event) {
    case SBOX_INIT_READY:
        on_ready(run, m, fds);
        break;
    case SBOX_INIT_FAILED:
        run->result->started = false;
        run->status = sbox_explain_step(m->code, m->text, run->err);
        break;
    case SBOX_INIT_EXEC:
        run->result->exec_errno = m->code;
        break;
    case SBOX_INIT_STOPPED:
        stop_with_command(run, m->code);
        break;
    case SBOX_INIT_CONTINUED:
        read_signals(run); /* the same SIGCONT went to both */
        run->continued = false;
        break;
    case SBOX_INIT_DISCARDED:
        (void)sbox_strv_add(&run->result->discarded, m->text);
        break;
    case SBOX_INIT_LISTENS:
        sbox_note("a server listens on port %d inside; to reach it from the host: -p %d", m->code,
                  m->code);
        break;
    case SBOX_INIT_EXITED:
        run->result->status = m->code;
        run->result->discarded_count = m->count;
        run->exited = true;
        run->over = true;
        break;
    default:
        break;
    }
}

static void read_init(struct run *run)
{
    struct sbox_init_message m = {0};
    int fds[SBOX_INIT_FDS] = {-1, -1, -1};
    struct iovec data = {&m, sizeof m};
    union {
        char raw[CMSG_SPACE(sizeof fds)];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.raw,
                             .msg_controllen = sizeof control.raw};
    ssize_t n = recvmsg(run->socket, &message, MSG_CMSG_CLOEXEC);
    if (n == (ssize_t)sizeof m) {
        m.text[sizeof m.text - 1] = '\0';
        take_descriptors(&message, fds);
        on_init_message(run, &m, fds);
    } else if (n == 0 || (n < 0 && errno != EINTR)) {
        run->over = true;
    }
    for (int i = 0; i < SBOX_INIT_FDS; i++)
        sbox_close(fds[i]);
}

static void read_guard(struct run *run)
{
    struct sbox_guard_message m;
    ssize_t n = recv(run->guard_socket, &m, sizeof m, 0);
    if (n != (ssize_t)sizeof m) {
        /* A guard that is gone guards nothing: end the run. */
        if (!run->over && run->result->ended_by.count == 0) {
            (void)sbox_strv_add(&run->result->ended_by, "the guard process died");
            (void)kill(run->init_pid, SIGKILL);
        }
        sbox_close(run->guard_socket);
        run->guard_socket = -1;
        return;
    }
    m.path[sizeof m.path - 1] = '\0';
    if (m.event == SBOX_GUARD_LOST && !run->result->lost)
        run->result->lost = strdup(m.path);
    if (m.event == SBOX_GUARD_READY)
        order(run, 0);
    else if (m.event == SBOX_GUARD_MASKED_AGAIN)
        (void)sbox_strv_add(&run->result->masked_again, m.path);
    else
        (void)sbox_strv_add_take(&run->result->ended_by,
                                 sbox_explain_guard(m.event, m.code, m.path));
}

static void supervise(struct run *run)
{
    while (!run->over && run->status == 0) {
        struct pollfd p[4] = {{.fd = run->socket, .events = POLLIN},
                              {.fd = run->signals, .events = POLLIN},
                              {.fd = run->guard_socket, .events = POLLIN},
                              {.fd = run->watch ? run->watch->fd : -1, .events = POLLIN}};
        if (poll(p, 4, -1) < 0 && errno != EINTR)
            run->status = sbox_error_set(run->err, errno, "poll");
        /* The guard first: its reason for killing init must be read before init's end. */
        if (p[2].revents)
            read_guard(run);
        if (p[0].revents)
            read_init(run);
        if (p[1].revents)
            read_signals(run);
        if (p[3].revents && !run->watch->ready(run->watch->context))
            run->watch = NULL;
    }
}

/* -- end --------------------------------------------------------------------------------------- */

/* The guard has the last look at git's directories when init is dead, and says why it ended a run
 * only then. It ends when this half of the socket is closed. */
static void drain_guard(struct run *run)
{
    enum { PATIENCE_MS = 20000 };
    int status = 0;
    if (run->guard_pid <= 0)
        return;
    (void)shutdown(run->guard_socket, SHUT_WR);
    struct pollfd p = {.fd = run->guard_socket, .events = POLLIN};
    while (run->guard_socket >= 0 && poll(&p, 1, PATIENCE_MS) != 0)
        read_guard(run);
    sbox_close(run->guard_socket);
    run->guard_socket = -1;
    (void)kill(run->guard_pid, SIGKILL);
    while (waitpid(run->guard_pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status != 0 && run->result->ended_by.count == 0)
        (void)sbox_strv_add(&run->result->ended_by, "the guard process died");
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        continue;
    return status;
}

static void finish(struct run *run)
{
    int status = 0;
    /* init ends by itself once its end is reported; in every other case it must end now. */
    if (run->init_pid > 0) {
        if (run->status < 0 || !run->over)
            (void)kill(run->init_pid, SIGKILL);
        sbox_close(run->socket);
        run->socket = -1;
        /* What comes after a run may look at the workspace while init still takes its mounts down
         * (0.2 ms): it reports the end when it has seen everything else inside die, with all that
         * they had open closed, and writes nothing itself. A guard's last look is another matter:
         * it waits for a dead init, whatever that reported. */
        if (run->exited && run->guard_pid <= 0)
            run->result->ending = run->init_pid;
        else
            status = wait_for(run->init_pid);
    }
    run->over = true;
    drain_guard(run);
    if (run->terminal_group > 0)
        (void)tcsetpgrp(STDERR_FILENO, run->terminal_group);
    sbox_close(run->socket);
    sbox_close(run->init_pidfd);
    sbox_close(run->signals);
    /* init was killed from outside: so was the command. What the guard objects to is no success,
     * even if the command had ended by then. */
    if (run->status == 0 && (WIFSIGNALED(status) || run->result->ended_by.count > 0))
        run->result->status = SIGKILL;
}

static int prepare_signals(struct run *run)
{
    sigset_t all;
    (void)sigfillset(&all);
    if (sigprocmask(SIG_SETMASK, &all, &run->init.mask) < 0)
        return sbox_error_set(run->err, errno, "block signals");
    run->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (run->signals < 0)
        return sbox_error_set(run->err, errno, "signalfd");
    if (tcgetpgrp(STDERR_FILENO) == getpgrp())
        run->terminal_group = getpgrp();
    return 0;
}

int sbox_sandbox_run(const struct sbox_policy *policy, const struct sbox_facts *facts,
                     sbox_sandbox_filter *filter, void *context, struct sbox_sandbox_result *ret,
                     struct sbox_error *err)
{
    struct sbox_plan plan = {0};
    struct sbox_sandbox_result result = {.cannot_run = policy->command[0]};
    int r = sbox_plan_build(policy, facts, &plan, err);
    if (r < 0)
        return r;
    if (filter)
        filter(&plan, context);
    struct run run = {.plan = &plan,
                      .result = &result,
                      .err = err,
                      .socket = -1,
                      .signals = -1,
                      .init_pidfd = -1,
                      .guard_socket = -1,
                      .watch = policy->watch};
    run.init.policy = policy;
    run.init.plan = &plan;
    run.init.uid = facts->uid;
    run.init.gid = facts->gid;
    (void)sbox_rlimit_raise_nofile(&run.init.nofile);
    r = prepare_signals(&run);
    if (r == 0)
        r = clone_init(&run);
    if (r == 0 && plan.undumpable)
        r = sbox_set_undumpable();
    run.status = r;
    if (r == 0)
        supervise(&run);
    finish(&run);
    (void)sigprocmask(SIG_SETMASK, &run.init.mask, NULL);
    sbox_plan_release(&plan);
    if (run.status < 0)
        sbox_sandbox_result_release(&result);
    else
        *ret = result;
    return run.status;
}

void sbox_sandbox_result_release(struct sbox_sandbox_result *result)
{
    if (result->ending > 0)
        (void)wait_for(result->ending);
    sbox_strv_release(&result->discarded);
    sbox_strv_release(&result->masked_again);
    sbox_strv_release(&result->ended_by);
    free(result->lost);
}
