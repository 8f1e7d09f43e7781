#include "project/cachedir.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/strv.h"
#include "project/datadir.h"

#include <fcntl.h>

int sbox_cachedir_name(const char *home, const char *xdg_cache_home, const char *root_path,
                       struct sbox_cachedir *ret, struct sbox_error *err)
{
    struct sbox_cachedir c = {NULL, NULL, NULL};
    char id[SBOX_PROJECT_ID_SIZE];
    bool own = xdg_cache_home && xdg_cache_home[0] == '/';
    if (!own && (!home || home[0] != '/'))
        return sbox_error_say(err, ENOENT,
                              "no place for caches: HOME is not set to an absolute path (set HOME "
                              "or XDG_CACHE_HOME)");
    sbox_project_id(root_path, id);
    if (asprintf(&c.base, "%s%s", own ? xdg_cache_home : home, own ? "" : "/.cache") < 0)
        c.base = NULL;
    if (!c.base || asprintf(&c.top, "%s/sbox", c.base) < 0)
        c.top = NULL;
    if (!c.top || asprintf(&c.path, "%s/%s", c.top, id) < 0) {
        c.path = NULL;
        sbox_cachedir_release(&c);
        return sbox_error_set(err, ENOMEM, "name the cache directory");
    }
    *ret = c;
    return 0;
}

void sbox_cachedir_release(struct sbox_cachedir *c)
{
    free(c->base);
    free(c->top);
    free(c->path);
    *c = (struct sbox_cachedir){NULL, NULL, NULL};
}

/* The longest part of `path` that exists, canonical: a link on the way may lead anywhere. */
static bool leads_into(const char *path, const char *root_path)
{
    _cleanup_free_ char *head = strdup(path);
    while (head && *head) {
        _cleanup_free_ char *real = realpath(head, NULL);
        if (real)
            return sbox_path_within(real, root_path);
        *strrchr(head, '/') = '\0';
    }
    return !head; /* out of memory: not to be trusted */
}

static int check_place(const struct sbox_cachedir *c, const char *root_path, struct sbox_error *err)
{
    if (!sbox_path_within(c->path, root_path) && !leads_into(c->path, root_path))
        return 0;
    return sbox_error_say(
        err, EPERM,
        "the cache directory '%s' lies in the workspace, where the command writes: "
        "set XDG_CACHE_HOME to another place",
        sbox_esc(c->top));
}

static int check_directory(const char *path, struct sbox_error *err)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? -ENOENT
                               : sbox_error_set(err, errno, "cache directory '%s'", sbox_esc(path));
    if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return 0;
    return sbox_error_say(err, EPERM,
                          "the cache directory '%s' is a link, not yours, or others can write to "
                          "it: remove it, or chmod 700 it",
                          sbox_esc(path));
}

int sbox_cachedir_check(const struct sbox_cachedir *c, const char *root_path,
                        struct sbox_error *err)
{
    int r = check_directory(c->top, err);
    if (r == 0)
        r = check_place(c, root_path, err);
    return r == 0 ? check_directory(c->path, err) : r;
}

int sbox_cachedir_make(const struct sbox_cachedir *c, const char *root_path, struct sbox_error *err)
{
    int r = check_place(c, root_path, err);
    if (r < 0)
        return r;
    r = sbox_mkdir_parents(AT_FDCWD, c->path, 0700);
    if (r < 0)
        return sbox_error_set(err, -r, "make the cache directory '%s'", sbox_esc(c->path));
    return sbox_cachedir_check(c, root_path, err);
}
