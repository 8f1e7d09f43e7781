#include "cli/snapshots.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

enum { WAIT_SECONDS = 10, NAME_SIZE = 3 + 64 + sizeof ".tar.zst" };

static const char suffix[] = ".tar.zst";

static void name_of(const struct sbox_digest *digest, char ret[NAME_SIZE])
{
    char hex[2 * SBOX_SHA256_SIZE + 1];
    sbox_hex(digest->bytes, sizeof digest->bytes, hex);
    (void)snprintf(ret, NAME_SIZE, "%.2s/%s%s", hex, hex, suffix);
}

static int take_lock(int fd, bool alone, struct sbox_error *err)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    for (int i = 0; i <= WAIT_SECONDS * 10; i++) {
        if (flock(fd, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK)
            return sbox_error_set(err, errno, "lock the snapshots");
        (void)nanosleep(&pause, NULL);
    }
    return sbox_error_say(err, EBUSY, "the snapshots are busy: %s",
                          alone ? "a lock, diff or restore is running" : "sbox gc is running");
}

int sbox_snapshots_open(const struct sbox_datadir *d, bool create, bool alone,
                        struct sbox_snapshots *ret, struct sbox_error *err)
{
    if (create && mkdirat(d->fd, "snapshots", 0700) < 0 && errno != EEXIST)
        return sbox_error_set(err, errno, "create '%s/snapshots'", sbox_esc(d->path));
    _cleanup_close_ int fd = sbox_open_beneath(d->fd, "snapshots", O_RDONLY | O_DIRECTORY);
    if (fd == -ENOENT)
        return -ENOENT;
    if (fd < 0)
        return sbox_error_set(err, -fd, "open '%s/snapshots'", sbox_esc(d->path));
    int r = take_lock(fd, alone, err);
    if (r == 0)
        ret->fd = TAKE_FD(fd);
    return r;
}

void sbox_snapshots_release(struct sbox_snapshots *s)
{
    sbox_close(s->fd);
    *s = SBOX_SNAPSHOTS_NONE;
}

int64_t sbox_snapshots_size(const struct sbox_snapshots *s, const struct sbox_digest *digest)
{
    char name[NAME_SIZE];
    struct stat st;
    name_of(digest, name);
    if (s->fd < 0 || fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
        return -ENOENT;
    return st.st_size;
}

int sbox_snapshots_file(const struct sbox_snapshots *s, const struct sbox_digest *digest)
{
    char name[NAME_SIZE];
    name_of(digest, name);
    return s->fd < 0 ? -ENOENT : sbox_open_beneath(s->fd, name, O_RDONLY | O_NONBLOCK);
}

/* -- sweep ------------------------------------------------------------------------------------- */

struct sweep {
    const struct sbox_snapshots *s;
    sbox_snapshots_wanted *wanted;
    void *context;
    bool preview;
    struct sbox_snapshots_swept *swept;
};

/* Does the file `name` of the directory `folder` stay? */
static int stays(const struct sweep *w, const char *folder, const char *name)
{
    struct sbox_digest digest;
    char canonical[NAME_SIZE];
    char whole[NAME_SIZE + 1];
    char hex[2 * SBOX_SHA256_SIZE + 1];
    int n = snprintf(whole, sizeof whole, "%s/%s", folder, name);
    if (n != NAME_SIZE - 1)
        return 0;
    memcpy(hex, whole + 3, sizeof hex - 1);
    hex[sizeof hex - 1] = '\0';
    if (sbox_unhex(hex, digest.bytes, sizeof digest.bytes) < 0)
        return 0;
    name_of(&digest, canonical);
    return strcmp(canonical, whole) == 0 ? w->wanted(&digest, w->context) : 0;
}

static int sweep_file(const struct sweep *w, int dirfd, const char *folder, const char *name)
{
    struct stat st;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    int keep = stays(w, folder, name);
    if (keep < 0)
        return keep;
    *(keep ? &w->swept->kept : &w->swept->removed) += 1;
    *(keep ? &w->swept->kept_size : &w->swept->removed_size) += (uint64_t)st.st_size;
    if (keep || w->preview)
        return 0;
    return unlinkat(dirfd, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) < 0 ? -errno : 0;
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int sweep_folder(const struct sweep *w, const char *folder)
{
    int fd = sbox_open_beneath(w->s->fd, folder, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        sbox_close(fd);
        return fd == -ENOTDIR || fd == -ELOOP ? 0 : fd < 0 ? fd : -errno;
    }
    int r = 0;
    for (struct dirent *e; r == 0 && (e = readdir(dir)) != NULL;)
        if (!is_dot(e->d_name))
            r = sweep_file(w, dirfd(dir), folder, e->d_name);
    (void)closedir(dir);
    if (r == 0 && !w->preview)
        (void)unlinkat(w->s->fd, folder, AT_REMOVEDIR); /* when it is empty */
    return r;
}

int sbox_snapshots_sweep(const struct sbox_snapshots *s, sbox_snapshots_wanted *wanted,
                         void *context, bool preview, struct sbox_snapshots_swept *ret,
                         struct sbox_error *err)
{
    *ret = (struct sbox_snapshots_swept){0};
    const struct sweep w = {
        .s = s, .wanted = wanted, .context = context, .preview = preview, .swept = ret};
    int fd = sbox_open_beneath(s->fd, ".", O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        sbox_close(fd);
        return sbox_error_set(err, fd < 0 ? -fd : errno, "list the snapshots");
    }
    int r = 0;
    for (struct dirent *e; r == 0 && (e = readdir(dir)) != NULL;)
        if (!is_dot(e->d_name))
            r = sweep_folder(&w, e->d_name);
    (void)closedir(dir);
    return r < 0 ? sbox_error_set(err, -r, "clean up the snapshots") : 0;
}
