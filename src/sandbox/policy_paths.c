/* One path of --ro, --rw, --mask, --unmask.
 *
 * Theory of operation. The path is resolved here, component by component, so that it is known where
 * each link lies: one outside the workspace is the user's and is followed, one inside may have been
 * planted and is not, also when the way into the workspace led through a link of the user's. The
 * result holds no link; it is opened once more without following any, and what is found there is
 * recorded. */
#include "sandbox/policy_paths.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "project/mountinfo.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>

enum { LINKS_MAX = 40, MOUNTINFO_MAX = 16 << 20 };

struct request {
    const struct sbox_root *root;
    const char *option;
    const char *typed;
    enum sbox_path_rule rule;
    struct sbox_error *err;
};

static const char *option_name(enum sbox_path_rule rule)
{
    static const char *const names[] = {[SBOX_PATH_RO] = "--ro",
                                        [SBOX_PATH_RW] = "--rw",
                                        [SBOX_PATH_MASK] = "--mask",
                                        [SBOX_PATH_UNMASK] = "--unmask"};
    return names[rule];
}

static int fail(const struct request *q, int code)
{
    return sbox_error_set(q->err, code, "%s '%s'", q->option, sbox_esc(q->typed));
}

__attribute__((format(printf, 3, 4))) static int refuse(const struct request *q, int code,
                                                        const char *format, ...)
{
    char reason[400];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return sbox_error_say(q->err, code, "%s '%s': %s", q->option, sbox_esc(q->typed), reason);
}

/* --- resolving -------------------------------------------------------------------------------- */

struct walk {
    char done[PATH_MAX]; /* canonical so far; "" is the root directory */
    char rest[PATH_MAX]; /* still to go */
    unsigned links;
};

/* Cuts the first component off walk->rest; "" when none is left. */
static const char *next_component(struct walk *w, char *ret)
{
    const char *from = w->rest + strspn(w->rest, "/");
    size_t n = strcspn(from, "/");
    memcpy(ret, from, n);
    ret[n] = '\0';
    memmove(w->rest, from + n, strlen(from + n) + 1);
    return ret;
}

static void go_up(struct walk *w)
{
    char *slash = strrchr(w->done, '/');
    if (slash)
        *slash = '\0';
}

static int go_down(struct walk *w, const char *name)
{
    size_t at = strlen(w->done);
    size_t n = strlen(name);
    if (at + n + 2 > sizeof w->done)
        return -ENAMETOOLONG;
    w->done[at] = '/';
    memcpy(w->done + at + 1, name, n + 1);
    return 0;
}

/* walk->done names a link with this text: go on with what it says. */
static int go_through(struct walk *w, const char *text)
{
    char rest[PATH_MAX];
    int n = snprintf(rest, sizeof rest, "%s/%s", text, w->rest);
    if (++w->links > LINKS_MAX)
        return -ELOOP;
    if (n < 0 || (size_t)n >= sizeof rest)
        return -ENAMETOOLONG;
    memcpy(w->rest, rest, (size_t)n + 1);
    go_up(w);
    if (text[0] == '/')
        w->done[0] = '\0';
    return 0;
}

static int step(const struct request *q, struct walk *w, const char *name)
{
    char text[PATH_MAX];
    if (strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0) {
        go_up(w);
        return 0;
    }
    int r = go_down(w, name);
    if (r < 0)
        return fail(q, -r);
    ssize_t n = readlink(w->done, text, sizeof text - 1);
    if (n < 0)
        return errno == EINVAL ? 0 : fail(q, errno); /* EINVAL: not a link */
    text[n] = '\0';
    if (sbox_path_within(w->done, q->root->path)) {
        bool last = w->rest[strspn(w->rest, "/")] == '\0';
        bool whole = q->rule == SBOX_PATH_MASK || q->rule == SBOX_PATH_UNMASK;
        return last && whole
                   ? 0
                   : refuse(q, ELOOP,
                            "'%s' is a link in the workspace, and these are not followed: "
                            "name what it leads to",
                            sbox_esc(w->done));
    }
    r = go_through(w, text);
    return r < 0 ? fail(q, -r) : 0;
}

/* The canonical path: no link in it, except that what is masked in the workspace may be one. */
static int resolve(const struct request *q, char **ret)
{
    struct walk w = {.links = 0};
    char name[PATH_MAX];
    bool absolute = q->typed[0] == '/';
    int n = snprintf(w.rest, sizeof w.rest, "%s/%s", absolute ? "" : q->root->cwd, q->typed);
    if (n < 0 || (size_t)n >= sizeof w.rest)
        return fail(q, ENAMETOOLONG);
    while (*next_component(&w, name)) {
        int r = step(q, &w, name);
        if (r < 0)
            return r;
    }
    *ret = strdup(w.done[0] ? w.done : "/");
    return *ret ? 0 : fail(q, ENOMEM);
}

/* --- what may not be named -------------------------------------------------------------------- */

static int check_inside(const struct request *q, const char *path)
{
    bool hides = q->rule == SBOX_PATH_MASK || q->rule == SBOX_PATH_UNMASK;
    if (!hides || strcmp(path, q->root->path) != 0)
        return 0;
    return refuse(q, EINVAL, "this is the workspace itself: name a part of it");
}

static int check_outside(const struct request *q, const char *path)
{
    static const char *const own[] = {"/proc", "/dev", "/sys"};
    if (q->rule == SBOX_PATH_UNMASK)
        return refuse(q, EINVAL,
                      "it lies outside the workspace, where nothing is masked: use --ro "
                      "to show it");
    if (strcmp(path, "/") == 0)
        return refuse(q, EPERM,
                      "the root directory is never exposed or hidden: name what is "
                      "needed");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (sbox_path_within(path, own[i]))
            return refuse(q, EPERM, "the sandbox has its own %s: leave this option out", own[i]);
    if (q->rule == SBOX_PATH_MASK && sbox_path_within(q->root->path, path))
        return refuse(q, EINVAL, "it holds the workspace '%s': name what is to be hidden in it",
                      sbox_esc(q->root->path));
    return 0;
}

static int check_data(const struct request *q, const char *path, const char *data_path)
{
    if (!data_path)
        return 0;
    if (sbox_path_within(path, data_path))
        return refuse(q, EPERM,
                      "this is sbox's own data directory, which is never visible: leave "
                      "this option out");
    if (q->rule == SBOX_PATH_RW && sbox_path_within(data_path, path))
        return refuse(q, EPERM,
                      "it holds sbox's own data directory '%s': name a smaller part, or "
                      "use --ro",
                      sbox_esc(data_path));
    return 0;
}

/* --- the workspace under another name --------------------------------------------------------- */

/* A place in a file system, whatever it is called in this mount namespace. */
struct place {
    unsigned mount;
    unsigned major, minor;
    char path[PATH_MAX]; /* within the file system; "" until it is known */
};

struct alias_search {
    const struct sbox_root *root;
    const char *target; /* canonical */
    struct place workspace;
    struct place exposed;
    char alias[PATH_MAX]; /* the other name; "" while none was found */
};

/* "/" is not written in front of what lies below it, so that names can be put together. */
static const char *no_slash(const char *path)
{
    return strcmp(path, "/") == 0 ? "" : path;
}

static int mount_of(int fd, struct place *ret)
{
    struct statx sx;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &sx) < 0)
        return -errno;
    if (!(sx.stx_mask & STATX_MNT_ID))
        return -EOPNOTSUPP;
    ret->mount = (unsigned)sx.stx_mnt_id;
    return 0;
}

static void locate(const struct sbox_mount *m, const char *name, struct place *ret)
{
    const char *inside = sbox_path_below(name, m->point);
    if (m->id != ret->mount || !inside)
        return;
    ret->major = m->major;
    ret->minor = m->minor;
    int n = snprintf(ret->path, sizeof ret->path, "%s/%s", no_slash(m->root), inside);
    if (n > 1 && ret->path[n - 1] == '/' && (size_t)n < sizeof ret->path)
        ret->path[n - 1] = '\0';
}

static int locate_both(const struct sbox_mount *m, void *context)
{
    struct alias_search *s = context;
    locate(m, s->root->path, &s->workspace);
    locate(m, s->target, &s->exposed);
    return 0;
}

/* Does the place `at`, shown as `name`, show the workspace or a part of it elsewhere than where it
 * is? */
static void compare(struct alias_search *s, unsigned major, unsigned minor, const char *at,
                    const char *name)
{
    char where[2 * PATH_MAX];
    const struct place *w = &s->workspace;
    const char *down = sbox_path_below(w->path, at);
    if (major != w->major || minor != w->minor)
        return;
    if (down) {
        (void)snprintf(where, sizeof where, "%s%s%s", no_slash(name), *down ? "/" : "", down);
        if (strcmp(where, s->root->path) != 0)
            (void)snprintf(s->alias, sizeof s->alias, "%.*s", PATH_MAX - 1, where);
    } else if (sbox_path_within(at, w->path) && !sbox_path_within(name, s->root->path)) {
        (void)snprintf(s->alias, sizeof s->alias, "%s", name);
    }
}

/* What is exposed is exposed with the mounts below it. */
static int compare_mount(const struct sbox_mount *m, void *context)
{
    struct alias_search *s = context;
    const char *inside = sbox_path_below(m->point, s->target);
    if (inside && *inside)
        compare(s, m->major, m->minor, m->root, m->point);
    return 0;
}

static int walk_mounts(sbox_mountinfo_each *each, struct alias_search *s)
{
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    int r = sbox_read_file_at(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, &data, &size);
    return r < 0 ? r : sbox_mountinfo_walk(data, size, each, s);
}

static int find_alias(struct alias_search *s, int fd)
{
    int r = mount_of(s->root->fd, &s->workspace);
    if (r == 0)
        r = mount_of(fd, &s->exposed);
    if (r == 0)
        r = walk_mounts(locate_both, s);
    if (r < 0)
        return r;
    if (!s->workspace.path[0] || !s->exposed.path[0])
        return -ENODATA;
    compare(s, s->exposed.major, s->exposed.minor, s->exposed.path, s->target);
    return walk_mounts(compare_mount, s);
}

static int check_alias(const struct request *q, const char *path, int fd)
{
    if (q->rule != SBOX_PATH_RO && q->rule != SBOX_PATH_RW)
        return 0;
    struct alias_search *s = calloc(1, sizeof *s);
    if (!s)
        return fail(q, ENOMEM);
    s->root = q->root;
    s->target = path;
    int r = find_alias(s, fd);
    if (r < 0)
        r = sbox_error_set(q->err, -r, "%s '%s': compare its mount with the workspace's", q->option,
                           sbox_esc(q->typed));
    else if (s->alias[0])
        r = refuse(q, EPERM,
                   "it shows the workspace a second time, as '%s', where nothing is masked: name a "
                   "part that does not",
                   sbox_esc(s->alias));
    free(s);
    return r;
}

/* --- together --------------------------------------------------------------------------------- */

static int open_canonical(const struct request *q, const char *path, bool inside)
{
    if (inside) {
        const char *below = sbox_path_below(path, q->root->path);
        return sbox_open_beneath(q->root->fd, *below ? below : ".", O_PATH | O_NOFOLLOW);
    }
    _cleanup_close_ int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return top < 0 ? -errno : sbox_open_beneath(top, path + 1, O_PATH | O_NOFOLLOW);
}

static int check(const struct request *q, const char *path, const char *data_path, bool inside)
{
    int r = inside ? check_inside(q, path) : check_outside(q, path);
    return r < 0 ? r : check_data(q, path, data_path);
}

int sbox_policy_path_resolve(const struct sbox_root *root, const char *data_path, const char *typed,
                             enum sbox_path_rule rule, struct sbox_policy_path *ret,
                             struct sbox_error *err)
{
    struct request q = {root, option_name(rule), typed, rule, err};
    _cleanup_free_ char *path = NULL;
    struct stat st;
    if (!*typed)
        return refuse(&q, EINVAL, "a path is needed");
    int r = resolve(&q, &path);
    if (r < 0 || !path)
        return r;
    bool inside = sbox_path_within(path, root->path);
    r = check(&q, path, data_path, inside);
    if (r < 0)
        return r;
    _cleanup_close_ int fd = open_canonical(&q, path, inside);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail(&q, fd < 0 ? -fd : errno);
    if (!inside)
        r = check_alias(&q, path, fd);
    if (r == 0)
        *ret = (struct sbox_policy_path){
            .path = TAKE_PTR(path), .rule = rule, .mode = st.st_mode, .id = sbox_fileid_of(&st)};
    return r;
}
