/* sbox lock, step by step:
 *
 *  1. which trees: those of the scan, or the named ones; what was named earlier stays in the lock
 *  2. each tree is walked and hashed (walk.h) and made into units (collect.h); links that leave
 * tree and workspace add what they lead to as trees of their own
 *  3. trees that were not named are taken over from the previous lock
 *  4. what changed since then
 *  5. copies of the new units are kept, where the caller wants them (snapshots)
 *  6. everything is written in one transaction
 */
#include "lock/lock.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/strv.h"
#include "lock/changes.h"
#include "lock/collect.h"
#include "lock/fingerprint.h"
#include "lock/leaving.h"
#include "lock/place.h"
#include "lock/units.h"

#include <time.h>

enum { TREES_MAX = 4096 };

struct made {
    struct sbox_place place;
    bool asked; /* somebody named it */
    struct sbox_collected collected;
};

struct maker {
    const struct sbox_lock_request *request;
    bool preview; /* look only: nothing is written, and no link that leaves is followed */
    struct sbox_manifest *manifest;
    struct sbox_stored_lock before; /* id 0: there is none */
    struct made *made;
    size_t made_count;
    struct sbox_stored_tree *trees; /* of the new lock; memory belongs to `made` and `before` */
    size_t tree_count;
    struct sbox_progress base;
    struct sbox_buf changes;
    struct sbox_buf links;
    struct sbox_strv caches;
};

static void maker_release(struct maker *m)
{
    sbox_manifest_close(m->manifest);
    sbox_stored_lock_release(&m->before);
    for (size_t i = 0; i < m->made_count; i++) {
        sbox_place_release(&m->made[i].place);
        sbox_collected_release(&m->made[i].collected);
    }
    free(m->made);
    free(m->trees);
}

static struct sbox_place_request place_request(const struct maker *m, bool allow_leaving)
{
    return (struct sbox_place_request){.root = m->request->root,
                                       .scan = m->request->scan,
                                       .home = m->request->home,
                                       .allow_leaving = allow_leaving};
}

static const struct sbox_stored_tree *stored(const struct sbox_stored_lock *lock, const char *path)
{
    for (size_t i = 0; i < lock->tree_count; i++)
        if (strcmp(lock->trees[i].path.data, path) == 0)
            return &lock->trees[i];
    return NULL;
}

static bool is_made(const struct maker *m, const char *path)
{
    for (size_t i = 0; i < m->made_count; i++)
        if (strcmp(m->made[i].place.path, path) == 0)
            return true;
    return false;
}

static int add_link(struct maker *m, const char *tree, const char *path, const char *target,
                    char *real, bool interpreter)
{
    struct sbox_leaving_link row = {.tree = strdup(tree),
                                    .path = strdup(path),
                                    .target = strdup(target),
                                    .real = real,
                                    .interpreter = interpreter};
    sbox_buf_add(&m->links, &row, sizeof row);
    return row.tree && row.path && row.target && !sbox_buf_failed(&m->links) ? 0 : -ENOMEM;
}

/* Step 1: a tree to be hashed. */
static int add_place(struct maker *m, const char *path, bool named, struct sbox_error *err)
{
    if (is_made(m, path))
        return 0;
    if (m->made_count == TREES_MAX)
        return sbox_error_say(err, E2BIG, "more than %d trees", TREES_MAX);
    struct made *grown = realloc(m->made, (m->made_count + 1) * sizeof *grown);
    if (!grown)
        return sbox_error_set(err, ENOMEM, "lock");
    m->made = grown;
    struct made one = {.place.fd = -1};
    struct sbox_place_request request = place_request(m, named);
    int r = sbox_place_open(&request, path, &one.place, err);
    if (r == 0)
        m->made[m->made_count++] = one;
    return r;
}

/* A tree that has become a link out of the workspace is named, not entered, by a preview. */
static int add_scanned(struct maker *m, const struct sbox_scan_entry *e, struct sbox_error *err)
{
    const struct sbox_stored_tree *was = stored(&m->before, e->path);
    /* A link that was named once and has not changed stays trusted. */
    bool known = was && was->link.data && e->link && strcmp(was->link.data, e->link) == 0;
    if (!m->preview)
        return add_place(m, e->path, known, err);
    int r = add_place(m, e->path, known, NULL);
    if (r != -EPERM && r != -ENOENT && r != -ENOTDIR)
        return r < 0 ? sbox_error_set(err, -r, "'%s'", sbox_esc(e->path)) : 0;
    return add_link(m, e->path, "", e->link ? e->link : "", NULL, false);
}

static int add_named(struct maker *m, const char *typed, struct sbox_error *err)
{
    _cleanup_free_ char *path = NULL;
    struct sbox_place_request request = place_request(m, true);
    int r = sbox_place_name(&request, typed, &path, err);
    if (r == 0)
        r = add_place(m, path, true, err);
    for (size_t i = 0; r == 0 && i < m->made_count; i++)
        m->made[i].asked |= strcmp(m->made[i].place.path, path) == 0;
    return r;
}

static int add_all(struct maker *m, struct sbox_error *err)
{
    const struct sbox_scan *scan = m->request->scan;
    int r = 0;
    for (size_t i = 0; r == 0 && i < scan->count; i++) {
        if (scan->entries[i].kind == SBOX_SCAN_TREE)
            r = add_scanned(m, &scan->entries[i], err);
    }
    for (size_t i = 0; r == 0 && i < m->before.tree_count; i++) {
        const struct sbox_stored_tree *was = &m->before.trees[i];
        if (!(was->flags & SBOX_STORED_NAMED))
            continue;
        r = add_place(m, was->path.data, true, err);
        r = r == -ENOENT ? 0 : r; /* gone: the changes will say so */
    }
    if (r == 0 && m->made_count == 0 && !m->preview)
        return sbox_error_say(err, ENOENT, "no dependency trees in '%s': nothing to lock",
                              sbox_esc(m->request->root->path));
    return r;
}

static int choose(struct maker *m, struct sbox_error *err)
{
    if (m->request->path_count == 0)
        return add_all(m, err);
    int r = 0;
    for (size_t i = 0; r == 0 && i < m->request->path_count; i++)
        r = add_named(m, m->request->paths[i], err);
    return r;
}

/* Step 2: one link that leaves. */
static int add_leaving(struct maker *m, const char *tree, const struct sbox_collected_link *link,
                       enum sbox_leads leads, char *real, struct sbox_error *err)
{
    if (leads == SBOX_LEADS_OUTSIDE && !m->preview) {
        int r = sbox_leads_allowed(real, m->request->root->path, m->request->home, err);
        if (r == 0)
            r = add_place(m, real, true, err);
        if (r < 0) {
            free(real);
            return sbox_error_wrap(err, -r, "'%s/%s' leads out of the workspace", sbox_esc(tree),
                                   sbox_esc(link->path.data));
        }
    }
    if (m->preview && real && stored(&m->before, real)) { /* locked with the rest */
        free(real);
        return 0;
    }
    return add_link(m, tree, link->path.data, link->target.data, real, leads == SBOX_LEADS_SYSTEM);
}

static int follow_links(struct maker *m, size_t index, struct sbox_error *err)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < m->made[index].collected.link_count; i++) {
        const struct sbox_place *place = &m->made[index].place; /* add_place() may move it */
        const struct sbox_collected_link *link = &m->made[index].collected.links[i];
        enum sbox_leads leads = SBOX_LEADS_INSIDE;
        char *real = NULL;
        r = sbox_leads(m->request->root->path, place->real, link->path.data, link->target.data,
                       &leads, &real);
        if (r < 0)
            return sbox_error_set(err, -r, "follow '%s/%s'", sbox_esc(place->path),
                                  sbox_esc(link->path.data));
        if (leads == SBOX_LEADS_INSIDE)
            continue;
        _cleanup_free_ char *tree = strdup(place->path);
        r = tree ? add_leaving(m, tree, link, leads, real, err) : -ENOMEM;
    }
    return r;
}

static int keep_caches(struct maker *m, const char *tree, const struct sbox_walk *walk)
{
    int r = 0;
    const char *end = walk->caches.data + walk->caches.size;
    for (const char *at = walk->caches.data; r == 0 && at < end; at += strlen(at) + 1)
        r = sbox_strv_addf(&m->caches, "%s/%s", tree, at);
    return r;
}

static int hash_tree(struct maker *m, size_t index, struct sbox_error *err)
{
    struct made *one = &m->made[index];
    struct sbox_walk_request request = {
        .root = one->place.fd,
        .label = one->place.path,
        .skip_caches = !one->place.outside,
        .threads = m->request->threads,
        .base = &m->base,
        .progress = m->request->progress,
        .progress_context = m->request->progress_context,
    };
    struct sbox_walk walk = {0};
    int r = sbox_walk_run(&request, &walk, err);
    if (r < 0)
        return r;
    m->base.entries += walk.entries;
    m->base.bytes += walk.bytes;
    r = sbox_collect(&walk, one->place.kind, one->place.fd, &one->collected, err);
    if (r == 0 && keep_caches(m, one->place.path, &walk) < 0)
        r = sbox_error_set(err, ENOMEM, "lock");
    sbox_walk_release(&walk);
    if (r < 0)
        return r;
    struct sbox_stored_tree *tree = &one->collected.tree;
    tree->path = (struct sbox_bytes){.data = one->place.path, .size = strlen(one->place.path)};
    tree->kind = (int64_t)one->place.kind;
    tree->flags = (one->place.outside ? SBOX_STORED_OUTSIDE : 0) |
                  (one->asked && one->place.named ? SBOX_STORED_NAMED : 0);
    const struct sbox_stored_tree *was = stored(&m->before, one->place.path);
    if (was)
        tree->flags |= was->flags & SBOX_STORED_NAMED;
    if (one->place.link)
        tree->link = (struct sbox_bytes){.data = one->place.link, .size = strlen(one->place.link)};
    return follow_links(m, index, err);
}

static int hash_all(struct maker *m, struct sbox_error *err)
{
    for (size_t i = 0; i < m->before.tree_count; i++) {
        m->base.total_entries += m->before.trees[i].entries;
        m->base.total_bytes += m->before.trees[i].bytes;
    }
    int r = 0;
    for (size_t i = 0; r == 0 && i < m->made_count; i++) /* grows while it runs */
        r = hash_tree(m, i, err);
    return r;
}

static int tree_order(const void *a, const void *b)
{
    const struct sbox_stored_tree *x = a;
    const struct sbox_stored_tree *y = b;
    size_t n = x->path.size < y->path.size ? x->path.size : y->path.size;
    int r = memcmp(x->path.data, y->path.data, n);
    return r != 0 ? r : (x->path.size > y->path.size) - (x->path.size < y->path.size);
}

/* Steps 3 and 4. */
static int join(struct maker *m)
{
    m->trees = calloc(m->made_count + m->before.tree_count + 1, sizeof *m->trees);
    if (!m->trees)
        return -ENOMEM;
    int r = 0;
    for (size_t i = 0; r == 0 && i < m->made_count; i++) {
        struct sbox_stored_tree *tree = &m->made[i].collected.tree;
        m->trees[m->tree_count++] = *tree;
        if (m->before.id != 0 || m->preview)
            r = sbox_changes_of_tree(stored(&m->before, m->made[i].place.path), tree, &m->changes);
    }
    for (size_t i = 0; r == 0 && i < m->before.tree_count; i++) {
        struct sbox_stored_tree *was = &m->before.trees[i];
        if (is_made(m, was->path.data) || (m->preview && (was->flags & SBOX_STORED_OUTSIDE)))
            continue;
        if (m->request->path_count > 0)
            m->trees[m->tree_count++] = *was;
        else
            r = sbox_changes_of_tree(was, NULL, &m->changes);
    }
    qsort(m->trees, m->tree_count, sizeof *m->trees, tree_order);
    return r;
}

static int digest_lock(const struct maker *m, struct sbox_stored_lock *lock)
{
    struct sbox_tree_digests *all = calloc(m->tree_count, sizeof *all);
    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < m->tree_count; i++) {
        const struct sbox_stored_tree *t = &m->trees[i];
        all[i] = (struct sbox_tree_digests){.path = t->path.data,
                                            .path_size = t->path.size,
                                            .fingerprint = t->fingerprint,
                                            .local = t->local,
                                            .portable = !(t->flags & SBOX_STORED_OUTSIDE)};
    }
    int r = sbox_fingerprint_of_lock(all, m->tree_count, &lock->fingerprint, &lock->local);
    free(all);
    return r;
}

/* Step 5. */
static int keep_units(const struct maker *m, struct sbox_error *err)
{
    _cleanup_buf_ struct sbox_buf units = {0};
    if (!m->request->keep)
        return 0;
    int r = 0;
    for (size_t i = 0; r == 0 && i < m->made_count; i++)
        r = sbox_units_of_tree(&m->made[i].collected.tree, m->made[i].place.fd, &units);
    if (r < 0)
        return sbox_error_set(err, -r, "keep the content");
    return m->request->keep((const void *)units.data, units.size / sizeof(struct sbox_lock_unit),
                            m->request->keep_context, err);
}

/* Step 6. The marker comes first: a run that finds it asks the manifest. */
static int write_lock(struct maker *m, struct sbox_lock_result *result, struct sbox_error *err)
{
    const char *root = m->request->root->path;
    struct sbox_stored_lock lock = {
        .time = (int64_t)time(NULL), .trees = m->trees, .tree_count = m->tree_count};
    int r = digest_lock(m, &lock);
    if (r < 0)
        return sbox_error_set(err, -r, "lock");
    _cleanup_close_ int dir = sbox_project_dir_open(m->request->datadir, root, true, err);
    if (dir < 0)
        return dir;
    r = sbox_project_mark_locked(dir, err);
    if (r == 0)
        r = sbox_manifest_write(m->manifest, root, &lock, &result->id, err);
    result->time = lock.time;
    result->fingerprint = lock.fingerprint;
    result->local = lock.local;
    return r;
}

static uint64_t count_packages(const struct sbox_stored_tree *tree)
{
    uint64_t n = 0;
    for (size_t i = 0; i < tree->member_count; i++)
        n += tree->members[i].name.size > 0;
    return n;
}

static int report_trees(const struct maker *m, struct sbox_lock_result *result)
{
    result->trees = calloc(m->tree_count + 1, sizeof *result->trees);
    if (!result->trees)
        return -ENOMEM;
    for (size_t i = 0; i < m->tree_count; i++) {
        const struct sbox_stored_tree *t = &m->trees[i];
        struct sbox_locked_tree *row = &result->trees[result->tree_count++];
        *row = (struct sbox_locked_tree){
            .path = strndup(t->path.data, t->path.size),
            .kind = (enum sbox_tree_kind)t->kind,
            .carried = t->id != 0,
            .outside = t->flags & SBOX_STORED_OUTSIDE,
            .entries = t->entries,
            .bytes = t->bytes,
            .packages = count_packages(t),
            .fingerprint = t->fingerprint,
            .local = t->local,
        };
        if (!row->path)
            return -ENOMEM;
        result->entries += row->entries;
        result->bytes += row->bytes;
        result->packages += row->packages;
    }
    return 0;
}

static void report_lists(struct maker *m, struct sbox_lock_result *result)
{
    result->first = m->before.id == 0;
    result->changes = (void *)m->changes.data;
    result->change_count = m->changes.size / sizeof *result->changes;
    result->links = (void *)m->links.data;
    result->link_count = m->links.size / sizeof *result->links;
    result->caches = m->caches.items;
    result->cache_count = m->caches.count;
    m->changes = m->links = (struct sbox_buf){0};
    m->caches = (struct sbox_strv){0};
}

/* Nothing is created before there is something to write. */
static int open_manifest(struct maker *m, bool create, struct sbox_error *err)
{
    const struct sbox_datadir *d = m->request->datadir;
    return sbox_manifest_open(d->fd, d->path, create, &m->manifest, err);
}

/* That there is no earlier lock is no error, and leaves none in *err. */
static int read_before(struct maker *m, struct sbox_error *err)
{
    struct sbox_error inner = SBOX_ERROR_INIT;
    int r = open_manifest(m, false, &inner);
    if (r == 0)
        r = sbox_manifest_read(m->manifest, m->request->root->path, &m->before, &inner);
    if (r == -ENODATA || r == -ENOENT)
        return 0;
    if (r < 0 && err)
        *err = inner;
    return r;
}

static int make(struct maker *m, struct sbox_lock_result *result, struct sbox_error *err)
{
    int r = read_before(m, err);
    if (r == 0)
        r = choose(m, err);
    if (r == 0)
        r = hash_all(m, err);
    if (r == 0 && join(m) < 0)
        r = sbox_error_set(err, ENOMEM, "lock");
    if (r == 0 && report_trees(m, result) < 0)
        r = sbox_error_set(err, ENOMEM, "lock");
    report_lists(m, result);
    if (r < 0 || m->preview)
        return r;
    r = keep_units(m, err);
    if (r == 0 && !m->manifest)
        r = open_manifest(m, true, err);
    return r == 0 ? write_lock(m, result, err) : r;
}

static uint64_t milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int run(const struct sbox_lock_request *request, bool preview, struct sbox_lock_result *ret,
               struct sbox_error *err)
{
    uint64_t start = milliseconds();
    struct maker m = {.request = request, .preview = preview};
    struct sbox_lock_result result = {0};
    int r = make(&m, &result, err);
    maker_release(&m);
    if (r < 0) {
        sbox_lock_result_release(&result);
        return r;
    }
    result.elapsed_ms = milliseconds() - start;
    *ret = result;
    return 0;
}

int sbox_lock_make(const struct sbox_lock_request *request, struct sbox_lock_result *ret,
                   struct sbox_error *err)
{
    return run(request, false, ret, err);
}

int sbox_lock_preview(const struct sbox_lock_request *request, struct sbox_lock_result *ret,
                      struct sbox_error *err)
{
    return run(request, true, ret, err);
}

void sbox_lock_result_release(struct sbox_lock_result *result)
{
    for (size_t i = 0; i < result->tree_count; i++)
        free(result->trees[i].path);
    free(result->trees);
    for (size_t i = 0; i < result->change_count; i++)
        sbox_change_release(&result->changes[i]);
    free(result->changes);
    for (size_t i = 0; i < result->link_count; i++) {
        free(result->links[i].tree);
        free(result->links[i].path);
        free(result->links[i].target);
        free(result->links[i].real);
    }
    free(result->links);
    for (size_t i = 0; i < result->cache_count; i++)
        free(result->caches[i]);
    free(result->caches);
    *result = (struct sbox_lock_result){0};
}
