/* Making the snapshots that are missing: a few processes of sbox-archive, one unit each at a time,
 * driven by one loop. */
#include "archive/client.h"
#include "archive/reach.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "cli/snapshots.h"
#include "store/record.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

enum { WORKERS_MAX = 8, DRAW_MS = 200 };

struct worker {
    struct sbox_archive archive;
    const struct sbox_lock_unit *unit; /* NULL: idle */
    int output;
};

struct factory {
    const struct sbox_snapshots *snapshots;
    const struct sbox_snapshots_request *request;
    const struct sbox_lock_unit **missing;
    size_t missing_count;
    size_t next;
    struct worker workers[WORKERS_MAX];
    size_t worker_count;
    struct sbox_snapshots_made *made;
    struct sbox_progress progress;
};

/* -- what is missing --------------------------------------------------------------------------- */

static int by_digest(const void *a, const void *b)
{
    const struct sbox_lock_unit *const *x = a;
    const struct sbox_lock_unit *const *y = b;
    return memcmp((*x)->digest, (*y)->digest, sizeof *(*x)->digest);
}

/* The largest first: none is left to one worker alone at the end. */
static int by_bytes(const void *a, const void *b)
{
    const struct sbox_lock_unit *const *x = a;
    const struct sbox_lock_unit *const *y = b;
    return ((*x)->bytes < (*y)->bytes) - ((*x)->bytes > (*y)->bytes);
}

static int find_missing(struct factory *f)
{
    size_t count = f->request->count;
    f->missing = calloc(count + 1, sizeof *f->missing);
    if (!f->missing)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        f->missing[i] = &f->request->units[i];
    qsort(f->missing, count, sizeof *f->missing, by_digest);
    for (size_t i = 0; i < count; i++) {
        const struct sbox_lock_unit *unit = f->missing[i];
        size_t n = f->missing_count;
        if (n > 0 && by_digest(&f->missing[n - 1], &unit) == 0)
            continue; /* two units of this lock that are equal */
        if (sbox_snapshots_size(f->snapshots, unit->digest) > 0) {
            f->made->there++;
            continue;
        }
        f->missing[f->missing_count++] = unit;
        f->progress.total_entries += unit->entries;
        f->progress.total_bytes += unit->bytes;
    }
    qsort(f->missing, f->missing_count, sizeof *f->missing, by_bytes);
    return 0;
}

/* -- one snapshot ------------------------------------------------------------------------------ */

/* A tree that is one file is held by an O_PATH descriptor. */
static int reopen(int fd)
{
    char self[32];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    int opened = open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return opened < 0 ? -errno : opened;
}

/* The unit's directory, or the file that it is; for a unit that is a link or a FIFO anything will
 * do, all there is to know of it stands in its record. */
static int open_unit(const struct sbox_lock_unit *unit)
{
    const struct sbox_bytes *path = unit->path;
    if (unit->type == SBOX_ENTRY_DIRECTORY)
        return path->size > 0 ? sbox_reach(unit->root, path->data, path->size, O_PATH | O_DIRECTORY)
                              : fcntl(unit->root, F_DUPFD_CLOEXEC, 0);
    if (unit->type == SBOX_ENTRY_FILE)
        return path->size > 0
                   ? sbox_reach(unit->root, path->data, path->size, O_RDONLY | O_NONBLOCK)
                   : reopen(unit->root);
    return fcntl(unit->root, F_DUPFD_CLOEXEC, 0);
}

/* What was hashed a moment ago is not there any more. */
static bool is_change(int r)
{
    return r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -ENXIO;
}

static int start_unit(struct factory *f, struct worker *w, struct sbox_error *err)
{
    const struct sbox_lock_unit *unit = f->missing[f->next++];
    _cleanup_close_ int directory = open_unit(unit);
    if (is_change(directory))
        return sbox_error_say(err, EAGAIN, "'%s/%s': changed while it was locked",
                              sbox_esc(unit->tree), sbox_esc_n(unit->path->data, unit->path->size));
    if (directory < 0)
        return sbox_error_set(err, -directory, "open '%s/%s'", sbox_esc(unit->tree),
                              sbox_esc_n(unit->path->data, unit->path->size));
    w->output = openat(f->snapshots->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (w->output < 0)
        return sbox_error_set(err, errno, "create a snapshot");
    w->unit = unit;
    return sbox_archive_write(&w->archive, unit->records, directory, w->output, err);
}

/* Somebody else may have made the same one meanwhile: theirs is as good. */
static int give_name(const struct factory *f, struct worker *w)
{
    char hex[2 * SBOX_SHA256_SIZE + 1];
    char name[sizeof hex + sizeof "00/.tar.zst"];
    char self[32];
    sbox_hex(w->unit->digest->bytes, sizeof w->unit->digest->bytes, hex);
    (void)snprintf(name, sizeof name, "%.2s", hex);
    if (mkdirat(f->snapshots->fd, name, 0700) < 0 && errno != EEXIST)
        return -errno;
    (void)snprintf(name, sizeof name, "%.2s/%s.tar.zst", hex, hex);
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", w->output);
    if (linkat(AT_FDCWD, self, f->snapshots->fd, name, AT_SYMLINK_FOLLOW) < 0 && errno != EEXIST)
        return -errno;
    return 0;
}

static int finish_unit(struct factory *f, struct worker *w, struct sbox_error *err)
{
    uint64_t bytes = 0;
    struct stat st;
    _cleanup_free_ char *label = NULL;
    const struct sbox_bytes *path = w->unit->path;
    if (asprintf(&label, "%s%s%.*s", w->unit->tree, path->size > 0 ? "/" : "", (int)path->size,
                 path->size > 0 ? path->data : "") < 0)
        return sbox_error_set(err, ENOMEM, "snapshot");
    int r = sbox_archive_wrote(&w->archive, w->unit->records, label, &bytes, err);
    if (r < 0)
        return r;
    r = fstat(w->output, &st) < 0 ? -errno : give_name(f, w);
    if (r < 0)
        return sbox_error_set(err, -r, "keep the snapshot of '%s'", sbox_esc(label));
    f->made->made++;
    f->made->bytes += bytes;
    f->made->size += (uint64_t)st.st_size;
    f->progress.entries += w->unit->entries;
    f->progress.bytes += w->unit->bytes;
    sbox_close(w->output);
    w->output = -1;
    w->unit = NULL;
    return 0;
}

/* -- the loop ---------------------------------------------------------------------------------- */

static unsigned worker_count(const struct factory *f)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = f->request->workers ? f->request->workers : processors > 0 ? (size_t)processors : 1;
    n = n > WORKERS_MAX ? WORKERS_MAX : n;
    return (unsigned)(n > f->missing_count ? f->missing_count : n);
}

/* Every worker may read the files of all trees that have something missing. */
static int start_workers(struct factory *f, struct sbox_error *err)
{
    int *roots = calloc(f->missing_count + 1, sizeof *roots);
    size_t count = 0;
    if (!roots)
        return sbox_error_set(err, ENOMEM, "snapshots");
    for (size_t i = 0; i < f->missing_count; i++) {
        size_t k = 0;
        while (k < count && roots[k] != f->missing[i]->root)
            k++;
        if (k == count)
            roots[count++] = f->missing[i]->root;
    }
    int r = 0;
    for (unsigned n = worker_count(f); r == 0 && f->worker_count < n;) {
        struct worker *w = &f->workers[f->worker_count++];
        *w = (struct worker){.archive = SBOX_ARCHIVE_NONE, .output = -1};
        r = sbox_archive_start(roots, count, &w->archive, err);
    }
    free(roots);
    return r;
}

static int wait_for_one(struct factory *f, struct sbox_error *err)
{
    struct pollfd polled[WORKERS_MAX];
    for (size_t i = 0; i < f->worker_count; i++)
        polled[i] = (struct pollfd){.fd = f->workers[i].unit ? f->workers[i].archive.control : -1,
                                    .events = POLLIN};
    int n = poll(polled, f->worker_count, DRAW_MS);
    if (n < 0 && errno != EINTR)
        return sbox_error_set(err, errno, "wait for sbox-archive");
    int r = 0;
    for (size_t i = 0; n > 0 && r == 0 && i < f->worker_count; i++)
        if (polled[i].revents)
            r = finish_unit(f, &f->workers[i], err);
    if (f->request->progress)
        f->request->progress(&f->progress, f->request->progress_context);
    return r;
}

static int make_all(struct factory *f, struct sbox_error *err)
{
    int r = start_workers(f, err);
    while (r == 0 && f->made->made < f->missing_count) {
        for (size_t i = 0; r == 0 && i < f->worker_count; i++)
            if (!f->workers[i].unit && f->next < f->missing_count)
                r = start_unit(f, &f->workers[i], err);
        if (r == 0)
            r = wait_for_one(f, err);
    }
    for (size_t i = 0; i < f->worker_count; i++) {
        sbox_archive_stop(&f->workers[i].archive);
        sbox_close(f->workers[i].output);
    }
    /* One flush for all: a thousand fsync(2) would take longer than the archiving. */
    if (r == 0 && syncfs(f->snapshots->fd) < 0)
        r = sbox_error_set(err, errno, "write the snapshots to disk");
    return r;
}

int sbox_snapshots_make(const struct sbox_snapshots *s,
                        const struct sbox_snapshots_request *request,
                        struct sbox_snapshots_made *ret, struct sbox_error *err)
{
    struct factory f = {.snapshots = s, .request = request, .made = ret};
    *ret = (struct sbox_snapshots_made){0};
    int r = find_missing(&f) < 0 ? sbox_error_set(err, ENOMEM, "snapshots") : 0;
    if (r == 0 && f.missing_count > 0)
        r = make_all(&f, err);
    free(f.missing);
    return r;
}
