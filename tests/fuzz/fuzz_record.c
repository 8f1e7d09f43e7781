/* Manifest records: whatever the bytes, an error or a list that encodes to the same bytes. */
#include "base/banned.h"
#include "lock/tree.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void encode_again(const struct sbox_record *records, uint32_t count, const void *data,
                         size_t size)
{
    _cleanup_buf_ struct sbox_buf again = {0};
    char header[SBOX_UNIT_HEADER];
    sbox_unit_header(header, count);
    sbox_buf_add(&again, header, sizeof header);
    for (uint32_t i = 0; i < count; i++)
        sbox_record_encode(&again, &records[i]);
    if (again.size != size || memcmp(again.data, data, size) != 0)
        abort();
}

/* The same bytes as two members of a tree. */
static void splice(const uint8_t *data, size_t size)
{
    struct sbox_bytes bytes = {.data = (const char *)data, .size = size};
    struct sbox_stored_member members[] = {
        {.path = {.data = "", .size = 0}, .records = bytes},
        {.path = {.data = "a/b", .size = 3}, .records = bytes},
    };
    struct sbox_stored_tree stored = {
        .path = {.data = "t", .size = 1}, .members = members, .member_count = size % 2 + 1};
    struct sbox_tree tree = {0};
    if (sbox_tree_load(&stored, &tree, NULL) == 0) {
        for (uint32_t i = 0; i < tree.count; i++)
            if (tree.items[i].end <= i || tree.items[i].end > tree.count)
                abort();
        sbox_tree_release(&tree);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t count = 0;
    if (sbox_unit_count(data, size, &count) < 0)
        return 0;
    struct sbox_record *records = calloc((size_t)count + 1, sizeof *records);
    assert(records);
    if (sbox_unit_decode(data, size, records, count) == 0) {
        encode_again(records, count, data, size);
        splice(data, size);
    }
    free(records);
    return 0;
}
