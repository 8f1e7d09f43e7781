#include "lock/units.h"

#include "store/record.h"

static int count_bytes(const struct sbox_bytes *records, struct sbox_lock_unit *unit)
{
    uint32_t count;
    int r = sbox_unit_count(records->data, records->size, &count);
    if (r < 0)
        return r;
    struct sbox_record *all = calloc((size_t)count + 1, sizeof *all);
    if (!all)
        return -ENOMEM;
    r = sbox_unit_decode(records->data, records->size, all, count);
    unit->entries = count;
    unit->type = count > 0 && r == 0 ? all[0].type : 0;
    for (uint32_t i = 0; r == 0 && i < count; i++)
        unit->bytes += all[i].size;
    free(all);
    return r;
}

int sbox_units_of_tree(const struct sbox_stored_tree *tree, int root, struct sbox_buf *out)
{
    for (size_t i = 0; i < tree->member_count; i++) {
        const struct sbox_stored_member *member = &tree->members[i];
        struct sbox_lock_unit unit = {.root = root,
                                      .tree = tree->path.data,
                                      .path = &member->path,
                                      .digest = &member->digest,
                                      .records = &member->records};
        int r = count_bytes(&member->records, &unit);
        if (r < 0)
            return r;
        sbox_buf_add(out, &unit, sizeof unit);
    }
    return sbox_buf_failed(out) ? -ENOMEM : 0;
}
