/* For root: what in /etc only root may read (shadow, private keys). Root keeps its uid inside, and
 * owns these files; without capabilities their mode would still let it read them. An ordinary user
 * needs no such list. */
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "sandbox/facts.h"

#include <dirent.h>
#include <fcntl.h>

enum { HIDDEN_DEPTH_MAX = 32, HIDDEN_LOOKED_AT_MAX = 200000 };

struct hidden_walk {
    struct sbox_facts *facts;
    struct sbox_error *err;
    size_t looked_at;
};

static int add_hidden(struct hidden_walk *w, char *path)
{
    struct sbox_facts *f = w->facts;
    if (!f->hidden)
        f->hidden = calloc(SBOX_FACTS_HIDDEN_MAX, sizeof *f->hidden);
    if (!f->hidden) {
        free(path);
        return sbox_error_set(w->err, ENOMEM, "list what only root may read");
    }
    if (f->hidden_count == SBOX_FACTS_HIDDEN_MAX) {
        int r = sbox_error_say(w->err, E2BIG,
                               "more than %d files that only root may read, the next is '%s': run "
                               "sbox as an ordinary user",
                               SBOX_FACTS_HIDDEN_MAX, sbox_esc(path));
        free(path);
        return r;
    }
    f->hidden[f->hidden_count++] = path;
    return 0;
}

static int walk_hidden(struct hidden_walk *w, int parent, const char *name, const char *path,
                       unsigned depth);

static int look_at(struct hidden_walk *w, int dirfd, const char *dir, const char *name,
                   unsigned depth)
{
    struct stat st;
    _cleanup_free_ char *path = NULL;
    if (++w->looked_at > HIDDEN_LOOKED_AT_MAX)
        return sbox_error_say(w->err, E2BIG, "too many files in '%s'", sbox_esc(dir));
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : sbox_error_set(w->err, errno, "look into '%s'", sbox_esc(dir));
    if (S_ISLNK(st.st_mode))
        return 0;
    if (asprintf(&path, "%s/%s", dir, name) < 0)
        return sbox_error_set(w->err, ENOMEM, "list what only root may read");
    mode_t needed = S_ISDIR(st.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
    if ((st.st_mode & needed) != needed)
        return add_hidden(w, TAKE_PTR(path));
    return S_ISDIR(st.st_mode) ? walk_hidden(w, dirfd, name, path, depth + 1) : 0;
}

static int walk_hidden(struct hidden_walk *w, int parent, const char *name, const char *path,
                       unsigned depth)
{
    if (depth > HIDDEN_DEPTH_MAX)
        return sbox_error_say(w->err, E2BIG, "directories too deep below '%s'", sbox_esc(path));
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        int saved = errno;
        sbox_close(fd);
        return saved == ENOENT ? 0 : sbox_error_set(w->err, saved, "read '%s'", sbox_esc(path));
    }
    int r = 0;
    while (r == 0) {
        errno = 0;
        const struct dirent *e = readdir(d);
        if (!e) {
            r = errno ? sbox_error_set(w->err, errno, "read '%s'", sbox_esc(path)) : 0;
            break;
        }
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = look_at(w, fd, path, e->d_name, depth);
    }
    (void)closedir(d);
    return r;
}

int sbox_facts_hidden(const char *top, struct sbox_facts *facts, struct sbox_error *err)
{
    struct hidden_walk w = {.facts = facts, .err = err};
    return walk_hidden(&w, AT_FDCWD, top, top, 0);
}
