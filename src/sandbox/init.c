/* init: pid 1 of the sandbox.
 *
 * Theory of operation
 * 1. It dies with the supervisor (PDEATHSIG, and a look whether it is gone already).
 * 2. It forks the process that becomes the command, which makes the network namespace and confines
 *    itself meanwhile (command.c).
 * 3. It writes its own uid and gid maps, one to one, and opens what the guard needs of it; only
 *    then does it clear dumpable: afterwards its /proc files belong to root.
 * 4. The view is built and sealed (view.c, sealed.c). It enters the network namespace and, where
 *    there is a gateway, waits for sbox-proxy (gateway.c).
 * 5. It wipes its copy of the caller's environment, waits for the guard to be in place, lets the
 *    command go, gives up its capabilities but for what reading the upper layers takes, and stays.
 *    It must: when the last process that set a mount namespace up leaves it, a kept directory
 *    descriptor sees below the masks (measured, case C1).
 *
 * All signals are blocked for good. A pid 1 cannot be killed from inside, and it takes no orders by
 * signal, whose sender can be forged (rt_sigqueueinfo): only over the socket.
 */
#include "sandbox/init.h"
#include "sandbox/env_scrub.h"
#include "sandbox/gateway.h"
#include "sandbox/listens.h"

#include "base/args.h"
#include "base/cleanup.h"
#include "confine/caps.h"
#include "confine/rlimit.h"
#include "net/wire.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

void sbox_init_send(int socket, enum sbox_init_event event, int code, uint64_t count,
                    const char *text, const char *detail)
{
    struct sbox_init_message m = {.event = (int)event, .code = code, .count = count};
    if (text)
        (void)snprintf(m.text, sizeof m.text, "%s%s%s%s", text, detail ? " '" : "",
                       detail ? detail : "", detail ? "'" : "");
    (void)send(socket, &m, sizeof m, MSG_NOSIGNAL);
}

static void send_ready(struct sbox_init_context *c, const int fds[SBOX_INIT_FDS])
{
    struct sbox_init_message m = {
        .event = SBOX_INIT_READY,
        .code = (c->view.read_only_trees ? SBOX_READY_TREES_RO : 0) |
                (c->view.plain_caches ? SBOX_READY_CACHES_PLAIN : 0),
    };
    struct iovec data = {&m, sizeof m};
    union {
        char raw[CMSG_SPACE(sizeof(int) * SBOX_INIT_FDS)];
        struct cmsghdr align;
    } control = {{0}};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (c->plan->guard) {
        message.msg_control = control.raw;
        message.msg_controllen = sizeof control.raw;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * SBOX_INIT_FDS);
        memcpy(CMSG_DATA(header), fds, sizeof(int) * SBOX_INIT_FDS);
    }
    (void)sendmsg(c->socket, &message, MSG_NOSIGNAL);
}

static void die(const struct sbox_init_context *c, int r, const char *stage, const char *detail)
{
    sbox_init_send(c->socket, SBOX_INIT_FAILED, -r, 0, stage, detail);
    _exit(125);
}

static void die_with_supervisor(const struct sbox_init_context *c)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        die(c, -errno, "tie init to the supervisor", NULL);
    struct pollfd p = {.fd = c->socket, .events = 0};
    if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)))
        _exit(125);
}

static int write_file(const char *path, const char *text)
{
    _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : sbox_write_full(fd, text, strlen(text));
}

static void write_maps(const struct sbox_init_context *c)
{
    char map[64];
    int r = write_file("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof map, "%u %u 1\n", c->uid, c->uid);
    if (r == 0)
        r = write_file("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof map, "%u %u 1\n", c->gid, c->gid);
    if (r == 0)
        r = write_file("/proc/self/gid_map", map);
    if (r < 0)
        die(c, r, "map the user into the sandbox", NULL);
}

static void open_for_guard(const struct sbox_init_context *c, int fds[SBOX_INIT_FDS])
{
    static const char *const paths[SBOX_INIT_FDS] = {"/proc/self/ns/user", "/proc/self/ns/mnt",
                                                     "/proc/self/mountinfo"};
    for (int i = 0; c->plan->guard && i < SBOX_INIT_FDS; i++) {
        fds[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
        if (fds[i] < 0)
            die(c, -errno, "open for the guard", paths[i]);
    }
}

/* The rule set is there before the fork: what it can scope decides which filter is loaded. */
static void begin_rules(struct sbox_init_context *c)
{
    c->landlock.fd = -1;
    for (size_t i = 0; i < c->plan->count; i++)
        if (c->plan->steps[i].op == SBOX_OP_LANDLOCK)
            c->view.rules = &c->landlock;
    int r = c->view.rules ? sbox_landlock_begin(&c->landlock, c->policy->landlock_abi) : 0;
    for (int fd = 0; c->view.rules && r == 0 && fd <= 2; fd++)
        r = sbox_landlock_allow_stream(&c->landlock, fd);
    if (r < 0)
        die(c, r, sbox_op_text(SBOX_OP_LANDLOCK), NULL);
}

/* The process that becomes the command (command.c). */
struct command {
    pid_t pid;
    int socket;
};

static void start_command(struct sbox_init_context *c, struct command *ret)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        die(c, -errno, "socketpair", NULL);
    c->host_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    pid_t pid = c->host_proc < 0 ? -1 : fork();
    if (pid < 0)
        die(c, -errno, "start the command", NULL);
    if (pid == 0) {
        (void)close(pair[0]);
        sbox_command_main(c, pair[1]);
    }
    (void)close(pair[1]);
    (void)close(c->host_proc);
    *ret = (struct command){.pid = pid, .socket = pair[0]};
}

static int receive_descriptor(const struct sbox_init_context *c, const struct command *command)
{
    char made;
    int fd = -1;
    int r = sbox_wire_receive(command->socket, &made, sizeof made, &fd);
    if (r <= 0) /* it has said why, and is heard first */
        die(c, r < 0 ? r : -ECHILD, "start the command", NULL);
    return fd;
}

/* What keeps the gateway for as long as init lives; -1: no network. */
static int enter_network(const struct sbox_init_context *c, const struct command *command)
{
    if (!(c->plan->namespaces & CLONE_NEWNET))
        return -1;
    _cleanup_close_ int fd = receive_descriptor(c, command);
    if (setns(fd, CLONE_NEWNET) < 0)
        die(c, -errno, "enter the network namespace", NULL);
    return c->policy->network ? receive_descriptor(c, command) : -1;
}

static void wait_for_proxy(const struct sbox_init_context *c, int gateway)
{
    int r = gateway < 0 ? 0 : sbox_gateway_wait(c->policy->network->socket);
    if (r < 0)
        die(c, r, SBOX_GATEWAY_STAGE_WAIT, NULL);
}

static void build(struct sbox_init_context *c)
{
    struct sbox_failure failure = {NULL, NULL};
    int r = sbox_view_build(c->plan, &c->view, &failure);
    if (r == 0)
        r = sbox_view_seal(c->plan, &c->view, &failure);
    if (r < 0)
        die(c, r, failure.stage, failure.path);
}

/* -- after the start --------------------------------------------------------------------------- */

static void wait_for_go(const struct sbox_init_context *c)
{
    struct sbox_init_order order;
    if (c->plan->guard && recv(c->socket, &order, sizeof order, 0) != (ssize_t)sizeof order)
        _exit(125);
}

static void end(struct sbox_init_context *c, int status)
{
    /* Without a pid namespace (tests only) -1 would be every process of the user. */
    if (getpid() == 1) {
        (void)kill(-1, SIGKILL);
        while (waitpid(-1, NULL, __WALL) > 0)
            continue;
    }
    uint64_t count = sbox_discard_report(&c->view, c->socket);
    sbox_init_send(c->socket, SBOX_INIT_EXITED, status, count, NULL, NULL);
    _exit(0);
}

static void reap(struct sbox_init_context *c, pid_t command)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED | __WALL)) > 0) {
        if (pid != command)
            continue;
        if (WIFSTOPPED(status))
            sbox_init_send(c->socket, SBOX_INIT_STOPPED, WSTOPSIG(status), 0, NULL, NULL);
        else if (WIFCONTINUED(status))
            sbox_init_send(c->socket, SBOX_INIT_CONTINUED, 0, 0, NULL, NULL);
        else
            end(c, status);
    }
}

static void take_order(const struct sbox_init_context *c, pid_t command)
{
    struct sbox_init_order order;
    if (recv(c->socket, &order, sizeof order, 0) != (ssize_t)sizeof order)
        _exit(125); /* the supervisor is gone */
    if (order.signal > 0)
        (void)kill(command, order.signal);
}

static void look_for_servers(const struct sbox_init_context *c, struct sbox_listens *l)
{
    uint16_t ports[SBOX_LISTENS_MOST];
    size_t n = sbox_listens_look(l, ports);
    for (size_t i = 0; i < n; i++)
        sbox_init_send(c->socket, SBOX_INIT_LISTENS, ports[i], 0, NULL, NULL);
}

static void stay(struct sbox_init_context *c, pid_t command, int signals, int gateway)
{
    struct sbox_listens listens;
    sbox_listens_init(&listens, c->plan->namespaces & CLONE_NEWNET, c->policy->network);
    int proxy = gateway < 0 ? -1 : c->policy->network->socket;
    for (;;) {
        struct pollfd p[3] = {{.fd = signals, .events = POLLIN},
                              {.fd = c->socket, .events = POLLIN},
                              {.fd = proxy, .events = POLLIN}};
        int n = poll(p, 3, sbox_listens_timeout(&listens));
        if (n < 0 && errno != EINTR)
            _exit(125);
        if (p[0].revents) {
            struct signalfd_siginfo drained[8];
            (void)!read(signals, drained, sizeof drained);
            reap(c, command);
        }
        if (p[1].revents)
            take_order(c, command);
        if (p[2].revents && !sbox_gateway_serve(proxy))
            proxy = -1;
        if (sbox_listens_timeout(&listens) == 0)
            look_for_servers(c, &listens);
    }
}

void sbox_init_main(struct sbox_init_context *c)
{
    int fds[SBOX_INIT_FDS] = {-1, -1, -1};
    sigset_t all;
    sigset_t child;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    die_with_supervisor(c);
    struct command command;
    begin_rules(c);
    start_command(c, &command);
    write_maps(c);
    open_for_guard(c, fds);
    if (c->plan->undumpable && sbox_set_undumpable() < 0)
        die(c, -errno, "make init undumpable", NULL);
    build(c);
    int gateway = enter_network(c, &command);
    sbox_env_wipe(environ);
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    int signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        die(c, -errno, "signalfd", NULL);
    wait_for_proxy(c, gateway);
    send_ready(c, fds);
    for (int i = 0; i < SBOX_INIT_FDS; i++)
        sbox_close(fds[i]);
    wait_for_go(c);
    sbox_args_replace("sbox: init");
    (void)sbox_wire_send(command.socket, "", 1, -1);
    (void)close(command.socket);
    sbox_landlock_end(&c->landlock);
    int r = sbox_caps_keep(SBOX_CAP(CAP_DAC_READ_SEARCH));
    if (r < 0)
        die(c, r, "drop init's capabilities", NULL);
    stay(c, command.pid, signals, gateway);
    _exit(125);
}
