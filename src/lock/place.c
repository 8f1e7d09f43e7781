#include "lock/place.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/strv.h"
#include "lock/leaving.h"

#include <fcntl.h>

void sbox_place_release(struct sbox_place *place)
{
    free(place->path);
    free(place->link);
    free(place->real);
    sbox_close(place->fd);
    *place = (struct sbox_place){.fd = -1};
}

const struct sbox_scan_entry *sbox_place_scanned(const struct sbox_scan *scan, const char *path)
{
    for (size_t i = 0; i < scan->count; i++)
        if (scan->entries[i].kind == SBOX_SCAN_TREE && strcmp(scan->entries[i].path, path) == 0)
            return &scan->entries[i];
    return NULL;
}

/* Absolute path of `typed`, canonical but for its last component. */
static int canonical_parent(const char *cwd, const char *typed, char **ret)
{
    _cleanup_free_ char *full = NULL;
    if (asprintf(&full, "%s/%s", typed[0] == '/' ? "" : cwd, typed) < 0)
        return -ENOMEM;
    size_t n = strlen(full);
    while (n > 1 && full[n - 1] == '/')
        full[--n] = '\0';
    char *slash = strrchr(full, '/');
    if (strcmp(slash + 1, ".") == 0 || strcmp(slash + 1, "..") == 0 || slash[1] == '\0') {
        *ret = realpath(full, NULL);
        return *ret ? 0 : -errno;
    }
    *slash = '\0';
    _cleanup_free_ char *parent = realpath(slash == full ? "/" : full, NULL);
    if (!parent)
        return -errno;
    if (asprintf(ret, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, slash + 1) < 0)
        return -ENOMEM;
    return 0;
}

static int check_neighbours(const struct sbox_scan *scan, const char *path, struct sbox_error *err)
{
    for (size_t i = 0; i < scan->count; i++) {
        const struct sbox_scan_entry *e = &scan->entries[i];
        if (e->kind != SBOX_SCAN_TREE || strcmp(e->path, path) == 0)
            continue;
        if (sbox_path_within(path, e->path))
            return sbox_error_say(err, EINVAL, "'%s' lies inside the tree '%s': name that",
                                  sbox_esc(path), sbox_esc(e->path));
        if (sbox_path_within(e->path, path))
            return sbox_error_say(err, EINVAL, "'%s' is no tree but holds one: '%s'",
                                  sbox_esc(path), sbox_esc(e->path));
    }
    return 0;
}

int sbox_place_name(const struct sbox_place_request *request, const char *typed, char **ret,
                    struct sbox_error *err)
{
    _cleanup_free_ char *full = NULL;
    if (*typed == '\0')
        return sbox_error_say(err, EINVAL, "an empty PATH names nothing");
    int r = canonical_parent(request->root->cwd, typed, &full);
    if (r < 0)
        return sbox_error_set(err, -r, "'%s'", sbox_esc(typed));
    const char *below = sbox_path_below(full, request->root->path);
    if (!below) {
        *ret = TAKE_PTR(full);
        return 0;
    }
    if (*below == '\0')
        return sbox_error_say(err, EINVAL, "'%s' is the project itself, not a tree in it",
                              sbox_esc(typed));
    r = check_neighbours(request->scan, below, err);
    if (r < 0)
        return r;
    *ret = strdup(below);
    return *ret ? 0 : -ENOMEM;
}

static enum sbox_tree_kind guess_kind(const struct sbox_place *place)
{
    const char *slash = strrchr(place->path, '/');
    if (strcmp(slash ? slash + 1 : place->path, "node_modules") == 0)
        return SBOX_TREE_NODE_MODULES;
    if (faccessat(place->fd, "pyvenv.cfg", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return SBOX_TREE_VENV;
    return SBOX_TREE_VENDOR;
}

/* By an absolute, canonical path. */
static int open_absolute(const char *path)
{
    _cleanup_close_ int slash = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (slash < 0)
        return -errno;
    while (*path == '/')
        path++;
    return sbox_open_beneath(slash, *path ? path : ".", O_PATH | O_NOFOLLOW);
}

/* Follows a tree that is a link, as node and python will. */
static int open_link(const struct sbox_place_request *request, struct sbox_place *place,
                     struct sbox_error *err)
{
    _cleanup_free_ char *full = NULL;
    if (asprintf(&full, "%s/%s", request->root->path, place->path) < 0)
        return -ENOMEM;
    place->real = realpath(full, NULL);
    if (!place->real)
        return errno == ENOENT || errno == ELOOP || errno == EACCES ? -ENOENT : -errno;
    const char *below = sbox_path_below(place->real, request->root->path);
    if (below && *below == '\0')
        return sbox_error_say(err, EPERM, "'%s' is a link to the project itself",
                              sbox_esc(place->path));
    if (below)
        return sbox_open_beneath(request->root->fd, below, O_PATH);
    if (!request->allow_leaving)
        return sbox_error_say(err, EPERM,
                              "'%s' is a link that leaves the workspace, to '%s'; to trust that,"
                              " name it: sbox lock %s",
                              sbox_esc(place->path), sbox_esc(place->real), sbox_esc(place->path));
    int r = sbox_leads_allowed(place->real, request->root->path, request->home, err);
    if (r < 0)
        return sbox_error_wrap(err, -r, "'%s' leads out of the workspace", sbox_esc(place->path));
    return open_absolute(place->real);
}

static int open_relative(const struct sbox_place_request *request, struct sbox_place *place,
                         struct sbox_error *err)
{
    const struct sbox_scan_entry *e = sbox_place_scanned(request->scan, place->path);
    place->named = !e;
    _cleanup_close_ int fd =
        e ? fcntl(e->fd, F_DUPFD_CLOEXEC, 0)
          : sbox_open_beneath(request->root->fd, place->path, O_PATH | O_NOFOLLOW);
    /* RESOLVE_NO_SYMLINKS refuses a last component that is a link: open that without it. */
    if (!e && fd == -ELOOP)
        fd = openat(request->root->fd, place->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fd == -1 ? -errno : fd;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISLNK(st.st_mode)) {
        if (asprintf(&place->real, "%s/%s", request->root->path, place->path) < 0)
            return -ENOMEM;
        return TAKE_FD(fd);
    }
    char text[4096];
    ssize_t n = readlinkat(fd, "", text, sizeof text - 1);
    if (n < 0)
        return -errno;
    text[n] = '\0';
    place->link = strdup(text);
    return place->link ? open_link(request, place, err) : -ENOMEM;
}

static int open_any(const struct sbox_place_request *request, struct sbox_place *place,
                    struct sbox_error *err)
{
    if (!place->outside)
        return open_relative(request, place, err);
    place->named = true;
    place->real = realpath(place->path, NULL);
    if (!place->real)
        return -errno;
    int r = sbox_leads_allowed(place->real, request->root->path, request->home, err);
    return r < 0 ? r : open_absolute(place->real);
}

int sbox_place_open(const struct sbox_place_request *request, const char *path,
                    struct sbox_place *ret, struct sbox_error *err)
{
    struct sbox_error inner = SBOX_ERROR_INIT;
    _cleanup_place_ struct sbox_place place = {
        .fd = -1, .path = strdup(path), .outside = path[0] == '/'};
    if (!place.path)
        return -ENOMEM;
    place.fd = open_any(request, &place, &inner);
    struct stat st;
    int r = place.fd < 0 ? place.fd : fstat(place.fd, &st) < 0 ? -errno : 0;
    if (r == 0 && !S_ISDIR(st.st_mode) && !(place.outside && S_ISREG(st.st_mode)))
        r = -ENOTDIR;
    if (r < 0) {
        if (inner.code == 0)
            return sbox_error_set(err, -r, "'%s'", sbox_esc(path));
        if (err)
            *err = inner;
        return r;
    }
    const struct sbox_scan_entry *e = sbox_place_scanned(request->scan, path);
    place.kind = e ? e->tree : guess_kind(&place);
    *ret = place;
    place = (struct sbox_place){.fd = -1};
    return 0;
}
