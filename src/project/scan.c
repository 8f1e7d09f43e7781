/* The scan; its theory of operation is in scan.h. */
#include "project/scan.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "project/scan_node.h"
#include "project/scan_read.h"
#include "project/scan_tracked.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <time.h>

enum { ENTRIES_MAX = 8192, DIRECTORIES_MAX = 2000000, CACHE_MAX = 256 << 20, STRETCH = 2048 };

struct walk {
    struct sbox_scan *scan;
    struct sbox_error *err;
    struct sbox_scan_clock clock;
    size_t room;
    bool changed; /* the cache must be written */
    bool again;   /* second pass: everything must be as in the first */
    bool alone;   /* from the request */
    char *path;   /* relative to the root, of the directory being looked at */
    size_t path_size;
    size_t path_room;
};

/* A directory being looked at: `fd` is an ancestor, `rel` the way from it. */
struct place {
    int fd;
    size_t rel; /* offset in walk.path where the way from fd begins */
};

static int visit(struct walk *w, struct place at, struct sbox_scan_node **slot, bool yarn,
                 unsigned depth);

static int push(struct walk *w, const char *name, size_t *ret_before)
{
    size_t n = strlen(name);
    if (w->path_size + n + 2 > w->path_room) {
        size_t room = (w->path_size + n + 2) * 2;
        char *grown = realloc(w->path, room);
        if (!grown)
            return sbox_error_set(w->err, ENOMEM, "scan");
        w->path = grown;
        w->path_room = room;
    }
    *ret_before = w->path_size;
    if (w->path_size > 0)
        w->path[w->path_size++] = '/';
    memcpy(w->path + w->path_size, name, n + 1);
    w->path_size += n;
    return 0;
}

static void pop(struct walk *w, size_t before)
{
    w->path_size = before;
    w->path[before] = '\0';
}

static const char *way(const struct walk *w, struct place at)
{
    const char *rel = w->path + at.rel;
    return *rel == '/' ? rel + 1 : *rel ? rel : ".";
}

/* -- entries ----------------------------------------------------------------------------------- */

static char *read_link(int fd)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(fd, "", target, sizeof target - 1);
    return n < 0 ? NULL : strndup(target, (size_t)n);
}

static int grow_entries(struct walk *w)
{
    if (w->scan->count == ENTRIES_MAX)
        return sbox_error_say(
            w->err, E2BIG,
            "more than %d dependency trees, .env and settings files and repositories in the "
            "workspace; use a smaller one (--workspace DIR)",
            ENTRIES_MAX);
    if (w->scan->count < w->room)
        return 0;
    size_t room = w->room ? w->room * 2 : 32;
    struct sbox_scan_entry *grown = realloc(w->scan->entries, room * sizeof *grown);
    if (!grown)
        return sbox_error_set(w->err, ENOMEM, "scan");
    w->scan->entries = grown;
    w->room = room;
    return 0;
}

/* Of the current path, by its last two names. */
static enum sbox_conf_syntax syntax_here(const struct walk *w)
{
    char dir[SBOX_SCAN_NAME_MAX + 1] = "";
    const char *name = strrchr(w->path, '/');
    if (!name)
        return sbox_conf_syntax_of(dir, w->path);
    const char *before = name;
    while (before > w->path && before[-1] != '/')
        before--;
    (void)snprintf(dir, sizeof dir, "%.*s", (int)(name - before), before);
    return sbox_conf_syntax_of(dir, name + 1);
}

/* Opens what lies at the current path now, whatever the cache said. */
static int add_entry(struct walk *w, struct place at, enum sbox_scan_kind kind,
                     enum sbox_tree_kind tree)
{
    _cleanup_close_ int fd = sbox_open_beneath(at.fd, way(w, at), O_PATH | O_NOFOLLOW);
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
        return w->again
                   ? 0
                   : sbox_error_say(w->err, ESTALE,
                                    "'%s' changed while the workspace was looked at; try again",
                                    sbox_esc(w->path));
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return sbox_error_set(w->err, fd < 0 ? -fd : errno, "open '%s'", sbox_esc(w->path));
    int r = grow_entries(w);
    char *path = r == 0 ? strdup(w->path) : NULL;
    char *link = path && S_ISLNK(st.st_mode) ? read_link(fd) : NULL;
    if (!path)
        return r < 0 ? r : sbox_error_set(w->err, ENOMEM, "scan");
    w->scan->entries[w->scan->count++] = (struct sbox_scan_entry){
        .kind = kind,
        .tree = tree,
        .path = path,
        .fd = TAKE_FD(fd),
        .id = sbox_fileid_of(&st),
        .mode = st.st_mode,
        .nlink = st.st_nlink,
        .syntax = kind == SBOX_SCAN_CONF ? syntax_here(w) : SBOX_CONF_NONE,
        .link = link,
    };
    return 0;
}

static bool holds(struct walk *w, struct place at, const char *name)
{
    size_t before = 0;
    if (push(w, name, &before) < 0)
        return false;
    bool found = faccessat(at.fd, way(w, at), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    pop(w, before);
    return found;
}

/* The current path is `vendor`; a marker lies in it or beside it. */
static bool is_vendor_tree(struct walk *w, struct place at)
{
    static const char *const inside[] = {"autoload.php", "composer", "modules.txt", "bundle"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (holds(w, at, inside[i]))
            return true;
    static const char *const beside[] = {"../Cargo.toml", "../composer.json", "../Gemfile"};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (holds(w, at, beside[i]))
            return true;
    return false;
}

/* Is the current path a tree by its role? */
static bool is_tree(struct walk *w, struct place at, enum sbox_scan_role role,
                    enum sbox_tree_kind *ret)
{
    switch ((int)role) {
    case SBOX_ROLE_NODE_MODULES:
        *ret = SBOX_TREE_NODE_MODULES;
        return true;
    case SBOX_ROLE_YARN_PART:
        *ret = SBOX_TREE_YARN;
        return true;
    case SBOX_ROLE_VENV:
        *ret = SBOX_TREE_VENV;
        return holds(w, at, "pyvenv.cfg");
    case SBOX_ROLE_SECRET: /* a venv that was called .env */
        *ret = SBOX_TREE_VENV;
        return holds(w, at, "pyvenv.cfg");
    case SBOX_ROLE_VENDOR:
        *ret = SBOX_TREE_VENDOR;
        return is_vendor_tree(w, at);
    default:
        return false;
    }
}

static int look_at(struct walk *w, struct place at, struct sbox_scan_name *n, unsigned depth)
{
    enum sbox_tree_kind tree = SBOX_TREE_NODE_MODULES;
    bool may_be_tree = n->role != SBOX_ROLE_SECRET || n->directory;
    if (may_be_tree && is_tree(w, at, n->role, &tree))
        return w->again ? 0 : add_entry(w, at, SBOX_SCAN_TREE, tree);
    if (n->role >= SBOX_ROLE_SECRET) {
        static const enum sbox_scan_kind kinds[] = {[SBOX_ROLE_SECRET] = SBOX_SCAN_SECRET,
                                                    [SBOX_ROLE_GIT] = SBOX_SCAN_GIT,
                                                    [SBOX_ROLE_SOCKET] = SBOX_SCAN_SOCKET,
                                                    [SBOX_ROLE_CONF] = SBOX_SCAN_CONF};
        return w->again ? 0 : add_entry(w, at, kinds[n->role], tree);
    }
    return n->directory ? visit(w, at, &n->node, n->role == SBOX_ROLE_YARN, depth + 1) : 0;
}

/* -- directories ------------------------------------------------------------------------------- */

static bool unchanged(const struct sbox_scan_node *node, const struct sbox_scan_node *now)
{
    return sbox_fileid_equal(node->id, now->id) && node->mtime == now->mtime &&
           node->ctime == now->ctime;
}

/* Where a later change may carry the same ctime, only a directory that had been at rest for a while
 * when it was read is known to be the same; the others are looked at once more, after a pause. */
static bool provably_same(const struct walk *w, const struct sbox_scan_node *node,
                          const struct sbox_scan_node *now)
{
    bool at_rest = w->clock.fine || node->trusted || !w->clock.ctime_moves;
    return at_rest && unchanged(node, now);
}

static const char *here(const struct walk *w)
{
    return w->path_size > 0 ? sbox_esc(w->path) : ".";
}

static int changed_meanwhile(const struct walk *w)
{
    return sbox_error_say(w->err, ESTALE,
                          "'%s' changed each time the workspace was looked at (another command is "
                          "moving things there); try again",
                          here(w));
}

/* A directory of the user's own that its mode closes: the command can open it again, and git and
 * others can use names in it that no list shows. After a run it is what the command left. */
static int open_closed(struct walk *w, struct place at)
{
    if (!w->alone)
        return sbox_error_say(
            w->err, EACCES,
            "'%s' cannot be listed, but a command could change that and find what "
            "was not hidden: chmod u+rx it",
            here(w));
    int r = sbox_scan_reopen(at.fd, way(w, at));
    return r < 0 ? sbox_error_set(w->err, -r, "open '%s'", here(w)) : 0;
}

/* Somebody else's: the command cannot read it either. The second pass compares it all the same. */
static int pass_over(struct sbox_scan_node *node, const struct sbox_scan_node *now)
{
    sbox_scan_node_clear(node);
    node->id = now->id;
    node->mtime = now->mtime;
    node->ctime = now->ctime;
    node->trusted = false;
    return 1;
}

/* Makes *slot say what the directory holds now. 0, 1 when it is to be passed over, or -errno. */
static int refresh(struct walk *w, struct place at, struct sbox_scan_node **slot, bool yarn)
{
    struct sbox_scan_node now = {0};
    int r = sbox_scan_stat(at.fd, way(w, at), &now);
    if (w->again)
        return r < 0 || !*slot || !provably_same(w, *slot, &now) ? changed_meanwhile(w) : 0;
    if (r == -ENOENT || r == -ENOTDIR)
        return 1; /* gone since its parent was read: the second pass will tell */
    if (r < 0)
        return sbox_error_set(w->err, -r, "look at '%s'", here(w));
    if (now.closed && (r = open_closed(w, at)) < 0)
        return r;
    if (*slot && (*slot)->trusted && unchanged(*slot, &now) && !now.closed)
        return 0;
    w->changed = true;
    w->scan->reread++;
    if (!*slot && !(*slot = sbox_scan_node_new()))
        return sbox_error_set(w->err, ENOMEM, "scan");
    r = sbox_scan_read(at.fd, way(w, at), &w->clock, yarn, *slot);
    if (r == -EACCES)
        return pass_over(*slot, &now);
    if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
        return changed_meanwhile(w);
    return r < 0 ? sbox_error_set(w->err, -r, "read '%s'", sbox_esc(w->path)) : 0;
}

static int visit(struct walk *w, struct place at, struct sbox_scan_node **slot, bool yarn,
                 unsigned depth)
{
    if (depth >= SBOX_SCAN_DEPTH_MAX || w->scan->directories >= DIRECTORIES_MAX)
        return sbox_error_say(w->err, E2BIG, "the workspace is too deep or too large at '%.200s'",
                              sbox_esc(w->path));
    _cleanup_close_ int nearer = -1;
    int r = refresh(w, at, slot, yarn);
    if (r != 0 || !*slot)
        return r < 0 ? r : 0;
    if (w->path_size - at.rel > STRETCH) {
        nearer = sbox_open_beneath(at.fd, way(w, at), O_PATH | O_DIRECTORY);
        if (nearer < 0)
            return sbox_error_set(w->err, -nearer, "open '%s'", sbox_esc(w->path));
        at = (struct place){.fd = nearer, .rel = w->path_size};
    }
    if (!w->again)
        w->scan->directories++;
    for (size_t i = 0; r == 0 && i < (*slot)->count; i++) {
        size_t before = 0;
        r = push(w, (*slot)->names[i].name, &before);
        if (r == 0) {
            r = look_at(w, at, &(*slot)->names[i], depth);
            pop(w, before);
        }
    }
    return r;
}

/* -- the whole --------------------------------------------------------------------------------- */

static struct sbox_scan_node *load_cache(int dirfd)
{
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    if (dirfd < 0 || sbox_read_file_at(dirfd, "scan", CACHE_MAX, &data, &size) < 0)
        return NULL;
    return sbox_scan_node_decode(data, size);
}

/* Best effort: without a cache the next scan reads everything. */
static void save_cache(int dirfd, const struct sbox_scan_node *node)
{
    _cleanup_buf_ struct sbox_buf out = {0};
    sbox_scan_node_encode(&out, node);
    if (!sbox_buf_failed(&out))
        (void)sbox_write_file_atomic(dirfd, "scan", out.data, out.size, 0600, false);
}

static int by_path(const void *a, const void *b)
{
    const struct sbox_scan_entry *x = a;
    const struct sbox_scan_entry *y = b;
    return strcmp(x->path, y->path);
}

/* One look, and a second: a directory that is moved from a place not yet seen to one already seen
 * is in neither; the second look finds that one of the two changed. */
static int look_twice(struct walk *w, const struct sbox_scan_request *request,
                      struct sbox_scan_node **root)
{
    struct place start = {.fd = request->root_fd, .rel = 0};
    w->again = false;
    pop(w, 0);
    int r = visit(w, start, root, false, 0);
    w->again = true;
    return r == 0 && !request->alone ? visit(w, start, root, false, 0) : r;
}

/* A dev server or another run that writes beside a start is no reason to refuse it: what changed is
 * looked at anew, after a short and varying pause. */
static int look_until_stable(struct walk *w, const struct sbox_scan_request *request,
                             struct sbox_scan_node **root)
{
    enum { ATTEMPTS = 64, PAUSE_NS = 100000 };
    int r = -ESTALE;
    for (int attempt = 0; r == -ESTALE && attempt < ATTEMPTS; attempt++) {
        struct timespec pause = {.tv_nsec = PAUSE_NS * (attempt * 7 % 23)};
        if (attempt > 0)
            (void)nanosleep(&pause, NULL);
        sbox_scan_release(w->scan);
        w->room = 0;
        r = look_twice(w, request, root);
    }
    return r;
}

int sbox_scan_run(const struct sbox_scan_request *request, struct sbox_scan *ret,
                  struct sbox_error *err)
{
    struct sbox_scan scan = {0};
    struct walk w = {.scan = &scan, .err = err, .alone = request->alone};
    struct sbox_scan_node *root = load_cache(request->project_dirfd);
    w.path = calloc(1, 256);
    w.path_room = 256;
    int r = w.path ? sbox_scan_clock_init(request->root_fd, &w.clock) : -ENOMEM;
    if (r < 0)
        (void)sbox_error_set(err, -r, "scan");
    else
        r = look_until_stable(&w, request, &root);
    if (r == 0 && root && w.changed && request->project_dirfd >= 0)
        save_cache(request->project_dirfd, root);
    sbox_scan_node_free(root);
    free(w.path);
    if (r < 0) {
        sbox_scan_release(&scan);
        return r;
    }
    if (err)
        *err = SBOX_ERROR_INIT; /* of an attempt that was repeated */
    if (scan.count > 1)
        qsort(scan.entries, scan.count, sizeof *scan.entries, by_path);
    sbox_scan_mark_tracked(request->root_fd, &scan);
    *ret = scan;
    return 0;
}

void sbox_scan_release(struct sbox_scan *scan)
{
    for (size_t i = 0; i < scan->count; i++) {
        sbox_close(scan->entries[i].fd);
        free(scan->entries[i].path);
        free(scan->entries[i].link);
    }
    free(scan->entries);
    *scan = (struct sbox_scan){0};
}
