/* The guard; what it is for stands in guard.h.
 *
 * Theory of operation
 * 1. It enters the sandbox's user and mount namespace (not its pid namespace: nothing inside can
 *    see or signal it), and gives up every capability but those that mounting takes.
 * 2. For each mount inside the workspace it holds the directory above it and the name. A directory
 *    that is renamed inside keeps its watch and its descriptor. A mask is looked for under its path
 *    as well: somebody may have put another directory there.
 * 3. It sleeps in poll: mountinfo says POLLPRI when a mount of the namespace comes or goes, inotify
 *    when a name appears in one of the directories. Names that matter to nothing are passed over.
 * 4. A mask that is gone is put back as soon as a file of that name is there; a tree or a part of
 *    git that is gone, or a name that git would obey and that was not there before, ends the run.
 * 5. However the run ends, git's directories are looked at once more when init is dead: until then
 *    somebody inside could put a name there again. (A dead pid 1 has seen all others die.)
 */
#include "sandbox/guard_impl.h"

#include "base/args.h"
#include "base/cleanup.h"
#include "confine/caps.h"
#include "confine/rlimit.h"
#include "sandbox/env_scrub.h"
#include "sandbox/view.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { MASK_ATTEMPTS = 100, MISSING_POLL_MS = 50, DEATH_MS = 10000 };

void sbox_guard_kill(const struct sbox_guard *g)
{
    (void)syscall(SYS_pidfd_send_signal, g->request->init_pidfd, SIGKILL, NULL, 0);
}

static void send_message(const struct sbox_guard *g, enum sbox_guard_event event, int code,
                         const char *path, int flags)
{
    struct sbox_guard_message m = {.event = (int)event, .code = code};
    size_t size = path ? strnlen(path, sizeof m.path - 1) : 0;
    if (size > 0)
        memcpy(m.path, path, size);
    (void)send(g->request->report, &m, sizeof m, flags | MSG_NOSIGNAL);
}

void sbox_guard_report(const struct sbox_guard *g, enum sbox_guard_event event, int code,
                       const char *path)
{
    send_message(g, event, code, path, 0);
}

static void end_run(const struct sbox_guard *g, enum sbox_guard_event event, int code,
                    const char *path)
{
    sbox_guard_kill(g);
    sbox_guard_report(g, event, code, path);
}

/* The view's /proc knows nothing of this process, so a watch is set from within the directory. A
 * directory that is watched already keeps its one watch. */
int sbox_guard_watch(const struct sbox_guard *g, int dir)
{
    if (fchdir(dir) < 0 ||
        inotify_add_watch(g->inotify, ".", IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0)
        return -errno;
    return 0;
}

/* -- mounts ------------------------------------------------------------------------------------ */

/* 1: a mount is there; 0: something else is; -ENOENT. */
static int is_mounted(int parent, const char *name)
{
    struct statx sx;
    if (statx(parent, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &sx) < 0)
        return -errno;
    return (sx.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/* A supervisor that is stopped (Ctrl-Z) reads nothing; the word is lost then, the mask is not. 1
 * when what is there is the link that was scanned, on which this kernel mounts nothing: what it
 * leads to has a mask of its own. */
static int mask_again(const struct sbox_guard *g, const struct sbox_guard_mount *m, int parent)
{
    struct stat st;
    _cleanup_close_ int fd = openat(parent, m->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    int r = sbox_mask_apply(fd, st.st_mode);
    if (r < 0)
        return r;
    if (S_ISLNK(st.st_mode) && is_mounted(parent, m->name) == 0)
        return sbox_fileid_equal(sbox_fileid_of(&st), m->step->id);
    send_message(g, SBOX_GUARD_MASKED_AGAIN, 0, m->step->target, MSG_DONTWAIT);
    return 0;
}

/* 1: masked; -ENOENT: nothing is there. A name may vanish again between two looks (an editor that
 * unlinks, then renames): once more. */
static int hold_mask(const struct sbox_guard *g, const struct sbox_guard_mount *m, int parent)
{
    for (int attempt = 0; attempt < MASK_ATTEMPTS; attempt++) {
        int r = is_mounted(parent, m->name);
        if (r == 0)
            r = mask_again(g, m, parent);
        if (r == 1 || (r < 0 && r != -ENOENT))
            return r;
        if (r == -ENOENT && is_mounted(parent, m->name) == -ENOENT)
            return r;
    }
    return -ESTALE;
}

/* What is hidden again when its mount is lost. In git's config a secret matters less than that
 * nobody writes it: there a lost mount ends the run. */
static bool is_put_back(const struct sbox_step *step)
{
    return step->op == SBOX_OP_MASK ||
           (step->op == SBOX_OP_FILTER && step->layer == SBOX_LAYER_MASKS);
}

/* Each directory from the workspace down to the one that `target` lies in: any of them may be
 * replaced by another. A watch that cannot be had is made up for by looking often. The last one is
 * returned, or -errno. */
static int watch_way(struct sbox_guard *g, const char *target)
{
    char part[PATH_MAX];
    if ((size_t)snprintf(part, sizeof part, "%s", target) >= sizeof part)
        return -ENAMETOOLONG;
    _cleanup_close_ int fd = openat(g->workspace, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (char *at = part;; at++) {
        if (fd < 0)
            return fd == -1 ? -errno : fd;
        g->missing |= sbox_guard_watch(g, fd) < 0;
        at = strchr(at, '/');
        if (!at)
            return TAKE_FD(fd);
        *at = '\0';
        sbox_close(fd);
        fd = sbox_open_beneath(g->workspace, part, O_PATH | O_DIRECTORY);
        *at = '/';
    }
}

static bool check_mask(struct sbox_guard *g, const struct sbox_guard_mount *m)
{
    int held = hold_mask(g, m, m->parent);
    _cleanup_close_ int parent = watch_way(g, m->step->target);
    int named = parent < 0 ? -ENOENT : hold_mask(g, m, parent);
    int failed = held < 0 && held != -ENOENT ? held : named;
    if (failed < 0 && failed != -ENOENT) {
        end_run(g, SBOX_GUARD_FAILED, -failed, m->step->target);
        return false;
    }
    g->missing |= named == -ENOENT;
    return true;
}

static bool check_mounts(struct sbox_guard *g)
{
    g->missing = false;
    for (size_t i = 0; i < g->mount_count; i++) {
        const struct sbox_guard_mount *m = &g->mounts[i];
        if (is_put_back(m->step)) {
            if (!check_mask(g, m))
                return false;
        } else if (is_mounted(m->parent, m->name) != 1) {
            end_run(g, SBOX_GUARD_LOST, 0, m->step->target);
            return false;
        }
    }
    return true;
}

/* -- events ------------------------------------------------------------------------------------ */

/* Is `name` a component of a mask's path? */
static bool on_the_way(const struct sbox_guard *g, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < g->mount_count; i++) {
        if (!is_put_back(g->mounts[i].step))
            continue;
        for (const char *at = g->mounts[i].step->target; at; at = strchr(at, '/')) {
            at += *at == '/';
            if (strncmp(at, name, n) == 0 && (at[n] == '/' || at[n] == '\0'))
                return true;
        }
    }
    return false;
}

/* Reads the events; does one of them matter? Builds make thousands of names that do not. */
static bool drain_events(const struct sbox_guard *g)
{
    _Alignas(struct inotify_event) char data[16384];
    bool matters = false;
    ssize_t n;
    while ((n = read(g->inotify, data, sizeof data)) > 0) {
        const struct inotify_event *e;
        for (const char *at = data; !matters && at < data + n; at += sizeof *e + e->len) {
            e = (const struct inotify_event *)(const void *)at;
            matters = (e->mask & IN_Q_OVERFLOW) ||
                      (e->len > 0 && (sbox_guard_git_forbids(e->name) || on_the_way(g, e->name)));
        }
        if (matters && (size_t)n < sizeof data / 2)
            break; /* act at once; the rest wakes poll again */
    }
    return matters;
}

/* Killed first: what is removed must not come back. */
static bool check_git(const struct sbox_guard *g, char *planted, size_t size)
{
    if (!sbox_guard_git_sweep(g, planted, size))
        return true;
    sbox_guard_kill(g);
    return false;
}

/* Until the run is over, or must be. The supervisor says nothing: its half of the socket is
 * readable when it is closed. */
static void stand(struct sbox_guard *g, char *planted, size_t size)
{
    for (;;) {
        struct pollfd p[3] = {{.fd = g->request->mountinfo, .events = POLLPRI},
                              {.fd = g->inotify, .events = POLLIN},
                              {.fd = g->request->report, .events = POLLIN | POLLRDHUP}};
        /* A file that is absent is looked for often: its directory may be absent, too. */
        int n = poll(p, 3, g->missing ? MISSING_POLL_MS : -1);
        if (n < 0 && errno != EINTR) {
            end_run(g, SBOX_GUARD_FAILED, errno, "poll");
            return;
        }
        if (n < 0)
            continue;
        if (p[2].revents)
            return;
        bool named = p[1].revents && drain_events(g);
        if (named && !check_git(g, planted, size))
            return;
        if ((named || p[0].revents || n == 0) && !check_mounts(g))
            return;
    }
}

/* -- start and end ----------------------------------------------------------------------------- */

static int open_parent(const struct sbox_guard *g, const char *target)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(target, '/');
    size_t n = slash ? (size_t)(slash - target) : 1;
    if (n >= sizeof parent)
        return -ENAMETOOLONG;
    memcpy(parent, slash ? target : ".", n);
    parent[n] = '\0';
    return sbox_open_beneath(g->workspace, parent, O_PATH | O_DIRECTORY);
}

static int add_mount(struct sbox_guard *g, const struct sbox_step *step)
{
    struct sbox_guard_mount *m = &g->mounts[g->mount_count];
    const char *slash = strrchr(step->target, '/');
    *m = (struct sbox_guard_mount){.step = step, .name = slash ? slash + 1 : step->target};
    m->parent = open_parent(g, step->target);
    if (m->parent < 0)
        return m->parent;
    g->mount_count++;
    return is_put_back(step) ? sbox_guard_watch(g, m->parent) : 0;
}

static int prepare(struct sbox_guard *g)
{
    const struct sbox_plan *plan = g->request->plan;
    char workspace[PATH_MAX];
    if ((size_t)snprintf(workspace, sizeof workspace, "/%s", plan->workspace) >= sizeof workspace)
        return -ENAMETOOLONG;
    g->mounts = calloc(plan->count + 1, sizeof *g->mounts);
    g->git = calloc(plan->count + 1, sizeof *g->git);
    if (!g->mounts || !g->git)
        return -ENOMEM;
    g->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    g->workspace = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (g->inotify < 0 || g->workspace < 0)
        return -errno;
    int r = 0;
    for (size_t i = 0; r == 0 && i < plan->count; i++) {
        const struct sbox_step *step = &plan->steps[i];
        if (sbox_op_phase(step->op) != SBOX_PHASE_SEALED || step->op == SBOX_OP_CACHE)
            continue;
        r = add_mount(g, step);
        if (r == 0 && step->op == SBOX_OP_PIN)
            r = sbox_guard_git_add(g, step);
    }
    return r;
}

static int enter(const struct sbox_guard_request *request)
{
    if (setns(request->user_ns, CLONE_NEWUSER) < 0 || setns(request->mount_ns, CLONE_NEWNS) < 0)
        return -errno;
    sbox_env_wipe(environ);
    sbox_args_replace("sbox: guard");
    /* setns and its new credentials reset both of these. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return -errno;
    int r = request->plan->undumpable ? sbox_set_undumpable() : 0;
    if (r == 0)
        r = sbox_caps_keep(SBOX_CAP(CAP_SYS_ADMIN) | SBOX_CAP(CAP_DAC_OVERRIDE) |
                           SBOX_CAP(CAP_DAC_READ_SEARCH));
    (void)prctl(PR_SET_NAME, "sbox-guard", 0, 0, 0);
    return r;
}

/* The last look. The supervisor closes its half of the socket when it has seen init die; when the
 * guard ended the run, init is dying. */
static int finish(const struct sbox_guard *g, char *planted, size_t size)
{
    char again[PATH_MAX];
    struct pollfd p = {.fd = g->request->init_pidfd, .events = POLLIN};
    bool dead = poll(&p, 1, DEATH_MS) > 0;
    bool first = planted[0] != '\0';
    if (sbox_guard_git_sweep(g, first ? again : planted, first ? sizeof again : size) || first) {
        sbox_guard_git_clear(g);
        sbox_guard_report(g, SBOX_GUARD_PLANTED, 0, planted);
    }
    if (!dead)
        sbox_guard_report(g, SBOX_GUARD_FAILED, ETIMEDOUT, "init does not end");
    return 0;
}

int sbox_guard_main(const struct sbox_guard_request *request)
{
    struct sbox_guard g = {.request = request, .inotify = -1, .workspace = -1};
    char planted[PATH_MAX] = "";
    int r = enter(request);
    if (r == 0)
        r = prepare(&g);
    if (r < 0) {
        end_run(&g, SBOX_GUARD_FAILED, -r, "start");
        return 1;
    }
    /* Something may have happened between the seal and the watch. */
    if (check_git(&g, planted, sizeof planted) && check_mounts(&g)) {
        sbox_guard_report(&g, SBOX_GUARD_READY, 0, NULL);
        stand(&g, planted, sizeof planted);
    }
    return finish(&g, planted, sizeof planted);
}
