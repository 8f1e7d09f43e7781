#include "lock/finder.h"

void sbox_finder_release(struct sbox_finder *f)
{
    free(f->records);
    *f = (struct sbox_finder){0};
}

static int open_member(struct sbox_finder *f, const struct sbox_stored_member *member)
{
    if (f->member == member)
        return 0;
    uint32_t count = 0;
    int r = sbox_unit_count(member->records.data, member->records.size, &count);
    if (r < 0)
        return r;
    struct sbox_record *records = calloc((size_t)count + 1, sizeof *records);
    if (!records)
        return -ENOMEM;
    r = sbox_unit_decode(member->records.data, member->records.size, records, count);
    if (r < 0) {
        free(records);
        return r;
    }
    free(f->records);
    f->member = member;
    f->records = records;
    f->count = count;
    return 0;
}

/* The member with the longest path that holds `path`: units nest. */
static const struct sbox_stored_member *owner(const struct sbox_stored_tree *tree, const char *path,
                                              size_t size)
{
    const struct sbox_stored_member *best = NULL;
    for (size_t i = 0; i < tree->member_count; i++) {
        const struct sbox_bytes *m = &tree->members[i].path;
        bool holds = m->size == 0 || (size >= m->size && memcmp(path, m->data, m->size) == 0 &&
                                      (size == m->size || path[m->size] == '/'));
        if (holds && (!best || m->size > best->path.size))
            best = &tree->members[i];
    }
    return best;
}

int sbox_finder_locate(struct sbox_finder *f, const char *path, size_t size,
                       struct sbox_located *ret)
{
    const struct sbox_stored_member *member = owner(f->tree, path, size);
    if (!member)
        return -ENOENT;
    int r = open_member(f, member);
    if (r < 0)
        return r;
    size_t skip = member->path.size + (member->path.size > 0 && size > member->path.size);
    uint32_t low = 0;
    uint32_t high = f->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct sbox_record *record = &f->records[middle];
        int order = sbox_path_order(record->path, record->path_size, path + skip, size - skip);
        if (order == 0) {
            *ret = (struct sbox_located){.member = member, .index = middle, .record = record};
            return 0;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -ENOENT;
}
