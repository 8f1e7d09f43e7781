#include "lock/tree.h"

#include "base/escape.h"

#include <pthread.h>

enum { WORTH_A_THREAD = 100 }; /* members */

static int damaged(struct sbox_error *err, const struct sbox_stored_tree *stored)
{
    return sbox_error_say(err, EBADMSG, "the lock of '%s' is damaged: its records make no tree",
                          sbox_esc_n(stored->path.data, stored->path.size));
}

static int member_order(const void *a, const void *b)
{
    const struct sbox_stored_member *x = *(const struct sbox_stored_member *const *)a;
    const struct sbox_stored_member *y = *(const struct sbox_stored_member *const *)b;
    return sbox_path_order(x->path.data, x->path.size, y->path.data, y->path.size);
}

/* Records of all members, one array each. */
struct decoded {
    struct sbox_record *records;
    uint32_t count;
    uint32_t next; /* the first that is not placed yet */
};

/* The splice. Members nest as directories do: the open ones lie on a stack, the innermost on top,
 * and so do the open directories. */
struct splice {
    struct sbox_tree *tree;
    struct decoded *decoded;
    uint32_t *open; /* members */
    size_t open_count;
    size_t member;         /* the next that is not open yet */
    uint32_t *directories; /* items */
    size_t directory_count;
    struct sbox_buf path;    /* of the innermost directory */
    size_t *path_sizes;      /* of each open directory */
    struct sbox_buf current; /* of the entry in hand */
    size_t last_name;        /* offset of its last component */
};

static bool is_below(const struct sbox_buf *path, const char *dir, size_t dir_size)
{
    if (dir_size == 0)
        return path->size > 0;
    return path->size > dir_size && path->data[dir_size] == '/' &&
           memcmp(path->data, dir, dir_size) == 0;
}

static void set_current(struct splice *s, const struct sbox_stored_member *m,
                        const struct sbox_record *record)
{
    sbox_buf_clear(&s->current);
    sbox_buf_add(&s->current, m->path.data, m->path.size);
    if (m->path.size > 0 && record->path_size > 0)
        sbox_buf_add_byte(&s->current, '/');
    sbox_buf_add(&s->current, record->path, record->path_size);
}

static void close_directory(struct splice *s)
{
    uint32_t top = s->directories[--s->directory_count];
    s->tree->items[top].end = s->tree->count;
}

/* Finds the directory that holds the current entry; it must be open and hold it directly. */
static bool place(struct splice *s)
{
    const struct sbox_buf *path = &s->current;
    if (s->tree->count == 0) {
        s->last_name = 0;
        return path->size == 0;
    }
    while (s->directory_count > 0) {
        size_t size = s->path_sizes[s->directory_count - 1];
        if (is_below(path, s->path.data, size)) {
            s->last_name = size > 0 ? size + 1 : 0;
            return !memchr(path->data + s->last_name, '/', path->size - s->last_name);
        }
        close_directory(s);
    }
    return false;
}

/* Siblings ascend; the one before ends where this one begins. */
static bool ascends(const struct splice *s, const struct sbox_item *item)
{
    const struct sbox_tree *tree = s->tree;
    if (s->directory_count == 0)
        return true;
    uint32_t parent = s->directories[s->directory_count - 1];
    uint32_t before = SBOX_NO_ITEM;
    if (tree->count > parent + 1)
        before = tree->items[parent].end; /* borrowed while open: the last child */
    if (before == SBOX_NO_ITEM)
        return true;
    const struct sbox_item *last = &tree->items[before];
    return sbox_path_order(last->name, last->name_size, item->name, item->name_size) < 0;
}

static bool append(struct splice *s, uint32_t member, const struct sbox_record *record)
{
    struct sbox_tree *tree = s->tree;
    const struct sbox_stored_member *m = tree->members[member];
    set_current(s, m, record);
    if (sbox_buf_failed(&s->current) || !place(s))
        return false;
    struct sbox_item *item = &tree->items[tree->count];
    /* The last component lies in the record, or, for a member's own directory, in its path. */
    size_t size = s->current.size - s->last_name;
    const char *end =
        record->path_size > 0 ? record->path + record->path_size : m->path.data + m->path.size;
    *item = (struct sbox_item){.record = record,
                               .name = end - size,
                               .name_size = (uint32_t)size,
                               .member = member,
                               .end = tree->count + 1};
    if (!ascends(s, item))
        return false;
    if (s->directory_count > 0)
        tree->items[s->directories[s->directory_count - 1]].end = tree->count;
    if (record->type == SBOX_ENTRY_DIRECTORY) {
        s->path_sizes[s->directory_count] = s->current.size;
        s->directories[s->directory_count++] = tree->count;
        sbox_buf_clear(&s->path);
        sbox_buf_add(&s->path, s->current.data, s->current.size);
    }
    tree->count++;
    return !sbox_buf_failed(&s->path);
}

/* Does the next member come before the next record of the innermost open one? */
static bool next_member_first(struct splice *s)
{
    if (s->member >= s->tree->member_count)
        return false;
    if (s->open_count == 0)
        return true;
    uint32_t top = s->open[s->open_count - 1];
    const struct decoded *d = &s->decoded[top];
    if (d->next == d->count)
        return false;
    const struct sbox_bytes *next = &s->tree->members[s->member]->path;
    const struct sbox_bytes *open = &s->tree->members[top]->path;
    size_t skip = open->size > 0 ? open->size + 1 : 0;
    if (next->size <= skip || (skip > 0 && (next->data[open->size] != '/' ||
                                            memcmp(next->data, open->data, open->size) != 0)))
        return false; /* it lies outside of the open one, which is completed first */
    const struct sbox_record *record = &d->records[d->next];
    return sbox_path_order(next->data + skip, next->size - skip, record->path, record->path_size) <
           0;
}

static bool run(struct splice *s)
{
    while (s->open_count > 0 || s->member < s->tree->member_count) {
        if (next_member_first(s))
            s->open[s->open_count++] = (uint32_t)s->member++;
        uint32_t top = s->open[s->open_count - 1];
        struct decoded *d = &s->decoded[top];
        if (d->next == d->count) {
            s->open_count--;
            continue;
        }
        if (!append(s, top, &d->records[d->next++]))
            return false;
    }
    while (s->directory_count > 0)
        close_directory(s);
    return s->tree->count > 0;
}

static int count_members(struct sbox_tree *tree, struct decoded *decoded, size_t *ret_total)
{
    size_t total = 0;
    for (size_t i = 0; i < tree->member_count; i++) {
        const struct sbox_bytes *bytes = &tree->members[i]->records;
        struct decoded *d = &decoded[i];
        int r = sbox_unit_count(bytes->data, bytes->size, &d->count);
        if (r < 0)
            return r;
        d->records = sbox_arena_alloc(&tree->memory, d->count * sizeof *d->records);
        if (!d->records)
            return -ENOMEM;
        total += d->count;
    }
    *ret_total = total;
    return total < SBOX_NO_ITEM ? 0 : -EBADMSG;
}

/* Half of the members; the other half is decoded by another thread at the same time. */
struct share {
    const struct sbox_tree *tree;
    struct decoded *decoded;
    size_t first;
    size_t last;
    int result;
};

static void *decode_share(void *argument)
{
    struct share *s = argument;
    for (size_t i = s->first; s->result == 0 && i < s->last; i++) {
        const struct sbox_bytes *bytes = &s->tree->members[i]->records;
        s->result =
            sbox_unit_decode(bytes->data, bytes->size, s->decoded[i].records, s->decoded[i].count);
    }
    return NULL;
}

static int decode_members(const struct sbox_tree *tree, struct decoded *decoded)
{
    size_t half = tree->member_count / 2;
    struct share first = {.tree = tree, .decoded = decoded, .last = half};
    struct share second = {
        .tree = tree, .decoded = decoded, .first = half, .last = tree->member_count};
    pthread_t thread;
    bool helped = tree->member_count >= WORTH_A_THREAD &&
                  pthread_create(&thread, NULL, decode_share, &first) == 0;
    if (!helped)
        (void)decode_share(&first);
    (void)decode_share(&second);
    if (helped)
        (void)pthread_join(thread, NULL);
    return first.result < 0 ? first.result : second.result;
}

static int splice(struct sbox_tree *tree)
{
    struct sbox_arena work = {0};
    struct splice s = {.tree = tree};
    s.decoded = sbox_arena_zalloc(&work, tree->member_count + 1, sizeof *s.decoded);
    size_t total = 0;
    int r = s.decoded ? count_members(tree, s.decoded, &total) : -ENOMEM;
    if (r == 0)
        r = decode_members(tree, s.decoded);
    if (r == 0) {
        s.open = sbox_arena_alloc(&work, (tree->member_count + 1) * sizeof *s.open);
        s.directories = sbox_arena_alloc(&work, (total + 1) * sizeof *s.directories);
        s.path_sizes = sbox_arena_alloc(&work, (total + 1) * sizeof *s.path_sizes);
        tree->items = sbox_arena_alloc(&tree->memory, (total + 1) * sizeof *tree->items);
        if (!s.open || !s.directories || !s.path_sizes || !tree->items)
            r = -ENOMEM;
        else if (!run(&s))
            r = sbox_buf_failed(&s.current) || sbox_buf_failed(&s.path) ? -ENOMEM : -EBADMSG;
    }
    sbox_buf_release(&s.path);
    sbox_buf_release(&s.current);
    sbox_arena_release(&work);
    return r;
}

int sbox_tree_load(const struct sbox_stored_tree *stored, struct sbox_tree *ret,
                   struct sbox_error *err)
{
    struct sbox_tree tree = {.member_count = stored->member_count};
    tree.members = sbox_arena_alloc(&tree.memory, (stored->member_count + 1) *
                                                      sizeof(struct sbox_stored_member *));
    int r = tree.members ? 0 : -ENOMEM;
    if (r == 0) {
        for (size_t i = 0; i < stored->member_count; i++)
            tree.members[i] = &stored->members[i];
        qsort(tree.members, tree.member_count, sizeof(struct sbox_stored_member *), member_order);
        r = splice(&tree);
    }
    if (r < 0) {
        sbox_tree_release(&tree);
        return r == -EBADMSG ? damaged(err, stored) : sbox_error_set(err, -r, "load a lock");
    }
    tree.stat = sbox_stat_table_parse(stored->stat.data, stored->stat.size, tree.count);
    *ret = tree;
    return 0;
}

void sbox_tree_release(struct sbox_tree *tree)
{
    sbox_arena_release(&tree->memory);
    *tree = (struct sbox_tree){0};
}

void sbox_tree_path(const struct sbox_tree *tree, uint32_t item, struct sbox_buf *out)
{
    const struct sbox_item *it = &tree->items[item];
    const struct sbox_bytes *member = &tree->members[it->member]->path;
    sbox_buf_add(out, member->data, member->size);
    if (member->size > 0 && it->record->path_size > 0)
        sbox_buf_add_byte(out, '/');
    sbox_buf_add(out, it->record->path, it->record->path_size);
}
