/* The parts of a repository that git obeys: its config and hooks decide which programs run on the
 * host. Those that exist become read-only; `.git` itself is pinned, or it could be renamed and a
 * new one put in its place (renaming the parent of a mountpoint succeeds). Parts that do not exist
 * yet are the guard's to watch. */
#include "sandbox/protect.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

enum { MODULE_DEPTH_MAX = 12 };

static int protect_part(struct sbox_protects *p, int git, const char *git_path, const char *name,
                        sbox_protect_add *add)
{
    char path[PATH_MAX];
    struct stat st;
    _cleanup_close_ int fd = sbox_open_beneath(git, name, O_PATH | O_NOFOLLOW);
    if (fd == -ENOENT || fd == -ENOTDIR)
        return 0;
    if (fd < 0)
        return fd;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", git_path, name) >= sizeof path)
        return -ENAMETOOLONG;
    return fstat(fd, &st) < 0 ? -errno : add(p, SBOX_PROTECT_RO, path, &st, "git obeys it");
}

static int protect_dir(struct sbox_protects *p, int git, const char *path, sbox_protect_add *add)
{
    static const char *const parts[] = {"config", "hooks", "config.worktree", "commondir",
                                        "info/attributes"};
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof parts / sizeof *parts; i++)
        r = protect_part(p, git, path, parts[i], add);
    return r;
}

static int pin(struct sbox_protects *p, int fd, const char *path, sbox_protect_add *add)
{
    struct stat st;
    return fstat(fd, &st) < 0 ? -errno : add(p, SBOX_PROTECT_PIN, path, &st, "cannot be replaced");
}

/* Below modules/ lie the repositories of submodules, at names that may hold slashes, with modules/
 * of their own. */
static int protect_modules(struct sbox_protects *p, int parent, const char *parent_path,
                           const char *name, unsigned depth, sbox_protect_add *add)
{
    char path[PATH_MAX];
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -errno;
    if (depth == MODULE_DEPTH_MAX ||
        (size_t)snprintf(path, sizeof path, "%s/%s", parent_path, name) >= sizeof path) {
        (void)close(fd);
        return -ENAMETOOLONG;
    }
    DIR *dir = fdopendir(fd);
    if (!dir) {
        (void)close(fd);
        return -ENOMEM;
    }
    bool repository = faccessat(fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    int r = repository ? protect_dir(p, fd, path, add) : 0;
    if (r == 0)
        r = pin(p, fd, path, add);
    if (r == 0 && repository) {
        r = protect_modules(p, fd, path, "modules", depth + 1, add);
    } else {
        const struct dirent *entry;
        while (r == 0 && (entry = readdir(dir)))
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                r = protect_modules(p, fd, path, entry->d_name, depth + 1, add);
    }
    (void)closedir(dir);
    return r;
}

int sbox_protect_git(struct sbox_protects *p, const struct sbox_scan_entry *e,
                     sbox_protect_add *add)
{
    struct stat st;
    if (fstat(e->fd, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return add(p, SBOX_PROTECT_RO, e->path, &st, "git follows it");
    int r = add(p, SBOX_PROTECT_PIN, e->path, &st, "cannot be replaced");
    if (r == 0)
        r = protect_dir(p, e->fd, e->path, add);
    return r == 0 ? protect_modules(p, e->fd, e->path, "modules", 0, add) : r;
}
