#include "lock/dir.h"

#include "base/cleanup.h"

#include <fcntl.h>

static int open_at(int dirfd, const char *name)
{
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int check_id(int fd, const struct sbox_dir *dir)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    return sbox_fileid_equal(sbox_fileid_of(&st), dir->id) ? 0 : -EAGAIN;
}

/* From the root down again. Only the root's descriptor is sure to be open: those in between belong
 * to whoever still has children to open from them. */
static int reopen(const struct sbox_dir *const *chain, size_t count, int root)
{
    int fd = root;
    for (size_t i = count; i-- > 0;) {
        int below = open_at(fd, chain[i]->name);
        if (fd != root)
            sbox_close(fd);
        if (below < 0)
            return below == -ENOENT || below == -ENOTDIR || below == -ELOOP ? -EAGAIN : below;
        fd = below;
        int r = check_id(fd, chain[i]);
        if (r < 0) {
            sbox_close(fd);
            return r;
        }
    }
    return fd;
}

/* `dir` and its ancestors but the root, the innermost first; malloc'ed. */
static const struct sbox_dir **chain_of(const struct sbox_dir *dir, size_t *ret_count,
                                        const struct sbox_dir **ret_root)
{
    const struct sbox_dir **chain = calloc(dir->depth + 1, sizeof(struct sbox_dir *));
    size_t n = 0;
    while (dir->parent) {
        if (chain)
            chain[n++] = dir;
        dir = dir->parent;
    }
    *ret_count = n;
    *ret_root = dir;
    return chain;
}

int sbox_dir_reach(const struct sbox_dir *dir, bool *ret_owned)
{
    *ret_owned = false;
    if (dir->fd >= 0)
        return dir->fd;
    size_t count = 0;
    const struct sbox_dir *root = NULL;
    const struct sbox_dir **chain = chain_of(dir, &count, &root);
    if (!chain)
        return -ENOMEM;
    int fd = reopen(chain, count, root->fd);
    free(chain);
    *ret_owned = true;
    return fd;
}

int sbox_dir_open(const struct sbox_dir *dir)
{
    bool owned = false;
    int parent = sbox_dir_reach(dir->parent, &owned);
    if (parent < 0)
        return parent;
    int fd = open_at(parent, dir->name);
    if (owned)
        sbox_close(parent);
    return fd;
}

static void add_parents(const struct sbox_dir *dir, struct sbox_buf *out)
{
    size_t count = 0;
    const struct sbox_dir *root = NULL;
    const struct sbox_dir **chain = chain_of(dir, &count, &root);
    out->failed |= !chain;
    for (size_t i = count; i-- > 0;) {
        sbox_buf_add_str(out, chain[i]->name);
        if (i > 0)
            sbox_buf_add_byte(out, '/');
    }
    free(chain);
}

void sbox_dir_path(const struct sbox_dir *dir, const char *name, struct sbox_buf *out)
{
    size_t start = out->size;
    add_parents(dir, out);
    if (name && *name) {
        if (out->size > start)
            sbox_buf_add_byte(out, '/');
        sbox_buf_add_str(out, name);
    }
}
