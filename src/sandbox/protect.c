#include "sandbox/protect.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "sandbox/protect_list.h"

#include <limits.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { PROTECTS_MAX = 16384 };

int sbox_protects_add(struct sbox_protects *p, enum sbox_protect_kind kind, const char *path,
                      const struct stat *st, const char *why)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i].kind == kind && strcmp(p->items[i].path, path) == 0)
            return 0;
    if (p->count == PROTECTS_MAX)
        return -E2BIG;
    if (p->count == p->room) {
        size_t room = p->room ? p->room * 2 : 32;
        struct sbox_protect *grown = realloc(p->items, room * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        p->items = grown;
        p->room = room;
    }
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    p->items[p->count++] = (struct sbox_protect){
        .kind = kind, .path = copy, .id = sbox_fileid_of(st), .mode = st->st_mode, .why = why};
    return 0;
}

static int add_entry(struct sbox_protects *p, enum sbox_protect_kind kind,
                     const struct sbox_scan_entry *e, const char *why)
{
    struct stat st;
    if (fstat(e->fd, &st) < 0)
        return -errno;
    return sbox_protects_add(p, kind, e->path, &st, why);
}

/* -- secrets ------------------------------------------------------------------------------------
 */

bool sbox_protects_shows(const struct sbox_protects *p, const struct sbox_root *root,
                         const char *path)
{
    for (size_t i = 0; i < p->path_count; i++) {
        const struct sbox_policy_path *rule = &p->paths[i];
        const char *below =
            rule->rule == SBOX_PATH_UNMASK ? sbox_path_below(rule->path, root->path) : NULL;
        if (below && strcmp(below, path) == 0)
            return true;
    }
    return p->show_all;
}

/* Is `path` `dir` or below it? Both relative to the root. */
static bool within(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* A link planted as `.env` must not be a way to hide trees and repositories, or what holds them. */
static bool touches_tree_or_git(const struct sbox_scan *scan, const char *path)
{
    for (size_t i = 0; i < scan->count; i++) {
        const struct sbox_scan_entry *e = &scan->entries[i];
        bool held = e->kind == SBOX_SCAN_TREE || e->kind == SBOX_SCAN_GIT;
        if (held && (within(path, e->path) || within(e->path, path)))
            return true;
    }
    return false;
}

/* The mask of a link is not enough: what it leads to has a name of its own. A link that leads
 * nowhere, or out of the workspace, shows nothing. */
static int mask_link_target(struct sbox_protects *p, const struct sbox_root *root,
                            const struct sbox_scan *scan, const char *path)
{
    char target[PATH_MAX];
    struct stat st;
    int r = sbox_protect_link_target(root, path, target, sizeof target, &st);
    if (r < 0 || touches_tree_or_git(scan, target))
        return r == -ENAMETOOLONG ? r : 0;
    return sbox_protects_add(p, SBOX_PROTECT_MASK, target, &st, "a masked link leads to it");
}

static int protect_secret(struct sbox_protects *p, const struct sbox_root *root,
                          const struct sbox_scan *scan, const struct sbox_scan_entry *e)
{
    const char *slash = strrchr(e->path, '/');
    if (e->tracked && sbox_scan_is_template_name(slash ? slash + 1 : e->path))
        return 0;
    if (e->tracked && !p->secret_tracked) {
        p->secret_tracked = true;
        p->tracked_example = e->path;
    }
    if (S_ISREG(e->mode) && e->nlink > 1 && !p->secret_linked) {
        p->secret_linked = true;
        p->linked_example = e->path;
    }
    int r = add_entry(p, SBOX_PROTECT_MASK, e, "holds secrets; --unmask shows it");
    return r == 0 && S_ISLNK(e->mode) ? mask_link_target(p, root, scan, e->path) : r;
}

/* -- sockets ------------------------------------------------------------------------------------
 */

/* A socket that nobody listens on any more was left by an earlier run; masking it would keep its
 * server from making it anew. The attempt is made with a datagram socket: a listener of another
 * type answers EPROTOTYPE without ever seeing a connection, a dead socket ECONNREFUSED (unix(7)).
 */
static bool is_live(const struct sbox_scan_entry *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    _cleanup_close_ int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0)
        return true;
    (void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", e->fd);
    return connect(s, (const struct sockaddr *)&address, sizeof address) == 0 ||
           errno != ECONNREFUSED;
}

/* -- paths of the command line --------------------------------------------------------------------
 */

static int protect_path(struct sbox_protects *p, const struct sbox_root *root,
                        const struct sbox_scan *scan, const struct sbox_policy_path *path)
{
    const char *below = sbox_path_below(path->path, root->path);
    if (!below || *below == '\0' || (path->rule != SBOX_PATH_RO && path->rule != SBOX_PATH_MASK))
        return 0;
    struct stat st = {.st_mode = path->mode};
    st.st_dev = path->id.dev;
    st.st_ino = path->id.ino;
    bool mask = path->rule == SBOX_PATH_MASK;
    int r = sbox_protects_add(p, mask ? SBOX_PROTECT_MASK : SBOX_PROTECT_RO, below, &st,
                              mask ? "--mask" : "--ro");
    return r == 0 && mask && S_ISLNK(path->mode) ? mask_link_target(p, root, scan, below) : r;
}

static int protect_entry(struct sbox_protects *p, const struct sbox_root *root,
                         const struct sbox_scan *scan, const struct sbox_scan_entry *e,
                         struct sbox_error *err)
{
    switch (e->kind) {
    case SBOX_SCAN_SECRET:
        return sbox_protects_shows(p, root, e->path) ? 0 : protect_secret(p, root, scan, e);
    case SBOX_SCAN_CONF:
        return sbox_protects_add_conf(p, root, e);
    case SBOX_SCAN_GIT:
        return sbox_protects_add_git(p, root, e, err);
    case SBOX_SCAN_SOCKET:
        return is_live(e) ? add_entry(p, SBOX_PROTECT_MASK, e, "a socket of a host process") : 0;
    case SBOX_SCAN_TREE:
        return 0;
    }
    return 0;
}

static int by_path(const void *a, const void *b)
{
    const struct sbox_protect *x = a;
    const struct sbox_protect *y = b;
    return strcmp(x->path, y->path);
}

static bool is_masked(const struct sbox_protects *p, const char *path)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i].kind == SBOX_PROTECT_MASK && strcmp(p->items[i].path, path) == 0)
            return true;
    return false;
}

/* A mask lies on the file itself: nothing may be put between the two. */
static void drop_masked(struct sbox_protects *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        struct sbox_protect *item = &p->items[i];
        if (item->text && is_masked(p, item->path)) {
            free(item->path);
            free(item->text);
        } else {
            p->items[kept++] = *item;
        }
    }
    p->count = kept;
}

int sbox_protects_gather(const struct sbox_root *root, const struct sbox_scan *scan,
                         const struct sbox_policy_path *paths, size_t path_count, bool allow_env,
                         struct sbox_protects *ret, struct sbox_error *err)
{
    struct sbox_protects p = {.paths = paths, .path_count = path_count, .show_all = allow_env};
    int r = 0;
    for (size_t i = 0; r == 0 && i < scan->count; i++) {
        const struct sbox_scan_entry *e = &scan->entries[i];
        r = protect_entry(&p, root, scan, e, err);
        if (r < 0 && e->kind != SBOX_SCAN_GIT) /* that one says more */
            (void)sbox_error_set(err, -r, "protect '%s'", sbox_esc(e->path));
    }
    for (size_t i = 0; r == 0 && i < path_count; i++) {
        r = protect_path(&p, root, scan, &paths[i]);
        if (r < 0)
            (void)sbox_error_set(err, -r, "protect '%s'", sbox_esc(paths[i].path));
    }
    if (r < 0) {
        sbox_protects_release(&p);
        return r;
    }
    drop_masked(&p);
    if (p.count > 1)
        qsort(p.items, p.count, sizeof *p.items, by_path);
    *ret = p;
    return 0;
}

void sbox_protects_release(struct sbox_protects *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->items[i].path);
        free(p->items[i].text);
    }
    free(p->items);
    sbox_strv_release(&p->conf_names);
    *p = (struct sbox_protects){0};
}
