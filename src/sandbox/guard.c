/* The guard; what it is for stands in guard.h.
 *
 * Theory of operation
 * 1. It enters the sandbox's user and mount namespace (not its pid namespace: nothing inside can
 * see or signal it), and gives up every capability but those that mounting takes.
 * 2. For each mount inside the workspace it holds the directory above it and the name. A directory
 *    that is renamed inside keeps its watch and its descriptor.
 * 3. It sleeps in poll: mountinfo says POLLPRI when a mount of the namespace comes or goes, inotify
 *    when a name appears in one of the directories.
 * 4. A mask that is gone is put back as soon as a file of that name is there; a tree or a part of
 * git that is gone, or a name that git would obey and that was not there before, ends the run: init
 * is killed first, then looked at what is to be removed.
 */
#include "sandbox/guard.h"

#include "base/args.h"
#include "base/cleanup.h"
#include "confine/caps.h"
#include "confine/rlimit.h"
#include "sandbox/env_scrub.h"
#include "sandbox/view.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/stat.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

struct watched {
    const struct sbox_step *step;
    int parent;       /* the directory above */
    const char *name; /* last component of step->target */
};

/* A directory of git's in which certain names must not appear. */
struct git_dir {
    int fd;
    int watch;
    const char *path;
    bool absent[8];
};

/* config is here for the repository that has none. */
static const char *const forbidden[] = {"commondir", "config.worktree", "hooks", "config"};
enum { FORBIDDEN = sizeof forbidden / sizeof *forbidden, REMOVE_DEPTH_MAX = 32 };

struct guard {
    const struct sbox_guard_request *request;
    int workspace;
    int inotify;
    struct watched *watched;
    size_t watched_count;
    struct git_dir *git;
    size_t git_count;
    bool missing; /* a masked file is absent right now */
};

static void report(const struct guard *g, enum sbox_guard_event event, int code, const char *path)
{
    struct sbox_guard_message m = {.event = (int)event, .code = code};
    size_t size = path ? strnlen(path, sizeof m.path - 1) : 0;
    if (size > 0)
        memcpy(m.path, path, size);
    (void)send(g->request->report, &m, sizeof m, MSG_NOSIGNAL);
}

static void end_run(const struct guard *g, enum sbox_guard_event event, int code, const char *path)
{
    (void)syscall(SYS_pidfd_send_signal, g->request->init_pidfd, SIGKILL, NULL, 0);
    report(g, event, code, path);
}

/* -- mounts -------------------------------------------------------------------------------------
 */

/* 1: a mount is there; 0: something else is; -ENOENT. */
static int is_mounted(const struct watched *w)
{
    struct statx sx;
    if (statx(w->parent, w->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &sx) < 0)
        return -errno;
    return (sx.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

static int mask_again(const struct guard *g, const struct watched *w)
{
    struct stat st;
    _cleanup_close_ int fd = openat(w->parent, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0)
        return -errno;
    int r = sbox_mask_apply(fd, st.st_mode);
    if (r == 0)
        report(g, SBOX_GUARD_MASKED_AGAIN, 0, w->step->target);
    return r;
}

/* A name may vanish again between two looks (an editor that unlinks, then renames): once more. */
static bool check_mask(struct guard *g, const struct watched *w)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        int r = is_mounted(w);
        if (r == 1)
            return true;
        if (r == -ENOENT) {
            g->missing = true;
            return true;
        }
        r = r < 0 ? r : mask_again(g, w);
        if (r < 0 && r != -ENOENT) {
            end_run(g, SBOX_GUARD_FAILED, -r, w->step->target);
            return false;
        }
    }
    end_run(g, SBOX_GUARD_FAILED, ESTALE, w->step->target);
    return false;
}

static bool check_mounts(struct guard *g)
{
    g->missing = false;
    for (size_t i = 0; i < g->watched_count; i++) {
        const struct watched *w = &g->watched[i];
        if (w->step->op == SBOX_OP_MASK) {
            if (!check_mask(g, w))
                return false;
        } else if (is_mounted(w) != 1) {
            end_run(g, SBOX_GUARD_LOST, 0, w->step->target);
            return false;
        }
    }
    return true;
}

/* -- git ------------------------------------------------------------------------------------------
 */

/* Whatever it is, out of git's sight; nothing inside is alive any more that could add to it. */
static void remove_tree(int parent, const char *name, unsigned depth)
{
    if (unlinkat(parent, name, 0) == 0 || depth == REMOVE_DEPTH_MAX)
        return;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        sbox_close(fd);
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_tree(dirfd(dir), entry->d_name, depth + 1);
    (void)closedir(dir);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static bool check_git(const struct guard *g)
{
    for (size_t i = 0; i < g->git_count; i++)
        for (size_t k = 0; k < FORBIDDEN; k++) {
            const struct git_dir *git = &g->git[i];
            if (!git->absent[k] || faccessat(git->fd, forbidden[k], F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                continue;
            char path[PATH_MAX];
            (void)snprintf(path, sizeof path, "%s/%s", git->path, forbidden[k]);
            (void)syscall(SYS_pidfd_send_signal, g->request->init_pidfd, SIGKILL, NULL, 0);
            remove_tree(git->fd, forbidden[k], 0);
            end_run(g, SBOX_GUARD_PLANTED, 0, path);
            return false;
        }
    return true;
}

/* -- start ----------------------------------------------------------------------------------------
 */

/* The view's /proc knows nothing of this process, so a watch is set from within the directory. */
static int watch_dir(const struct guard *g, int dir)
{
    if (fchdir(dir) < 0)
        return -errno;
    int watch = inotify_add_watch(g->inotify, ".", IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
    return watch < 0 ? -errno : watch;
}

static int open_parent(const struct guard *g, const char *target)
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

static int add_watched(struct guard *g, const struct sbox_step *step)
{
    struct watched *w = &g->watched[g->watched_count];
    const char *slash = strrchr(step->target, '/');
    *w = (struct watched){.step = step, .name = slash ? slash + 1 : step->target};
    w->parent = open_parent(g, step->target);
    if (w->parent < 0)
        return w->parent;
    g->watched_count++;
    return step->op == SBOX_OP_MASK ? watch_dir(g, w->parent) : 0;
}

static int add_git(struct guard *g, const struct sbox_step *step)
{
    struct git_dir *git = &g->git[g->git_count];
    *git = (struct git_dir){.path = step->target};
    git->fd = sbox_open_beneath(g->workspace, step->target, O_PATH | O_DIRECTORY);
    if (git->fd < 0)
        return git->fd;
    g->git_count++;
    /* A directory on the way to a submodule's repository holds no HEAD: git obeys nothing in it. */
    bool repository = faccessat(git->fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    for (size_t k = 0; repository && k < FORBIDDEN; k++)
        git->absent[k] = faccessat(git->fd, forbidden[k], F_OK, AT_SYMLINK_NOFOLLOW) < 0;
    git->watch = watch_dir(g, git->fd);
    return git->watch < 0 ? git->watch : 0;
}

static int prepare(struct guard *g)
{
    const struct sbox_plan *plan = g->request->plan;
    char workspace[PATH_MAX];
    if ((size_t)snprintf(workspace, sizeof workspace, "/%s", plan->workspace) >= sizeof workspace)
        return -ENAMETOOLONG;
    g->watched = calloc(plan->count + 1, sizeof *g->watched);
    g->git = calloc(plan->count + 1, sizeof *g->git);
    g->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    g->workspace = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!g->watched || !g->git || g->inotify < 0 || g->workspace < 0)
        return -errno;
    int r = 0;
    for (size_t i = 0; r >= 0 && i < plan->count; i++) {
        const struct sbox_step *step = &plan->steps[i];
        if (sbox_op_phase(step->op) != SBOX_PHASE_SEALED || step->op == SBOX_OP_CACHE)
            continue;
        r = S_ISLNK(step->mode) ? 0 : add_watched(g, step);
        if (r >= 0 && step->op == SBOX_OP_PIN)
            r = add_git(g, step);
    }
    return r < 0 ? r : 0;
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

static void stand(struct guard *g)
{
    for (;;) {
        struct pollfd p[3] = {{.fd = g->request->mountinfo, .events = POLLPRI},
                              {.fd = g->inotify, .events = POLLIN},
                              {.fd = g->request->report, .events = 0}};
        /* A file that is absent is looked for often: its directory may have been replaced, too. */
        if (poll(p, 3, g->missing ? 50 : -1) < 0 && errno != EINTR) {
            end_run(g, SBOX_GUARD_FAILED, errno, "poll");
            return;
        }
        if (p[2].revents)
            return;
        char drained[4096];
        while (p[1].revents && read(g->inotify, drained, sizeof drained) > 0)
            continue;
        if (!check_git(g) || !check_mounts(g))
            return;
    }
}

int sbox_guard_main(const struct sbox_guard_request *request)
{
    struct guard g = {.request = request, .inotify = -1, .workspace = -1};
    int r = enter(request);
    if (r == 0)
        r = prepare(&g);
    if (r < 0) {
        end_run(&g, SBOX_GUARD_FAILED, -r, "start");
        return 1;
    }
    /* Something may have happened between the seal and the watch. */
    if (check_git(&g) && check_mounts(&g)) {
        report(&g, SBOX_GUARD_READY, 0, NULL);
        stand(&g);
    }
    return 0;
}
