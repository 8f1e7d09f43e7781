/* sbox verify, step by step:
 *
 *  1. the latest lock of the project; without one there is no answer
 *  2. which trees: those of the scan together with those of the lock
 *  3. each tree is opened, loaded from its units (tree.h) and walked against that (walk.h)
 *  4. links that leave tree and workspace must lead to something that is in the lock as well
 *  5. stat data that went out of date although the tree is equal is renewed, as far as possible
 */
#include "lock/verify.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/strv.h"
#include "lock/collect.h"
#include "lock/leaving.h"
#include "lock/place.h"
#include "lock/walk.h"

#include <fcntl.h>
#include <time.h>

struct checker {
    const struct sbox_verify_request *request;
    struct sbox_manifest *manifest;
    struct sbox_stored_lock lock;
    struct sbox_verify_result *result;
    struct sbox_strv only; /* names of the trees that were asked for */
    struct sbox_strv caches;
    struct sbox_progress base;
};

/* What the strings of a result point into. */
struct owned {
    struct sbox_stored_lock lock;
};

/* Strings of members are copied with a NUL, see manifest.h. */
static const char *text_of(const struct sbox_bytes *bytes)
{
    return bytes->data ? bytes->data : "";
}

static const struct sbox_stored_tree *stored(const struct checker *c, const char *path)
{
    for (size_t i = 0; i < c->lock.tree_count; i++)
        if (strcmp(c->lock.trees[i].path.data, path) == 0)
            return &c->lock.trees[i];
    return NULL;
}

static int add_difference(struct sbox_buf *out, enum sbox_verdict verdict, uint8_t type,
                          const struct sbox_buf *path, const struct sbox_stored_member *member)
{
    struct sbox_difference d = {
        .verdict = verdict,
        .type = type,
        .path = strndup(path->data ? path->data : "", path->size),
        .package = member ? text_of(&member->name) : "",
        .version = member ? text_of(&member->version) : "",
    };
    sbox_buf_add(out, &d, sizeof d);
    return d.path && !sbox_buf_failed(out) ? 0 : -ENOMEM;
}

/* The recorded package that an added path lies in. */
static const struct sbox_stored_member *owner(const struct sbox_tree *tree,
                                              const struct sbox_buf *path)
{
    const struct sbox_stored_member *best = NULL;
    for (size_t i = 0; i < tree->member_count; i++) {
        const struct sbox_bytes *m = &tree->members[i]->path;
        if (m->size > 0 && path->size > m->size && path->data[m->size] == '/' &&
            memcmp(path->data, m->data, m->size) == 0 && (!best || best->path.size < m->size))
            best = tree->members[i];
    }
    return best;
}

static int report_found(const struct sbox_tree *tree, const struct sbox_found *found,
                        struct sbox_buf *out)
{
    _cleanup_buf_ struct sbox_buf path = {0};
    const struct sbox_stored_member *member = NULL;
    if (found->expected != SBOX_NO_ITEM) {
        sbox_tree_path(tree, found->expected, &path);
        member = tree->members[tree->items[found->expected].member];
    } else {
        sbox_dir_path(found->dir, found->entry->name, &path);
        member = owner(tree, &path);
    }
    if (sbox_buf_failed(&path))
        return -ENOMEM;
    uint8_t type = found->entry ? found->entry->type : tree->items[found->expected].record->type;
    return add_difference(out, found->verdict, type, &path, member);
}

static int difference_order(const void *a, const void *b)
{
    const struct sbox_difference *x = a;
    const struct sbox_difference *y = b;
    return sbox_path_order(x->path, strlen(x->path), y->path, strlen(y->path));
}

/* Step 4, for one recorded link. */
static int check_link(const struct checker *c, const struct sbox_place *place,
                      const struct sbox_tree *tree, uint32_t item, struct sbox_buf *out)
{
    const struct sbox_record *record = tree->items[item].record;
    _cleanup_buf_ struct sbox_buf path = {0};
    sbox_tree_path(tree, item, &path);
    _cleanup_free_ char *path_text = strndup(path.data ? path.data : "", path.size);
    _cleanup_free_ char *target = strndup(record->target, record->target_size);
    if (sbox_buf_failed(&path) || !path_text || !target)
        return -ENOMEM;
    enum sbox_leads leads = SBOX_LEADS_INSIDE;
    _cleanup_free_ char *real = NULL;
    int r = sbox_leads(c->request->root->path, place->real, path_text, target, &leads, &real);
    if (r < 0)
        return r;
    if (leads != SBOX_LEADS_OUTSIDE || stored(c, real))
        return 0;
    return add_difference(out, SBOX_VERDICT_LEAVES, SBOX_ENTRY_LINK, &path,
                          tree->members[tree->items[item].member]);
}

static int check_links(const struct checker *c, const struct sbox_place *place,
                       const struct sbox_tree *tree, struct sbox_buf *out)
{
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < tree->count; i++)
        if (tree->items[i].record->type == SBOX_ENTRY_LINK)
            r = check_link(c, place, tree, i, out);
    return r;
}

static int report(const struct checker *c, const struct sbox_place *place,
                  const struct sbox_tree *tree, const struct sbox_walk *walk,
                  struct sbox_verified_tree *row)
{
    struct sbox_buf out = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < walk->found_count; i++)
        r = report_found(tree, &walk->found[i], &out);
    if (r == 0)
        r = check_links(c, place, tree, &out);
    row->differences = (void *)out.data;
    row->difference_count = out.size / sizeof *row->differences;
    if (row->difference_count > 1)
        qsort(row->differences, row->difference_count, sizeof *row->differences, difference_order);
    row->state = row->difference_count > 0 ? SBOX_TREE_DIFFERS : SBOX_TREE_EQUAL;
    row->entries = walk->entries;
    row->bytes = walk->bytes;
    row->hashed = walk->hashed;
    return r;
}

/* Step 5. Failing is no harm: then the files are hashed again next time. */
static void refresh(const struct checker *c, const struct sbox_stored_tree *was,
                    const struct sbox_tree *tree, const struct sbox_walk *walk)
{
    _cleanup_buf_ struct sbox_buf table = {0};
    if (!walk->trusted_filesystem || walk->drifted == 0 ||
        sbox_collect_stat(walk, tree, &table) < 0)
        return;
    if (was->stat.size == table.size && memcmp(was->stat.data, table.data, table.size) == 0)
        return;
    (void)sbox_manifest_refresh(c->manifest, was->id, table.data, table.size, NULL);
}

static int keep_caches(struct checker *c, const char *tree, const struct sbox_walk *walk)
{
    int r = 0;
    const char *end = walk->caches.data + walk->caches.size;
    for (const char *at = walk->caches.data; r == 0 && at < end; at += strlen(at) + 1)
        r = sbox_strv_addf(&c->caches, "%s/%s", tree, at);
    return r;
}

static int walk_tree(struct checker *c, const struct sbox_place *place,
                     const struct sbox_stored_tree *was, const struct sbox_tree *tree,
                     struct sbox_verified_tree *row, struct sbox_error *err)
{
    const struct sbox_walk_request request = {
        .root = place->fd,
        .label = place->path,
        .expected = tree,
        .trust = c->request->mode == SBOX_VERIFY_FAST,
        .skip_caches = !place->outside,
        .threads = c->request->threads,
        .base = &c->base,
        .progress = c->request->progress,
        .progress_context = c->request->progress_context,
    };
    struct sbox_walk walk = {0};
    int r = sbox_walk_run(&request, &walk, err);
    if (r < 0)
        return r;
    c->base.entries += walk.entries;
    c->base.bytes += walk.bytes;
    r = report(c, place, tree, &walk, row);
    if (r == 0)
        r = keep_caches(c, place->path, &walk);
    if (r == 0 && row->state == SBOX_TREE_EQUAL)
        refresh(c, was, tree, &walk);
    sbox_walk_release(&walk);
    return r < 0 ? sbox_error_set(err, -r, "compare '%s'", sbox_esc(place->path)) : 0;
}

/* The tree's own name: was it a link, and to the same text? */
static enum sbox_verdict compare_names(const struct sbox_stored_tree *was,
                                       const struct sbox_place *place)
{
    if (!was->link.data != !place->link)
        return SBOX_VERDICT_TYPE;
    if (place->link && strcmp(was->link.data, place->link) != 0)
        return SBOX_VERDICT_TARGET;
    return SBOX_VERDICT_SAME;
}

static int check_tree(struct checker *c, const struct sbox_place *place,
                      const struct sbox_stored_tree *was, struct sbox_verified_tree *row,
                      struct sbox_error *err)
{
    enum sbox_verdict name = compare_names(was, place);
    if (name != SBOX_VERDICT_SAME) {
        struct sbox_buf out = {0};
        const struct sbox_buf none = {0};
        uint8_t type = place->link ? SBOX_ENTRY_LINK : SBOX_ENTRY_DIRECTORY;
        int r = add_difference(&out, name, type, &none, NULL);
        row->differences = (void *)out.data;
        row->difference_count = 1;
        row->state = SBOX_TREE_DIFFERS;
        return r < 0 ? sbox_error_set(err, -r, "compare") : 0;
    }
    struct sbox_tree tree = {0};
    int r = sbox_tree_load(was, &tree, err);
    if (r < 0)
        return r;
    r = walk_tree(c, place, was, &tree, row, err);
    sbox_tree_release(&tree);
    return r;
}

/* Links that leave were judged when they were locked; the text is compared here. */
static struct sbox_place_request place_request(const struct checker *c, bool locked)
{
    return (struct sbox_place_request){
        .root = c->request->root, .scan = c->request->scan, .allow_leaving = locked};
}

static int check_one(struct checker *c, const char *path, struct sbox_verified_tree *row,
                     struct sbox_error *err)
{
    const struct sbox_stored_tree *was = stored(c, path);
    *row = (struct sbox_verified_tree){
        .path = strdup(path), .fd = -1, .outside = path[0] == '/', .state = SBOX_TREE_UNLOCKED};
    if (!row->path)
        return -ENOMEM;
    if (was) {
        row->kind = (enum sbox_tree_kind)was->kind;
        row->fingerprint = was->fingerprint;
        row->local = was->local;
        for (size_t i = 0; i < was->member_count; i++)
            c->result->packages += was->members[i].name.size > 0;
    } else {
        row->kind = sbox_place_scanned(c->request->scan, path)->tree;
        return 0;
    }
    _cleanup_place_ struct sbox_place place = {.fd = -1};
    struct sbox_place_request request = place_request(c, true);
    int r = sbox_place_open(&request, path, &place, err);
    if (r == -ENOENT || r == -ENOTDIR) {
        row->state = SBOX_TREE_ABSENT;
        return 0;
    }
    if (r == 0)
        r = check_tree(c, &place, was, row, err);
    row->fd = TAKE_FD(place.fd);
    return r;
}

static bool asked_for(const struct checker *c, const char *path)
{
    return c->only.count == 0 || sbox_strv_contains(&c->only, path);
}

static int text_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Step 2: names of all trees, sorted, each once. */
static int name_trees(const struct checker *c, struct sbox_strv *ret)
{
    const struct sbox_scan *scan = c->request->scan;
    int r = 0;
    for (size_t i = 0; r == 0 && i < scan->count; i++)
        if (scan->entries[i].kind == SBOX_SCAN_TREE && asked_for(c, scan->entries[i].path))
            r = sbox_strv_add(ret, scan->entries[i].path);
    for (size_t i = 0; r == 0 && i < c->lock.tree_count; i++) {
        const char *path = c->lock.trees[i].path.data;
        if (asked_for(c, path) && !sbox_place_scanned(scan, path))
            r = sbox_strv_add(ret, path);
    }
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, text_order);
    return r;
}

static int name_asked(struct checker *c, struct sbox_error *err)
{
    struct sbox_place_request request = place_request(c, true);
    for (size_t i = 0; i < c->request->path_count; i++) {
        char *path = NULL;
        int r = sbox_place_name(&request, c->request->paths[i], &path, err);
        if (r < 0)
            return r;
        if (!stored(c, path) && !sbox_place_scanned(c->request->scan, path)) {
            r = sbox_error_say(err, EINVAL, "'%s' is no tree of this project", sbox_esc(path));
            free(path);
            return r;
        }
        r = sbox_strv_add_take(&c->only, path);
        if (r < 0)
            return sbox_error_set(err, -r, "verify");
    }
    return 0;
}

static int check_all(struct checker *c, struct sbox_error *err)
{
    _cleanup_strv_ struct sbox_strv names = {0};
    struct sbox_verify_result *result = c->result;
    int r = name_asked(c, err);
    if (r < 0)
        return r;
    r = name_trees(c, &names);
    result->trees = calloc(names.count + 1, sizeof *result->trees);
    if (r < 0 || !result->trees)
        return sbox_error_set(err, ENOMEM, "verify");
    result->same = true;
    for (size_t i = 0; r == 0 && i < names.count; i++) {
        struct sbox_verified_tree *row = &result->trees[result->tree_count++];
        r = check_one(c, names.items[i], row, err);
        result->same &= row->state == SBOX_TREE_EQUAL;
    }
    return r;
}

int sbox_verify_never_locked(const struct sbox_root *root, struct sbox_error *err)
{
    return sbox_error_say(err, ENODATA,
                          "'%s' was never locked here: after an install that you trust, run"
                          " 'sbox lock' in it",
                          sbox_esc(root->path));
}

/* Step 1. The marker without a manifest, or without a lock in it, is a lock that never finished, or
 * a manifest that somebody moved away: no answer either. */
static int read_lock(struct checker *c, struct sbox_error *err)
{
    const struct sbox_datadir *d = c->request->datadir;
    if (d->fd < 0)
        return sbox_verify_never_locked(c->request->root, err);
    int r = sbox_manifest_open(d->fd, d->path, false, &c->manifest, err);
    if (r == 0)
        r = sbox_manifest_read(c->manifest, c->request->root->path, &c->lock, err);
    if (r == -ENOENT || r == -ENODATA)
        return sbox_verify_never_locked(c->request->root, err);
    for (size_t i = 0; r == 0 && i < c->lock.tree_count; i++) {
        c->base.total_entries += c->lock.trees[i].entries;
        c->base.total_bytes += c->lock.trees[i].bytes;
    }
    return r;
}

static uint64_t milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int hand_over(struct checker *c)
{
    struct sbox_verify_result *result = c->result;
    struct owned *owned = calloc(1, sizeof *owned);
    if (!owned)
        return -ENOMEM;
    result->lock_id = c->lock.id;
    result->lock_time = c->lock.time;
    result->fingerprint = c->lock.fingerprint;
    result->local = c->lock.local;
    result->caches = c->caches.items;
    result->cache_count = c->caches.count;
    c->caches = (struct sbox_strv){0};
    owned->lock = c->lock;
    c->lock = (struct sbox_stored_lock){0};
    result->owned = owned;
    return 0;
}

int sbox_verify_run(const struct sbox_verify_request *request, struct sbox_verify_result *ret,
                    struct sbox_error *err)
{
    uint64_t start = milliseconds();
    struct sbox_verify_result result = {0};
    struct checker c = {.request = request, .result = &result};
    int r = read_lock(&c, err);
    if (r == 0)
        r = check_all(&c, err);
    if (r == 0 && hand_over(&c) < 0)
        r = sbox_error_set(err, ENOMEM, "verify");
    sbox_manifest_close(c.manifest);
    sbox_stored_lock_release(&c.lock);
    sbox_strv_release(&c.only);
    sbox_strv_release(&c.caches);
    if (r < 0) {
        sbox_verify_result_release(&result);
        return r;
    }
    result.elapsed_ms = milliseconds() - start;
    *ret = result;
    return 0;
}

void sbox_verify_result_release(struct sbox_verify_result *result)
{
    for (size_t i = 0; i < result->tree_count; i++) {
        struct sbox_verified_tree *t = &result->trees[i];
        for (size_t k = 0; k < t->difference_count; k++)
            free(t->differences[k].path);
        free(t->differences);
        free(t->path);
        sbox_close(t->fd);
    }
    free(result->trees);
    for (size_t i = 0; i < result->cache_count; i++)
        free(result->caches[i]);
    free(result->caches);
    struct owned *owned = result->owned;
    if (owned)
        sbox_stored_lock_release(&owned->lock);
    free(owned);
    *result = (struct sbox_verify_result){0};
}

const struct sbox_stored_lock *sbox_verify_lock(const struct sbox_verify_result *result)
{
    const struct owned *owned = result->owned;
    return &owned->lock;
}

const char *sbox_tree_state_text(enum sbox_tree_state state)
{
    switch (state) {
    case SBOX_TREE_EQUAL:
        return "equal";
    case SBOX_TREE_UNLOCKED:
        return "unlocked";
    case SBOX_TREE_ABSENT:
        return "absent";
    case SBOX_TREE_DIFFERS:
        return "differs";
    }
    return "?";
}
