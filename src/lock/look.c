/* Looking at one entry: stat, link target, content, attributes. */
#include "base/cleanup.h"
#include "base/fd.h"
#include "lock/walk_impl.h"
#include "lock/xattr.h"

#include <fcntl.h>

bool sbox_walk_known(const struct sbox_worker *w, const struct sbox_entry *entry)
{
    const struct sbox_tree *tree = w->pool->request->expected;
    return tree && entry->expected != SBOX_NO_ITEM &&
           sbox_trust_same(&entry->stat, tree->items[entry->expected].record, &tree->stat,
                           entry->expected);
}

bool sbox_walk_vouched(const struct sbox_worker *w, const struct sbox_entry *entry)
{
    return w->pool->trust && sbox_walk_known(w, entry);
}

void sbox_walk_note(struct sbox_worker *w, enum sbox_verdict verdict, uint32_t expected,
                    const struct sbox_dir *dir, const struct sbox_entry *entry)
{
    struct sbox_found found = {
        .verdict = verdict, .expected = expected, .dir = dir, .entry = entry};
    sbox_buf_add(&w->found, &found, sizeof found);
}

void sbox_walk_removed(struct sbox_worker *w, uint32_t expected, bool self)
{
    const struct sbox_item *items = w->pool->request->expected->items;
    for (uint32_t i = self ? expected : expected + 1; i < items[expected].end; i++)
        sbox_walk_note(w, SBOX_VERDICT_REMOVED, i, NULL, NULL);
}

void sbox_walk_judge(struct sbox_worker *w, const struct sbox_dir *dir, struct sbox_entry *entry)
{
    const struct sbox_tree *tree = w->pool->request->expected;
    if (!tree)
        return;
    if (entry->expected == SBOX_NO_ITEM) {
        sbox_walk_note(w, SBOX_VERDICT_ADDED, SBOX_NO_ITEM, dir, entry);
        return;
    }
    struct sbox_record is = sbox_entry_record(entry, "", 0);
    enum sbox_verdict v = sbox_record_compare(tree->items[entry->expected].record, &is);
    if (v != SBOX_VERDICT_SAME)
        sbox_walk_note(w, v, entry->expected, dir, entry);
    if (v == SBOX_VERDICT_TYPE)
        sbox_walk_removed(w, entry->expected, false);
}

static bool stat_equal(const struct sbox_stat *a, const struct sbox_stat *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime == b->mtime &&
           a->ctime == b->ctime && a->mode == b->mode;
}

/* Reads exactly the size that fstat told; the second fstat says whether that was all. */
static int hash_content(struct sbox_worker *w, int fd, struct sbox_entry *entry)
{
    int r = sbox_sha256_begin(w->hash);
    uint64_t left = entry->stat.size;
    while (r == 0 && left > 0) {
        ssize_t n = read(fd, w->buffer, SBOX_WALK_BUFFER);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EAGAIN; /* shorter than it said */
        if ((uint64_t)n > left)
            return -EAGAIN;
        r = sbox_sha256_update(w->hash, w->buffer, (size_t)n);
        left -= (uint64_t)n;
        sbox_count(&w->bytes, (uint64_t)n);
        if (atomic_load_explicit(&w->pool->stop, memory_order_relaxed))
            return -ECANCELED;
    }
    return r == 0 ? sbox_sha256_end(w->hash, &entry->content) : r;
}

/* The same without a stat before: when the stat data afterwards is what was recorded, with a ctime
 * from before the lock, then nothing can have changed while the file was read either. One system
 * call less a file. -ESTALE when it is not what was recorded. */
static int hash_unchanged(struct sbox_worker *w, int fd, struct sbox_entry *entry)
{
    int r = sbox_sha256_begin(w->hash);
    uint64_t size = 0;
    ssize_t n = SBOX_WALK_BUFFER;
    while (r == 0 && n == SBOX_WALK_BUFFER) { /* a short read is the end of a regular file */
        n = read(fd, w->buffer, SBOX_WALK_BUFFER);
        if (n < 0)
            return errno == EIO ? -EIO : -ESTALE; /* a directory, a FIFO, a signal: look closer */
        r = sbox_sha256_update(w->hash, w->buffer, (size_t)n);
        size += (uint64_t)n;
        sbox_count(&w->bytes, (uint64_t)n);
        if (atomic_load_explicit(&w->pool->stop, memory_order_relaxed))
            return -ECANCELED;
    }
    if (r == 0)
        r = sbox_stat_fd(fd, &entry->stat);
    if (r < 0)
        return r;
    if (!sbox_walk_known(w, entry) || size != entry->stat.size)
        return -ESTALE;
    return sbox_sha256_end(w->hash, &entry->content);
}

static int hash_attributes(struct sbox_worker *w, int fd, struct sbox_entry *entry)
{
    int r = sbox_xattr_digest(fd, w->hash, &w->scratch, &entry->xattrs);
    entry->has_xattrs = r > 0;
    return r < 0 ? r : 0;
}

/* Step by step, for a file that nobody vouches for. */
static int hash_watched(struct sbox_worker *w, int fd, struct sbox_entry *entry)
{
    int r = sbox_stat_fd(fd, &entry->stat);
    if (r < 0)
        return r;
    if (!S_ISREG(entry->stat.mode))
        return -EAGAIN;
    if (!sbox_walk_known(w, entry)) {
        w->drifted++;
        r = sbox_trust_flush(fd);
        /* Flushing a page that was dirty through a map may move the times only now. */
        if (r == 0)
            r = sbox_stat_fd(fd, &entry->stat);
    }
    if (r == 0)
        r = hash_content(w, fd, entry);
    if (r == 0)
        r = hash_attributes(w, fd, entry);
    struct sbox_stat after;
    if (r == 0)
        r = sbox_stat_fd(fd, &after);
    if (r < 0)
        return r;
    return stat_equal(&entry->stat, &after) ? 0 : -EAGAIN;
}

int sbox_walk_hash(struct sbox_worker *w, int fd, struct sbox_entry *entry)
{
    int r = -ESTALE;
    const struct sbox_tree *tree = w->pool->request->expected;
    if (tree && tree->stat.count > 0 && !w->met_drift) {
        unsigned long long before = atomic_load_explicit(&w->bytes, memory_order_relaxed);
        r = hash_unchanged(w, fd, entry);
        if (r == -ESTALE) /* what is read twice counts once */
            atomic_store_explicit(&w->bytes, before, memory_order_relaxed);
        if (r == 0)
            r = hash_attributes(w, fd, entry);
    }
    if (r == -ESTALE) {
        /* One file is read twice; where there is one, others follow, so not the next ones. */
        w->met_drift = true;
        r = lseek(fd, 0, SEEK_SET) < 0 ? -EAGAIN : hash_watched(w, fd, entry);
    }
    entry->looked = r == 0;
    sbox_count(&w->hashed, r == 0);
    return r;
}

/* A file that cannot be opened: is the recorded mode another one? Then that is the answer. */
static bool explained_by_mode(struct sbox_worker *w, struct sbox_dir *dir, int dirfd,
                              struct sbox_entry *entry)
{
    const struct sbox_tree *tree = w->pool->request->expected;
    if (!tree || (!entry->looked && sbox_stat_at(dirfd, entry->name, &entry->stat) < 0))
        return false;
    if (entry->expected == SBOX_NO_ITEM) {
        sbox_walk_note(w, SBOX_VERDICT_ADDED, SBOX_NO_ITEM, dir, entry);
        return true;
    }
    const struct sbox_record *was = tree->items[entry->expected].record;
    if (was->type == entry->type && was->mode == (entry->stat.mode & 07777))
        return false;
    sbox_walk_note(w, was->type == entry->type ? SBOX_VERDICT_MODE : SBOX_VERDICT_TYPE,
                   entry->expected, dir, entry);
    if (was->type != entry->type)
        sbox_walk_removed(w, entry->expected, false);
    return true;
}

static void look_at_file(struct sbox_worker *w, struct sbox_dir *dir, int dirfd,
                         struct sbox_entry *entry)
{
    _cleanup_close_ int fd =
        openat(dirfd, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int r = fd < 0 ? -errno : sbox_walk_hash(w, fd, entry);
    switch (r) {
    case 0:
        sbox_walk_judge(w, dir, entry);
        return;
    case -ECANCELED:
        return;
    case -ENOENT: /* vanished, or replaced by a link, a socket ... since the listing */
    case -ELOOP:
    case -ENXIO:
    case -EAGAIN:
        sbox_walk_changed(w, dir, entry->name);
        return;
    case -EACCES:
    case -EPERM:
        if (explained_by_mode(w, dir, dirfd, entry))
            return;
        break;
    default:
        break;
    }
    sbox_walk_fail(w, -r, dir, entry->name, "read");
}

static int look_at_link(struct sbox_worker *w, int dirfd, struct sbox_entry *entry)
{
    char target[SBOX_RECORD_TARGET_MAX + 1];
    ssize_t n = readlinkat(dirfd, entry->name, target, sizeof target);
    if (n < 0)
        return errno == EINVAL ? -EAGAIN : -errno;
    if (n > SBOX_RECORD_TARGET_MAX)
        return -ENAMETOOLONG;
    entry->target = sbox_arena_copy(&w->memory, target, (size_t)n);
    entry->target_size = (uint16_t)n;
    return entry->target ? 0 : -ENOMEM;
}

static void look_at(struct sbox_worker *w, struct sbox_dir *dir, int dirfd,
                    struct sbox_entry *entry)
{
    /* A file that will be hashed anyway is looked at through its descriptor. */
    bool file = entry->type == SBOX_ENTRY_FILE;
    if (!entry->looked && !(file && !w->pool->trust)) {
        int r = sbox_stat_at(dirfd, entry->name, &entry->stat);
        if (r < 0 && r != -ENOENT) {
            sbox_walk_fail(w, -r, dir, entry->name, "look at");
            return;
        }
        if (r < 0 || sbox_entry_type_of(entry->stat.mode) != entry->type) {
            sbox_walk_changed(w, dir, entry->name);
            return;
        }
        entry->looked = true;
        if (sbox_walk_vouched(w, entry))
            return;
    }
    if (file) {
        look_at_file(w, dir, dirfd, entry);
        return;
    }
    w->drifted += !sbox_walk_known(w, entry);
    int r = entry->type == SBOX_ENTRY_LINK ? look_at_link(w, dirfd, entry) : 0;
    if (r == -EAGAIN || r == -ENOENT)
        sbox_walk_changed(w, dir, entry->name);
    else if (r < 0)
        sbox_walk_fail(w, -r, dir, entry->name, "read link");
    else
        sbox_walk_judge(w, dir, entry);
}

void sbox_walk_look(struct sbox_worker *w, struct sbox_dir *dir, int dirfd, uint32_t first,
                    uint32_t last)
{
    for (uint32_t i = first; i < last; i++) {
        if (atomic_load_explicit(&w->pool->stop, memory_order_relaxed))
            return;
        if (dir->entries[i].type == SBOX_ENTRY_DIRECTORY)
            continue;
        look_at(w, dir, dirfd, &dir->entries[i]);
        sbox_count(&w->entries, 1);
    }
}

struct sbox_record sbox_entry_record(const struct sbox_entry *entry, const char *path,
                                     size_t path_size)
{
    bool link = entry->type == SBOX_ENTRY_LINK;
    bool file = entry->type == SBOX_ENTRY_FILE;
    return (struct sbox_record){
        .path = path,
        .path_size = (uint32_t)path_size,
        .target = link ? entry->target : NULL,
        .target_size = link ? entry->target_size : 0,
        .content = file ? &entry->content : NULL,
        .size = file ? entry->stat.size : 0,
        .xattrs = entry->has_xattrs ? &entry->xattrs : NULL,
        .mode = link ? 0 : (uint16_t)(entry->stat.mode & 07777),
        .type = entry->type,
    };
}
