/* Planting what git, run by the host later, would execute or be led by. The workspace is the
 * current directory; the tests make it a repository with a nested one in vendored/. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int appends(const struct probe_row *row)
{
    int fd = open(row->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

static int creates(const struct probe_row *row)
{
    int fd = open(row->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
    if (fd < 0)
        return -errno;
    close(fd);
    unlink(row->path);
    return 0;
}

/* As git itself saves: FILE.lock renamed over FILE. The copy has the same content. */
static int replaces(const struct probe_row *row)
{
    char command[512], lock[256];
    snprintf(lock, sizeof lock, "%s.probe-lock", row->path);
    snprintf(command, sizeof command, "cp -p %s %s 2>/dev/null", row->path, lock);
    if (system(command) != 0)
        return probe_word("no copy");
    int r = probe_result(rename(lock, row->path));
    unlink(lock);
    return r;
}

static int moves_away(const struct probe_row *row)
{
    char to[256];
    snprintf(to, sizeof to, "%s.probe-moved", row->path);
    int r = probe_result(rename(row->path, to));
    if (r == 0)
        rename(to, row->path);
    return r;
}

static int exchanges(const struct probe_row *row)
{
    if (mkdir("probe-planted", 0700) < 0)
        return -errno;
    int r =
        probe_result(renameat2(AT_FDCWD, row->path, AT_FDCWD, "probe-planted", RENAME_EXCHANGE));
    if (r == 0)
        renameat2(AT_FDCWD, row->path, AT_FDCWD, "probe-planted", RENAME_EXCHANGE);
    rmdir("probe-planted");
    return r;
}

static int removes(const struct probe_row *row)
{
    char kept[256];
    snprintf(kept, sizeof kept, "%s.probe-kept", row->path);
    if (link(row->path, kept) < 0)
        return -errno;
    int r = probe_result(unlink(row->path));
    if (r == 0)
        rename(kept, row->path);
    unlink(kept);
    return r;
}

static int changes_mode(const struct probe_row *row)
{
    struct stat st;
    if (stat(row->path, &st) < 0)
        return -errno;
    return probe_result(chmod(row->path, st.st_mode & 07777));
}

/* Writing through another name of the same inode. */
static int writes_by_hard_link(const struct probe_row *row)
{
    if (link(row->path, "probe-alias") < 0)
        return -errno;
    struct probe_row alias = {.path = "probe-alias"};
    int r = appends(&alias);
    unlink("probe-alias");
    return r;
}

/* For the rows that end the run: what they plant stays, so that the host can look at it. */
static int plants(const struct probe_row *row)
{
    int fd = open(row->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
    if (fd < 0)
        return -errno;
    if (write(fd, "../planted\n", 11) < 0)
        return -errno;
    sleep(2);
    return 0;
}

static int plants_directory(const struct probe_row *row)
{
    char hook[256];
    if (mkdir(row->path, 0700) < 0)
        return -errno;
    snprintf(hook, sizeof hook, "%s/post-checkout", row->path);
    struct probe_row file = {.path = hook};
    return plants(&file);
}

static const struct probe_row probe_git_rows[] = {
    {"git.config", appends, ".git/config", 0, 0},
    {"git.config-replace", replaces, ".git/config", 0, 0},
    {"git.config-move", moves_away, ".git/config", 0, 0},
    {"git.config-unlink", removes, ".git/config", 0, 0},
    {"git.config-chmod", changes_mode, ".git/config", 0, 0},
    {"git.config-hard-link", writes_by_hard_link, ".git/config", 0, 0},
    {"git.hook", appends, ".git/hooks/pre-commit", 0, 0},
    {"git.hook-new", creates, ".git/hooks/post-checkout", 0, 0},
    {"git.hook-replace", replaces, ".git/hooks/pre-commit", 0, 0},
    {"git.hook-chmod", changes_mode, ".git/hooks/pre-commit", 0, 0},
    {"git.hooks-move", moves_away, ".git/hooks", 0, 0},
    {"git.hooks-exchange", exchanges, ".git/hooks", 0, 0},
    {"git.attributes", appends, ".git/info/attributes", 0, 0},
    {"git.info-move", moves_away, ".git/info", 0, 0},
    {"git.dir-move", moves_away, ".git", 0, 0},
    {"git.dir-exchange", exchanges, ".git", 0, 0},
    {"git.nested.config", appends, "vendored/.git/config", 0, 0},
    {"git.nested.hook-new", creates, "vendored/.git/hooks/post-checkout", 0, 0},
    {"git.nested.dir-move", moves_away, "vendored/.git", 0, 0},
    {"git.nested.parent-move", moves_away, "vendored", 0, 0},
    {"git.module.config", appends, ".git/modules/sub/config", 0, 0},
    {"git.module.hook-new", creates, ".git/modules/sub/hooks/post-checkout", 0, 0},
    {"git.plant.commondir", plants, ".git/commondir", 0, 1},
    {"git.plant.config-worktree", plants, ".git/config.worktree", 0, 1},
    {"git.plant.hooks", plants_directory, ".git/hooks", 0, 1},
};
PROBE_TABLE(probe_git);
