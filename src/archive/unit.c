#include "archive/unit.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <archive.h>

int sbox_unit_load(int fd, struct sbox_unit *ret)
{
    struct sbox_unit unit = {0};
    size_t size = 0;
    int r = sbox_read_file_fd(fd, SBOX_UNIT_BYTES_MAX, &unit.data, &size);
    if (r == 0)
        r = sbox_unit_count(unit.data, size, &unit.count);
    if (r == 0) {
        unit.records = calloc((size_t)unit.count + 1, sizeof *unit.records);
        r = unit.records ? sbox_unit_decode(unit.data, size, unit.records, unit.count) : -ENOMEM;
    }
    if (r < 0)
        sbox_unit_release(&unit);
    else
        *ret = unit;
    return r;
}

void sbox_unit_release(struct sbox_unit *unit)
{
    free(unit->data);
    free(unit->records);
    *unit = (struct sbox_unit){0};
}

const char *sbox_unit_name(const struct sbox_record *record, struct sbox_buf *scratch)
{
    sbox_buf_clear(scratch);
    if (record->path_size > 0)
        sbox_buf_add(scratch, record->path, record->path_size);
    else
        sbox_buf_add_str(scratch, record->type == SBOX_ENTRY_DIRECTORY ? "." : "content");
    sbox_buf_add_byte(scratch, 0);
    return sbox_buf_failed(scratch) ? NULL : scratch->data;
}

bool sbox_unit_archived(const struct sbox_record *record)
{
    return record->type == SBOX_ENTRY_FILE || record->type == SBOX_ENTRY_DIRECTORY ||
           record->type == SBOX_ENTRY_LINK;
}

int sbox_unit_errno(struct archive *a, int otherwise)
{
    int code = archive_errno(a);
    return code > 0 && code < 4096 ? -code : -otherwise;
}
