/* Settings of package clients and of git in the workspace that hold secrets: what is left of them
 * is shown in their place. They are read through the descriptor of the scan, so that what is read
 * is what is covered later; whoever may have written them, no client is run to understand them. A
 * file that holds no secret is not touched. */
#include "sandbox/protect_list.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <limits.h>

/* Anything but a regular file is no settings file of anybody. */
static int read_file(int path_fd, char **ret, size_t *ret_size)
{
    char name[32];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", path_fd);
    _cleanup_close_ int fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? -errno : sbox_read_file_fd(fd, SBOX_CONF_MAX, ret, ret_size);
}

int sbox_protect_conf_read(int path_fd, enum sbox_conf_syntax syntax, struct sbox_conf *ret)
{
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    int r = read_file(path_fd, &data, &size);
    if (r == 0)
        return sbox_conf_filter(syntax, data, size, ret);
    if (r != -EFBIG && r != -EACCES)
        return r;
    /* Its mode may close it: a command could open it again. */
    ret->verdict = SBOX_CONF_HIDDEN;
    ret->why = r == -EFBIG ? "too large to take secrets out, so hidden whole"
                           : "cannot be read, so hidden whole";
    return 0;
}

int sbox_protects_add_filtered(struct sbox_protects *p, enum sbox_protect_kind kind,
                               const char *path, const struct stat *st, struct sbox_conf *conf)
{
    size_t before = p->count;
    int r = 0;
    for (size_t i = 0; r == 0 && i < conf->names.count; i++)
        if (!sbox_strv_contains(&p->conf_names, conf->names.items[i]))
            r = sbox_strv_add(&p->conf_names, conf->names.items[i]);
    if (r < 0 || conf->verdict == SBOX_CONF_CLEAN)
        return r;
    if (conf->verdict == SBOX_CONF_HIDDEN && kind == SBOX_PROTECT_FILTER)
        kind = SBOX_PROTECT_MASK;
    r = sbox_protects_add(p, kind, path, st, conf->why);
    if (r == 0 && p->count > before && kind != SBOX_PROTECT_MASK) {
        char *text = conf->text ? TAKE_PTR(conf->text) : strdup("");
        p->items[before].text = text;
        r = text ? 0 : -ENOMEM;
    }
    return r;
}

static int protect_file(struct sbox_protects *p, int fd, const char *path, const struct stat *st,
                        enum sbox_conf_syntax syntax)
{
    _cleanup_conf_ struct sbox_conf conf = {.verdict = SBOX_CONF_CLEAN};
    if (!S_ISREG(st->st_mode))
        return 0;
    int r = sbox_protect_conf_read(fd, syntax, &conf);
    return r < 0 ? r : sbox_protects_add_filtered(p, SBOX_PROTECT_FILTER, path, st, &conf);
}

/* What the link leads to is covered, under its own name. Out of the workspace, or nowhere, it shows
 * nothing that the view does not show. */
static int protect_target(struct sbox_protects *p, const struct sbox_root *root,
                          const struct sbox_scan_entry *e)
{
    char target[PATH_MAX];
    struct stat st;
    struct stat now;
    int r = sbox_protect_link_target(root, e->path, target, sizeof target, &st);
    if (r < 0 || sbox_protects_shows(p, root, target))
        return r == -ENAMETOOLONG ? r : 0;
    _cleanup_close_ int fd = sbox_open_beneath(root->fd, target, O_PATH | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &now) < 0)
        return fd < 0 ? fd : -errno;
    if (!sbox_fileid_equal(sbox_fileid_of(&st), sbox_fileid_of(&now)))
        return -ESTALE;
    return protect_file(p, fd, target, &now, e->syntax);
}

int sbox_protects_add_conf(struct sbox_protects *p, const struct sbox_root *root,
                           const struct sbox_scan_entry *e)
{
    struct stat st;
    if (sbox_protects_shows(p, root, e->path))
        return 0;
    if (S_ISLNK(e->mode))
        return protect_target(p, root, e);
    size_t before = p->count;
    int r = fstat(e->fd, &st) < 0 ? -errno : protect_file(p, e->fd, e->path, &st, e->syntax);
    if (p->count > before && e->tracked && !p->filtered_tracked)
        p->filtered_tracked = e->path;
    return r;
}
