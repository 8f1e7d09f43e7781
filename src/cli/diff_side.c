#include "archive/reach.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "cli/diff.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { PIECE = 65536, LOOKED_AT = 8192 };

static void side_release(struct sbox_diff_side *side)
{
    free(side->target);
    sbox_close(side->content);
}

void sbox_diff_entry_release(struct sbox_diff_entry *e)
{
    side_release(&e->was);
    side_release(&e->is);
    free(e->path);
    free(e->note);
    *e = (struct sbox_diff_entry){.was = {.content = -1}, .is = {.content = -1}};
}

/* diff(1) judges in the same way: a NUL near the start makes it binary. */
static bool is_text(int fd)
{
    char head[LOOKED_AT];
    ssize_t n = pread(fd, head, sizeof head, 0);
    return n >= 0 && !memchr(head, 0, (size_t)n);
}

/* Keeps a memfd as the side's content if it is text. */
static void keep_text(struct sbox_diff_side *side, int *fd)
{
    if (is_text(*fd) && lseek(*fd, 0, SEEK_SET) == 0)
        side->content = TAKE_FD(*fd);
}

int sbox_diff_was(struct sbox_extract *extract, struct sbox_finder *finder, const char *path,
                  bool content, struct sbox_diff_side *ret, struct sbox_error *err)
{
    struct sbox_located at;
    int r = sbox_finder_locate(finder, path, strlen(path), &at);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return sbox_error_set(err, -r, "look up '%s'", sbox_esc(path));
    ret->there = true;
    ret->type = at.record->type;
    ret->mode = at.record->mode;
    ret->size = at.record->size;
    if (at.record->content)
        ret->digest = *at.record->content;
    if (at.record->type == SBOX_ENTRY_LINK)
        ret->target = strndup(at.record->target, at.record->target_size);
    if (at.record->type != SBOX_ENTRY_FILE || !content || ret->size > SBOX_DIFF_TEXT_MAX)
        return 0;
    _cleanup_close_ int fd = memfd_create("locked", MFD_CLOEXEC);
    if (fd < 0)
        return sbox_error_set(err, errno, "diff");
    r = sbox_extract_file(extract, at.member, at.index, fd, err);
    if (r == 0)
        keep_text(ret, &fd);
    return r;
}

/* Hashes `fd`, and copies what is not too long into `copy`. */
static int read_file(int fd, int copy, struct sbox_diff_side *ret)
{
    _cleanup_sha256_ struct sbox_sha256 *hash = sbox_sha256_new();
    _cleanup_free_ char *data = malloc(PIECE);
    int r = hash && data ? sbox_sha256_begin(hash) : -ENOMEM;
    ssize_t n = 0;
    ret->size = 0;
    while (r == 0 && (n = sbox_read_full(fd, data, PIECE)) > 0) {
        r = sbox_sha256_update(hash, data, (size_t)n);
        ret->size += (uint64_t)n;
        if (r == 0 && ret->size <= SBOX_DIFF_TEXT_MAX)
            r = sbox_write_full(copy, data, (size_t)n);
    }
    if (r == 0)
        r = n < 0 ? (int)n : sbox_sha256_end(hash, &ret->digest);
    return r;
}

static int read_link(int tree, const char *path, struct sbox_diff_side *ret)
{
    char target[SBOX_RECORD_TARGET_MAX + 1];
    const char *slash = strrchr(path, '/');
    _cleanup_close_ int parent =
        sbox_reach(tree, path, slash ? (size_t)(slash - path) : 0, O_PATH | O_DIRECTORY);
    if (parent < 0)
        return parent;
    ssize_t n = readlinkat(parent, slash ? slash + 1 : path, target, sizeof target - 1);
    if (n < 0)
        return -errno;
    ret->target = strndup(target, (size_t)n);
    return ret->target ? 0 : -ENOMEM;
}

static int stat_path(int tree, const char *path, struct stat *st)
{
    const char *slash = strrchr(path, '/');
    if (*path == '\0')
        return fstat(tree, st) < 0 ? -errno : 0;
    _cleanup_close_ int parent =
        sbox_reach(tree, path, slash ? (size_t)(slash - path) : 0, O_PATH | O_DIRECTORY);
    if (parent < 0)
        return parent;
    return fstatat(parent, slash ? slash + 1 : path, st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int open_now(int tree, const char *path)
{
    char self[32];
    if (*path)
        return sbox_reach(tree, path, strlen(path), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", tree); /* a tree that is one file */
    int fd = open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int sbox_diff_is(int tree, const char *path, bool content, struct sbox_diff_side *ret,
                 struct sbox_error *err)
{
    struct stat st;
    int r = stat_path(tree, path, &st);
    if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
        return 0;
    if (r < 0)
        return sbox_error_set(err, -r, "'%s'", sbox_esc(path));
    ret->there = true;
    ret->type = sbox_entry_type_of(st.st_mode);
    ret->mode = ret->type == SBOX_ENTRY_LINK ? 0 : st.st_mode & 07777;
    if (ret->type == SBOX_ENTRY_LINK)
        r = read_link(tree, path, ret);
    if (ret->type == SBOX_ENTRY_FILE) {
        _cleanup_close_ int fd = open_now(tree, path);
        _cleanup_close_ int copy = memfd_create("now", MFD_CLOEXEC);
        r = fd < 0 ? fd : copy < 0 ? -errno : read_file(fd, copy, ret);
        if (r == 0 && content && ret->size <= SBOX_DIFF_TEXT_MAX)
            keep_text(ret, &copy);
    }
    return r < 0 ? sbox_error_set(err, -r, "read '%s'", sbox_esc(path)) : 0;
}
