/* Listing one directory: open, names, match with what is recorded, hand out the work. */
#include "base/cleanup.h"
#include "base/fd.h"
#include "lock/walk_impl.h"
#include "lock/xattr.h"
#include "project/scan.h"

#include <dirent.h>
#include <fcntl.h>

static uint8_t type_of_dirent(unsigned char d_type)
{
    return sbox_entry_type_of((mode_t)DTTOIF(d_type));
}

static int by_name(const void *a, const void *b)
{
    const struct sbox_entry *x = a;
    const struct sbox_entry *y = b;
    return strcmp(x->name, y->name); /* bytes as unsigned, the shorter first: canonical order */
}

/* A cache is passed over, but whether it holds anything is said. */
static int note_cache(struct sbox_worker *w, int dirfd, const char *name)
{
    _cleanup_close_ int fd =
        openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (;;) {
        ssize_t n = getdents64(fd, w->buffer, SBOX_WALK_BUFFER);
        if (n <= 0)
            return n < 0 ? -errno : 0;
        const struct dirent64 *e = NULL;
        for (ssize_t at = 0; at < n; at += e->d_reclen) {
            e = (const struct dirent64 *)(const void *)(w->buffer + at);
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
                /* Only the root's own job comes here: no other worker does. */
                sbox_buf_add(&w->pool->walk->caches, name, strlen(name) + 1);
                return 0;
            }
        }
    }
}

/* One name from the kernel into w->names: type, then the string. */
static void take_name(struct sbox_worker *w, const struct dirent64 *e)
{
    sbox_buf_add_byte(&w->names, type_of_dirent(e->d_type));
    sbox_buf_add(&w->names, e->d_name, strlen(e->d_name) + 1);
}

static int read_names(struct sbox_worker *w, int fd, uint32_t *ret_count)
{
    uint32_t count = 0;
    sbox_buf_clear(&w->names);
    for (;;) {
        ssize_t n = getdents64(fd, w->buffer, SBOX_WALK_BUFFER);
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        const struct dirent64 *e = NULL;
        for (ssize_t at = 0; at < n; at += e->d_reclen) {
            e = (const struct dirent64 *)(const void *)(w->buffer + at);
            if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                continue;
            take_name(w, e);
            count++;
        }
    }
    *ret_count = count;
    return sbox_buf_failed(&w->names) ? -ENOMEM : 0;
}

static bool is_skipped(struct sbox_worker *w, const struct sbox_dir *dir, const char *name)
{
    return !dir->parent && w->pool->request->skip_caches && sbox_is_tree_cache(name);
}

/* Names into sorted entries. A cache that is a directory is left out; one that is a file or a link
 * is an entry like any other. */
static int make_entries(struct sbox_worker *w, struct sbox_dir *dir, uint32_t count)
{
    char *names = sbox_arena_copy(&w->memory, w->names.data, w->names.size);
    dir->entries = sbox_arena_alloc(&w->memory, (count + 1) * sizeof *dir->entries);
    if (!names || !dir->entries)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct sbox_entry *entry = &dir->entries[dir->entry_count];
        *entry = (struct sbox_entry){.type = (uint8_t)names[0],
                                     .name = names + 1,
                                     .name_size = (uint32_t)strlen(names + 1),
                                     .expected = SBOX_NO_ITEM};
        names += 1 + entry->name_size + 1;
        if (entry->type == 0) { /* the file system does not tell types in listings */
            int r = sbox_stat_at(dir->fd, entry->name, &entry->stat);
            if (r < 0)
                return r == -ENOENT ? -EAGAIN : r;
            entry->looked = true;
            entry->type = sbox_entry_type_of(entry->stat.mode);
        }
        if (entry->type == SBOX_ENTRY_DIRECTORY && is_skipped(w, dir, entry->name)) {
            int r = note_cache(w, dir->fd, entry->name);
            if (r < 0 && r != -ENOENT)
                return r;
            continue;
        }
        dir->entry_count++;
    }
    qsort(dir->entries, dir->entry_count, sizeof *dir->entries, by_name);
    return 0;
}

static int name_order(const struct sbox_item *item, const struct sbox_entry *entry)
{
    size_t n = item->name_size < entry->name_size ? item->name_size : entry->name_size;
    int r = memcmp(item->name, entry->name, n);
    return r != 0 ? r : (item->name_size > entry->name_size) - (item->name_size < entry->name_size);
}

/* Two sorted lists side by side. */
static void match(struct sbox_worker *w, struct sbox_dir *dir)
{
    if (dir->expected == SBOX_NO_ITEM)
        return;
    const struct sbox_item *items = w->pool->request->expected->items;
    uint32_t child = dir->expected + 1;
    uint32_t end = items[dir->expected].end;
    uint32_t i = 0;
    while (child < end) {
        int order = i < dir->entry_count ? name_order(&items[child], &dir->entries[i]) : -1;
        if (order < 0)
            sbox_walk_removed(w, child, true);
        else if (order == 0)
            dir->entries[i].expected = child;
        if (order >= 0)
            i++;
        if (order <= 0)
            child = items[child].end;
    }
}

/* The directory has not changed since it was recorded: its names are the recorded ones. The root is
 * always listed, for the caches in it. */
static int recall_entries(struct sbox_worker *w, struct sbox_dir *dir)
{
    const struct sbox_item *items = w->pool->request->expected->items;
    uint32_t end = items[dir->expected].end;
    uint32_t count = 0;
    size_t size = 0;
    for (uint32_t c = dir->expected + 1; c < end; c = items[c].end, count++)
        size += items[c].name_size + 1;
    char *names = sbox_arena_alloc(&w->memory, size + 1);
    dir->entries = sbox_arena_zalloc(&w->memory, count + 1, sizeof *dir->entries);
    if (!names || !dir->entries)
        return -ENOMEM;
    for (uint32_t c = dir->expected + 1; c < end; c = items[c].end) {
        struct sbox_entry *entry = &dir->entries[dir->entry_count++];
        entry->type = items[c].record->type;
        entry->name = names;
        entry->name_size = items[c].name_size;
        entry->expected = c;
        memcpy(names, items[c].name, items[c].name_size);
        names[items[c].name_size] = '\0';
        names += items[c].name_size + 1;
    }
    return 0;
}

static int fill_entries(struct sbox_worker *w, struct sbox_dir *dir, bool vouched)
{
    if (vouched && dir->parent)
        return recall_entries(w, dir);
    uint32_t count = 0;
    int r = read_names(w, dir->fd, &count);
    if (r == 0)
        r = make_entries(w, dir, count);
    if (r == 0)
        match(w, dir);
    return r;
}

static struct sbox_dir *make_child(struct sbox_worker *w, struct sbox_dir *dir,
                                   struct sbox_entry *entry)
{
    struct sbox_dir *child = sbox_arena_zalloc(&w->memory, 1, sizeof *child);
    if (!child)
        return NULL;
    child->parent = dir;
    child->self = entry;
    child->name = entry->name;
    child->depth = dir->depth + 1;
    child->fd = -1;
    /* Where something else was recorded, everything below is new. */
    child->expected = SBOX_NO_ITEM;
    if (entry->expected != SBOX_NO_ITEM) {
        const struct sbox_tree *tree = w->pool->request->expected;
        if (tree->items[entry->expected].record->type == SBOX_ENTRY_DIRECTORY)
            child->expected = entry->expected;
    }
    entry->dir = child;
    return child;
}

static void add_job(struct sbox_worker *w, struct sbox_dir *dir, uint32_t first, uint32_t last)
{
    struct sbox_job job = {.dir = dir, .first = first, .last = last};
    sbox_buf_add(&w->jobs, &job, sizeof job);
}

/* Subdirectories and slices become jobs for whoever is free. Until they are handed over nobody else
 * knows the directory, so its descriptor may still be closed here. */
static int hand_out(struct sbox_worker *w, struct sbox_dir *dir, uint32_t *ret_own)
{
    bool crowded = atomic_load_explicit(&w->pool->open, memory_order_relaxed) > SBOX_WALK_OPEN;
    uint32_t own = dir->entry_count;
    if (!crowded && own > SBOX_WALK_SLICE) {
        own = SBOX_WALK_SLICE;
        for (uint32_t i = own; i < dir->entry_count; i += SBOX_WALK_SLICE)
            add_job(w, dir, i,
                    i + SBOX_WALK_SLICE < dir->entry_count ? i + SBOX_WALK_SLICE
                                                           : dir->entry_count);
    }
    for (uint32_t i = dir->entry_count; i-- > 0;) {
        struct sbox_entry *entry = &dir->entries[i];
        if (entry->type != SBOX_ENTRY_DIRECTORY)
            continue;
        struct sbox_dir *child = make_child(w, dir, entry);
        if (!child)
            return -ENOMEM;
        add_job(w, child, 0, 0);
    }
    *ret_own = own;
    return sbox_buf_failed(&w->jobs) ? -ENOMEM : 0;
}

/* The directory's own entry: attributes, and the comparison. */
static int look_at_self(struct sbox_worker *w, struct sbox_dir *dir, bool vouched)
{
    struct sbox_entry *self = dir->self;
    if (vouched)
        return 0;
    w->drifted++;
    int r = sbox_xattr_digest(dir->fd, w->hash, &w->scratch, &self->xattrs);
    if (r < 0)
        return r;
    self->has_xattrs = r > 0;
    sbox_walk_judge(w, dir->parent, self);
    return 0;
}

/* A directory that cannot be opened: if its recorded mode is another one, that is the answer. */
static bool explained_by_mode(struct sbox_worker *w, struct sbox_dir *dir)
{
    bool owned = false;
    struct sbox_entry *self = dir->self;
    int parent = sbox_dir_reach(dir->parent, &owned);
    int r = parent < 0 ? parent : sbox_stat_at(parent, dir->name, &self->stat);
    if (owned)
        sbox_close(parent);
    const struct sbox_tree *tree = w->pool->request->expected;
    if (r < 0 || !tree)
        return false;
    if (self->expected == SBOX_NO_ITEM) {
        sbox_walk_note(w, SBOX_VERDICT_ADDED, SBOX_NO_ITEM, dir->parent, self);
        return true;
    }
    const struct sbox_record *was = tree->items[self->expected].record;
    if (was->type == self->type && was->mode == (self->stat.mode & 07777))
        return false;
    sbox_walk_judge(w, dir->parent, self);
    return true;
}

static int open_self(struct sbox_worker *w, struct sbox_dir *dir)
{
    if (dir->fd < 0) {
        int fd = sbox_dir_open(dir);
        if (fd < 0)
            return fd;
        dir->fd = fd;
        atomic_fetch_add_explicit(&w->pool->open, 1, memory_order_relaxed);
    }
    int r = sbox_stat_fd(dir->fd, &dir->self->stat);
    if (r < 0) {
        sbox_walk_use(dir, 1);
        sbox_walk_done(w->pool, dir);
        return r;
    }
    dir->self->looked = true;
    dir->id = (struct sbox_fileid){.dev = dir->self->stat.dev, .ino = dir->self->stat.ino};
    return 0;
}

static void fail(struct sbox_worker *w, struct sbox_dir *dir, int r)
{
    if (r == -EAGAIN || r == -ENOENT || r == -ENOTDIR || (r == -ELOOP && dir->parent))
        sbox_walk_changed(w, dir, NULL);
    else if (!((r == -EACCES || r == -EPERM) && dir->fd < 0 && dir->parent &&
               explained_by_mode(w, dir)))
        sbox_walk_fail(w, -r, dir, NULL, "open");
}

static void work_on(struct sbox_worker *w, struct sbox_dir *dir);

void sbox_walk_list(struct sbox_worker *w, struct sbox_dir *dir)
{
    if (dir->depth > SBOX_DIR_DEPTH_MAX) {
        sbox_walk_fail(w, ELOOP, dir, NULL, "walk");
        sbox_walk_done(w->pool, dir->parent);
        return;
    }
    int r = open_self(w, dir);
    if (r < 0)
        fail(w, dir, r);
    if (dir->parent)
        sbox_walk_done(w->pool, dir->parent); /* it has been opened from, or never will be */
    if (r == 0)
        work_on(w, dir);
}

static void work_on(struct sbox_worker *w, struct sbox_dir *dir)
{
    sbox_count(&w->entries, 1);
    bool vouched = sbox_walk_vouched(w, dir->self) && dir->expected != SBOX_NO_ITEM;
    int r = look_at_self(w, dir, vouched);
    if (r == 0)
        r = fill_entries(w, dir, vouched);
    uint32_t own = 0;
    if (r == 0)
        r = hand_out(w, dir, &own);
    if (r < 0) {
        sbox_buf_clear(&w->jobs);
        fail(w, dir, r);
        sbox_walk_use(dir, 1);
        sbox_walk_done(w->pool, dir);
        return;
    }
    if (own < dir->entry_count || w->jobs.size == 0 ||
        atomic_load_explicit(&w->pool->open, memory_order_relaxed) <= SBOX_WALK_OPEN) {
        /* The usual way: others start on the children while this thread looks at the files. */
        sbox_walk_use(dir, 1 + (unsigned)(w->jobs.size / sizeof(struct sbox_job)));
        sbox_walk_push(w);
        sbox_walk_look(w, dir, dir->fd, 0, own);
        sbox_walk_done(w->pool, dir);
        return;
    }
    /* Too many are open: look at the files first, close, and let the children come back. */
    sbox_walk_look(w, dir, dir->fd, 0, own);
    sbox_walk_use(dir, 1);
    sbox_walk_done(w->pool, dir);
    sbox_walk_push(w);
}
