/* The names in a git directory that git on the host would obey, and that were not there at the
 * start of the run: put out of git's sight as soon as they appear.
 *
 * Theory of operation. A file is unlinked. A directory may hold a million files, whose removal
 * takes seconds in which its hooks would be found: it is first renamed, within the same directory,
 * to a name that means nothing to git, and removed when nothing inside is alive any more. What
 * cannot be removed in bounded time keeps that name.
 */
#include "sandbox/guard_impl.h"

#include "base/cleanup.h"
#include "base/escape.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/random.h>

/* config is here for the repository that has none. */
static const char *const forbidden[SBOX_GUARD_NAMES] = {"commondir", "config.worktree", "hooks",
                                                        "config"};
static const char aside[] = ".sbox-removed-";
enum { DEPTH_MAX = 64, REMOVE_MAX = 100000 };

static bool is_there(int dir, const char *name)
{
    return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A directory on the way to a submodule's repository may hold submodules of any name, and git obeys
 * nothing in it. HEAD alone does not tell: an earlier run may have removed it, for a later one to
 * put it back. config cannot be removed inside; a `.git` is a repository whatever it holds. */
static bool is_repository(const struct sbox_guard_git *git)
{
    const char *slash = strrchr(git->path, '/');
    const char *name = slash ? slash + 1 : git->path;
    return strcmp(name, ".git") == 0 || is_there(git->fd, "HEAD") || is_there(git->fd, "config");
}

int sbox_guard_git_add(struct sbox_guard *g, const struct sbox_step *step)
{
    struct sbox_guard_git *git = &g->git[g->git_count];
    *git = (struct sbox_guard_git){.path = step->target};
    git->fd = sbox_open_beneath(g->workspace, step->target, O_PATH | O_DIRECTORY);
    if (git->fd < 0)
        return git->fd;
    g->git_count++;
    bool repository = is_repository(git);
    for (size_t k = 0; repository && k < SBOX_GUARD_NAMES; k++)
        git->absent[k] = !is_there(git->fd, forbidden[k]);
    return sbox_guard_watch(g, git->fd);
}

bool sbox_guard_git_forbids(const char *name)
{
    for (size_t k = 0; k < SBOX_GUARD_NAMES; k++)
        if (strcmp(name, forbidden[k]) == 0)
            return true;
    return false;
}

/* The new name cannot be guessed, so that nobody inside can have taken it. */
static void put_aside(int dir, const char *name)
{
    char other[64];
    uint64_t random = 0;
    if (unlinkat(dir, name, 0) == 0)
        return;
    (void)!getrandom(&random, sizeof random, 0);
    (void)snprintf(other, sizeof other, "%s%016llx", aside, (unsigned long long)random);
    (void)renameat(dir, name, dir, other);
}

bool sbox_guard_git_sweep(const struct sbox_guard *g, char *ret, size_t size)
{
    bool found = false;
    for (size_t i = 0; i < g->git_count; i++)
        for (size_t k = 0; k < SBOX_GUARD_NAMES; k++) {
            const struct sbox_guard_git *git = &g->git[i];
            if (!git->absent[k] || !is_there(git->fd, forbidden[k]))
                continue;
            put_aside(git->fd, forbidden[k]);
            if (!found)
                (void)snprintf(ret, size, "%s/%s", git->path, forbidden[k]);
            found = true;
        }
    return found;
}

/* Links are removed, not followed. */
static void remove_tree(int parent, const char *name, unsigned depth, unsigned *budget)
{
    if (depth == DEPTH_MAX || *budget == 0)
        return;
    (*budget)--;
    if (unlinkat(parent, name, 0) == 0)
        return;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        sbox_close(fd);
        return;
    }
    const struct dirent *entry;
    while (*budget > 0 && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_tree(dirfd(dir), entry->d_name, depth + 1, budget);
    (void)closedir(dir);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void sbox_guard_git_clear(const struct sbox_guard *g)
{
    unsigned budget = REMOVE_MAX;
    for (size_t i = 0; i < g->git_count; i++) {
        int fd = openat(g->git[i].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        if (!dir) {
            sbox_close(fd);
            continue;
        }
        const struct dirent *entry;
        while ((entry = readdir(dir)))
            if (sbox_str_starts(entry->d_name, aside))
                remove_tree(dirfd(dir), entry->d_name, 0, &budget);
        (void)closedir(dir);
    }
}
