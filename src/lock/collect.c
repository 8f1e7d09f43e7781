#include "lock/collect.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "lock/fingerprint.h"
#include "lock/package.h"

/* One unit while it grows. */
struct growing {
    struct sbox_bytes path;
    struct sbox_buf records;
    uint32_t count;
    struct sbox_package_source source;
};

struct collector {
    enum sbox_tree_kind kind;
    struct sbox_collected *out;
    struct sbox_fingerprint fingerprint;
    struct growing *units;
    size_t unit_count;
    size_t unit_room;
    struct sbox_buf open; /* stack of size_t: the units that the current entry lies in */
    struct sbox_buf rows; /* struct sbox_stat_row */
    struct sbox_buf links;
    uint64_t dev;
    int64_t started;
};

static size_t top_of(const struct collector *c)
{
    size_t top;
    memcpy(&top, c->open.data + c->open.size - sizeof top, sizeof top);
    return top;
}

static bool holds(const struct sbox_bytes *unit, const char *path, size_t size)
{
    return unit->size == 0 || (size >= unit->size && memcmp(path, unit->data, unit->size) == 0 &&
                               (size == unit->size || path[unit->size] == '/'));
}

static int open_unit(struct collector *c, const char *path, size_t size)
{
    if (c->unit_count == c->unit_room) {
        size_t room = c->unit_room ? c->unit_room * 2 : 64;
        struct growing *grown = realloc(c->units, room * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        c->units = grown;
        c->unit_room = room;
    }
    struct growing *unit = &c->units[c->unit_count];
    *unit = (struct growing){
        .path = {.data = sbox_arena_copy(&c->out->memory, path, size), .size = size}};
    char header[SBOX_UNIT_HEADER];
    sbox_unit_header(header, 0);
    sbox_buf_add(&unit->records, header, sizeof header);
    sbox_buf_add(&c->open, &c->unit_count, sizeof c->unit_count);
    c->unit_count++;
    return unit->path.data && !c->open.failed ? 0 : -ENOMEM;
}

/* Entries come in canonical order, so units nest like brackets. NULL: out of memory. */
static struct growing *find_unit(struct collector *c, const char *path, size_t size,
                                 bool is_directory)
{
    size_t unit = sbox_unit_of(c->kind, path, size, is_directory);
    while (c->open.size > 0 && !holds(&c->units[top_of(c)].path, path, size))
        c->open.size -= sizeof(size_t);
    bool fresh = c->open.size == 0 || c->units[top_of(c)].path.size != unit;
    if (fresh && open_unit(c, path, unit) < 0)
        return NULL;
    return &c->units[top_of(c)];
}

static void note_source(struct collector *c, struct growing *unit,
                        const struct sbox_record *in_unit)
{
    const char *file = sbox_package_file(c->kind, &unit->path);
    if (file && in_unit->type == SBOX_ENTRY_FILE && in_unit->path_size == strlen(file) &&
        memcmp(in_unit->path, file, in_unit->path_size) == 0)
        unit->source = (struct sbox_package_source){
            .there = true, .size = in_unit->size, .content = *in_unit->content};
}

static int add_link(struct collector *c, const struct sbox_record *record)
{
    struct sbox_arena *memory = &c->out->memory;
    struct sbox_collected_link link = {
        .path = {.data = sbox_arena_copy(memory, record->path, record->path_size),
                 .size = record->path_size},
        .target = {.data = sbox_arena_copy(memory, record->target, record->target_size),
                   .size = record->target_size},
    };
    sbox_buf_add(&c->links, &link, sizeof link);
    return link.path.data && link.target.data ? 0 : -ENOMEM;
}

static int take(const struct sbox_entry *entry, const char *path, size_t size, void *context)
{
    struct collector *c = context;
    struct sbox_record record = sbox_entry_record(entry, path, size);
    if (c->rows.size == 0)
        c->dev = entry->stat.dev;
    int r = sbox_fingerprint_add(&c->fingerprint, &record);
    if (r == 0 && record.type == SBOX_ENTRY_LINK)
        r = add_link(c, &record);
    if (r < 0)
        return r;
    struct growing *unit = find_unit(c, path, size, record.type == SBOX_ENTRY_DIRECTORY);
    if (!unit)
        return -ENOMEM;
    size_t skip = unit->path.size + (unit->path.size > 0 && size > unit->path.size);
    record.path += skip;
    record.path_size -= (uint32_t)skip;
    sbox_record_encode(&unit->records, &record);
    unit->count++;
    note_source(c, unit, &record);
    struct sbox_stat_row row = sbox_trust_row(&entry->stat, c->dev, c->started);
    sbox_buf_add(&c->rows, &row, sizeof row);
    c->out->tree.entries++;
    c->out->tree.bytes += record.size;
    return unit->records.size > SBOX_UNIT_BYTES_MAX ? -EFBIG : 0;
}

/* A unit is complete: true count, bytes into memory that stays, name. */
static int seal(struct growing *unit, struct sbox_sha256 *hash, struct sbox_arena *memory,
                struct sbox_stored_member *ret)
{
    if (sbox_buf_failed(&unit->records))
        return -ENOMEM;
    sbox_unit_header(unit->records.data, unit->count);
    *ret = (struct sbox_stored_member){
        .path = unit->path,
        .records = {.data = sbox_arena_copy(memory, unit->records.data, unit->records.size),
                    .size = unit->records.size},
    };
    sbox_buf_release(&unit->records);
    return ret->records.data
               ? sbox_sha256_of(hash, ret->records.data, ret->records.size, &ret->digest)
               : -ENOMEM;
}

static int seal_all(struct collector *c)
{
    _cleanup_sha256_ struct sbox_sha256 *hash = sbox_sha256_new();
    struct sbox_stored_tree *tree = &c->out->tree;
    tree->members = sbox_arena_zalloc(&c->out->memory, c->unit_count, sizeof *tree->members);
    tree->member_count = c->unit_count;
    int r = hash && tree->members ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < c->unit_count; i++) {
        r = seal(&c->units[i], hash, &c->out->memory, &tree->members[i]);
        c->out->packages += c->units[i].path.size > 0;
    }
    return r;
}

static int keep_stat(struct collector *c, bool trusted)
{
    if (!trusted)
        return 0; /* nothing will ever be looked up in it */
    struct sbox_stat_table table = {.dev = c->dev,
                                    .rows = (const void *)c->rows.data,
                                    .count = c->rows.size / sizeof(struct sbox_stat_row)};
    _cleanup_buf_ struct sbox_buf b = {0};
    sbox_stat_table_encode(&b, &table);
    if (sbox_buf_failed(&b) || sbox_buf_failed(&c->rows))
        return -ENOMEM;
    c->out->tree.stat = (struct sbox_bytes){
        .data = sbox_arena_copy(&c->out->memory, b.data, b.size), .size = b.size};
    return c->out->tree.stat.data ? 0 : -ENOMEM;
}

static int keep_links(struct collector *c)
{
    c->out->link_count = c->links.size / sizeof *c->out->links;
    c->out->links = (void *)sbox_arena_copy(&c->out->memory, c->links.data, c->links.size);
    return c->out->links && !sbox_buf_failed(&c->links) ? 0 : -ENOMEM;
}

static int name_packages(struct collector *c, int root, struct sbox_error *err)
{
    struct sbox_stored_tree *tree = &c->out->tree;
    struct sbox_package_source *sources = calloc(c->unit_count, sizeof *sources);
    if (!sources)
        return -ENOMEM;
    for (size_t i = 0; i < c->unit_count; i++)
        sources[i] = c->units[i].source;
    int r = sbox_package_identify(c->kind, root, tree->members, sources, c->unit_count,
                                  &c->out->memory, err);
    free(sources);
    return r;
}

static void collector_release(struct collector *c)
{
    sbox_fingerprint_release(&c->fingerprint);
    for (size_t i = 0; i < c->unit_count; i++)
        sbox_buf_release(&c->units[i].records);
    free(c->units);
    sbox_buf_release(&c->open);
    sbox_buf_release(&c->rows);
    sbox_buf_release(&c->links);
}

static int run(struct collector *c, const struct sbox_walk *walk, int root, struct sbox_error *err)
{
    struct sbox_stored_tree *tree = &c->out->tree;
    int r = sbox_fingerprint_init(&c->fingerprint);
    if (r == 0)
        r = sbox_walk_visit(walk, take, c);
    if (r == 0)
        r = sbox_fingerprint_end(&c->fingerprint, &tree->fingerprint, &tree->local);
    if (r == 0)
        r = seal_all(c);
    if (r == 0)
        r = keep_stat(c, walk->trusted_filesystem);
    if (r == 0)
        r = keep_links(c);
    return r == 0 ? name_packages(c, root, err) : r;
}

int sbox_collect(const struct sbox_walk *walk, enum sbox_tree_kind kind, int root,
                 struct sbox_collected *ret, struct sbox_error *err)
{
    struct sbox_collected out = {0};
    struct sbox_error inner = SBOX_ERROR_INIT;
    struct collector c = {.kind = kind, .out = &out, .started = walk->started};
    int r = run(&c, walk, root, &inner);
    collector_release(&c);
    if (r < 0) {
        sbox_collected_release(&out);
        if (inner.code == 0)
            return sbox_error_set(err, -r, "record a tree");
        if (err)
            *err = inner;
        return r;
    }
    *ret = out;
    return 0;
}

void sbox_collected_release(struct sbox_collected *c)
{
    sbox_arena_release(&c->memory);
    *c = (struct sbox_collected){0};
}

struct refresh {
    struct sbox_stat_row *rows;
    size_t count;
    uint64_t dev;
    int64_t started;
};

static int take_stat(const struct sbox_entry *entry, const char *path, size_t size, void *context)
{
    struct refresh *f = context;
    (void)path;
    (void)size;
    if (entry->expected >= f->count)
        return -EBADMSG;
    f->rows[entry->expected] = sbox_trust_row(&entry->stat, f->dev, f->started);
    return 0;
}

int sbox_collect_stat(const struct sbox_walk *walk, const struct sbox_tree *tree,
                      struct sbox_buf *ret)
{
    struct refresh f = {.rows = calloc(tree->count, sizeof(struct sbox_stat_row)),
                        .count = tree->count,
                        .dev = walk->root->stat.dev,
                        .started = walk->started};
    if (!f.rows)
        return -ENOMEM;
    int r = sbox_walk_visit(walk, take_stat, &f);
    if (r == 0) {
        struct sbox_stat_table table = {.dev = f.dev, .rows = f.rows, .count = f.count};
        sbox_stat_table_encode(ret, &table);
        r = sbox_buf_failed(ret) ? -ENOMEM : 0;
    }
    free(f.rows);
    return r;
}
