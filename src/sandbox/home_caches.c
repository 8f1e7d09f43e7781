#include "sandbox/home_caches.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/strv.h"

#include <dirent.h>
#include <fcntl.h>

/* By their places below $HOME; those of `.cache` are the host's $XDG_CACHE_HOME's. Poetry's virtual
 * environments are not among them: they are no cache but a dependency tree. */
static const struct {
    const char *place;
    bool shared;         /* the host's own is a layer below */
    const char *program; /* it needs the place writable, even if there is nothing; or NULL */
} caches[] = {
    {".npm", false, NULL},
    {".yarn/berry", false, NULL},
    {".bun/install/cache", false, "bun"},
    {".bundle/cache", false, "bundle"},
    {".cargo/registry", true, "cargo"}, /* archives are checked against Cargo.lock */
    {".cargo/git", true, "cargo"},
    {"go/pkg", true, "go"}, /* modules are checked against go.sum */
    {".cache/pip", false, NULL},
    {".cache/uv", false, NULL},
    {".cache/yarn", false, NULL},
    {".cache/pnpm", false, NULL},
    {".cache/pypoetry/cache", false, NULL},
    {".cache/pypoetry/artifacts", false, NULL},
    {".cache/go-build", false, NULL},
    {".cache/composer", false, NULL},
    {".cache/node-gyp", true, NULL},
    {".cache/node/corepack", true, NULL},
    {".cache/ms-playwright", true, NULL},
    {".cache/puppeteer", true, NULL},
    {".cache/Cypress", true, NULL},
};

enum { CACHES = sizeof caches / sizeof *caches };

/* A directory below `dirfd`, no part of the way a link: one could have been planted by a run that
 * was given the place with --rw. */
static bool is_directory(int dirfd, const char *path)
{
    _cleanup_close_ int fd = sbox_open_beneath(dirfd, path, O_PATH | O_DIRECTORY);
    return fd >= 0;
}

static bool holds_anything(int dirfd, const char *path)
{
    _Alignas(struct dirent64) char buffer[512];
    _cleanup_close_ int fd = sbox_open_beneath(dirfd, path, O_RDONLY | O_DIRECTORY);
    const struct dirent64 *e = NULL;
    ssize_t n = fd < 0 ? 0 : getdents64(fd, buffer, sizeof buffer);
    for (ssize_t at = 0; at < n; at += e->d_reclen) {
        e = (const struct dirent64 *)(const void *)(buffer + at);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            return true;
    }
    return false;
}

struct gather {
    const struct sbox_home_caches_request *request;
    int home; /* descriptors; -1: not there, or not to be used */
    int base;
    int own; /* <id>/home */
    struct sbox_home_caches found;
};

static int find_host(const struct gather *g, size_t i, char **ret)
{
    static const char prefix[] = ".cache/";
    const char *place = caches[i].place;
    bool xdg = sbox_str_starts(place, prefix);
    const char *below = xdg ? place + strlen(prefix) : place;
    const char *top = xdg ? g->request->dir->base : g->request->home;
    int fd = xdg ? g->base : g->home;
    if (!caches[i].shared || fd < 0 || !is_directory(fd, below))
        return 0;
    return asprintf(ret, "%s/%s", top, below) < 0 ? -ENOMEM : 0;
}

static int find_own(const struct gather *g, size_t i, char **ret, struct sbox_error *err)
{
    char sub[64];
    for (int k = 0; g->request->install && k < 2; k++) {
        (void)snprintf(sub, sizeof sub, "%s/%s", caches[i].place, k ? "w" : "u");
        int r = sbox_mkdir_parents(g->own, sub, 0700);
        if (r < 0)
            return sbox_error_set(err, -r, "make the cache '%s/home/%s'",
                                  sbox_esc(g->request->dir->path), sub);
    }
    (void)snprintf(sub, sizeof sub, "%s/u", caches[i].place);
    /* Each layer is a mount; most package managers were never used here. */
    if (g->own < 0 || !(g->request->install ? is_directory : holds_anything)(g->own, sub))
        return 0;
    return asprintf(ret, "%s/home/%s", g->request->dir->path, caches[i].place) < 0 ? -ENOMEM : 0;
}

static int find_one(struct gather *g, size_t i, struct sbox_error *err)
{
    struct sbox_policy_cache *c = &g->found.items[g->found.count];
    *c = (struct sbox_policy_cache){.place = caches[i].place};
    int r = find_own(g, i, &c->own, err);
    if (r == 0)
        r = find_host(g, i, &c->host);
    const char *program = g->request->program;
    bool needed = program && caches[i].program && strcmp(program, caches[i].program) == 0;
    if (r < 0 || c->own || c->host || needed)
        g->found.count++; /* what was allocated is released with the rest */
    return r;
}

/* <id>/home; -1 in *ret when there is none. */
static int open_own(const struct sbox_home_caches_request *q, int *ret, struct sbox_error *err)
{
    struct sbox_error inner = SBOX_ERROR_INIT;
    int r = q->install ? sbox_cachedir_make(q->dir, q->root_path, &inner)
                       : sbox_cachedir_check(q->dir, q->root_path, &inner);
    if (r < 0) {
        if (q->install && err)
            *err = inner;
        return q->install ? r : 0;
    }
    _cleanup_close_ int dir = open(q->dir->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (q->install && (dir < 0 || (mkdirat(dir, "home", 0700) < 0 && errno != EEXIST)))
        return sbox_error_set(err, errno, "make '%s/home'", sbox_esc(q->dir->path));
    *ret = dir < 0 ? -1 : openat(dir, "home", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return 0;
}

/* A cache directory in the workspace holds what commands wrote there: it is not the user's. */
static int open_base(const struct sbox_home_caches_request *q)
{
    _cleanup_free_ char *real = realpath(q->dir->base, NULL);
    if (!real || sbox_path_within(real, q->root_path))
        return -1;
    return open(real, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int sbox_home_caches_gather(const struct sbox_home_caches_request *request,
                            struct sbox_home_caches *ret, struct sbox_error *err)
{
    struct gather g = {.request = request, .own = -1};
    _cleanup_close_ int own = -1;
    int r = open_own(request, &own, err);
    if (r < 0)
        return r;
    _cleanup_close_ int home = open(request->home, O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_close_ int base = open_base(request);
    g.home = home;
    g.base = base;
    g.own = own;
    g.found.items = calloc(CACHES, sizeof *g.found.items);
    if (!g.found.items)
        return sbox_error_set(err, ENOMEM, "look for caches");
    for (size_t i = 0; r == 0 && i < CACHES; i++)
        r = find_one(&g, i, err);
    if (r < 0) {
        sbox_home_caches_release(&g.found);
        return err && err->code ? r : sbox_error_set(err, -r, "look for caches");
    }
    *ret = g.found;
    return 0;
}

void sbox_home_caches_settle(const struct sbox_home_caches *c)
{
    for (size_t i = 0; i < c->count; i++) {
        _cleanup_free_ char *work = NULL;
        if (!c->items[i].own || asprintf(&work, "%s/w/work", c->items[i].own) < 0)
            continue;
        if (rmdir(work) < 0 && errno == ENOTEMPTY)
            (void)chmod(work, 0700);
    }
}

void sbox_home_caches_release(struct sbox_home_caches *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free(c->items[i].own);
        free(c->items[i].host);
    }
    free(c->items);
    *c = (struct sbox_home_caches){0};
}
