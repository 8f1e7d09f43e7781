/* Files of a unit out of its tar.zst.
 *
 * Nothing of the archive is believed. Its entries must be those that sbox-archive would have
 * written for these records, one by one: type, name, mode, size, target. `..`, an absolute name, a
 * hard link, a device, a second entry of one name, a file that is larger than recorded, all of that
 * is the same thing here: not the archive of these records. And names lead nowhere: what comes out
 * goes into a descriptor that sbox opened, and counts only when its digest is the recorded one. */
#include "archive/unit.h"
#include "base/cleanup.h"
#include "base/fd.h"

#include <archive.h>
#include <archive_entry.h>

static const char foreign[] = "the snapshot is damaged or was altered";

int sbox_unit_reader_init(struct sbox_unit_reader *r, const struct sbox_unit *unit, int source,
                          struct sbox_unit_failure *failure)
{
    *r = (struct sbox_unit_reader){.archive = archive_read_new(), .unit = unit};
    if (!r->archive)
        return -ENOMEM;
    if (archive_read_support_filter_zstd(r->archive) != ARCHIVE_OK ||
        archive_read_support_format_tar(r->archive) != ARCHIVE_OK)
        return -ENOTSUP;
    if (archive_read_open_fd(r->archive, source, SBOX_UNIT_BUFFER) == ARCHIVE_OK)
        return 0;
    failure->why = foreign;
    return -EBADMSG;
}

void sbox_unit_reader_release(struct sbox_unit_reader *r)
{
    if (r->archive)
        (void)archive_read_free(r->archive);
    *r = (struct sbox_unit_reader){0};
}

static unsigned filetype(const struct sbox_record *record)
{
    return record->type == SBOX_ENTRY_FILE        ? AE_IFREG
           : record->type == SBOX_ENTRY_DIRECTORY ? AE_IFDIR
                                                  : AE_IFLNK;
}

/* A directory's name has a slash behind it in a tar. */
static bool same_name(const char *found, const char *wanted, bool is_directory)
{
    size_t n = strlen(wanted);
    if (!found || strncmp(found, wanted, n) != 0)
        return false;
    return found[n] == '\0' || (is_directory && found[n] == '/' && found[n + 1] == '\0');
}

static bool same_target(const char *found, const struct sbox_record *record)
{
    if (record->type != SBOX_ENTRY_LINK)
        return found == NULL;
    return found && strlen(found) == record->target_size &&
           memcmp(found, record->target, record->target_size) == 0;
}

static bool matches(struct archive_entry *e, const struct sbox_record *record, const char *name)
{
    bool is_file = record->type == SBOX_ENTRY_FILE;
    return archive_entry_filetype(e) == filetype(record) && !archive_entry_hardlink(e) &&
           archive_entry_perm(e) == record->mode &&
           (!is_file ||
            (archive_entry_size_is_set(e) && archive_entry_size(e) == (int64_t)record->size)) &&
           same_target(archive_entry_symlink(e), record) &&
           same_name(archive_entry_pathname(e), name, record->type == SBOX_ENTRY_DIRECTORY);
}

/* Steps to the entry of the next record. */
static int step(struct sbox_unit_reader *r, struct sbox_unit_tools *tools)
{
    struct archive_entry *entry = NULL;
    const struct sbox_record *record = &r->unit->records[r->next++];
    const char *name = sbox_unit_name(record, &tools->name);
    if (!name)
        return -ENOMEM;
    int got = archive_read_next_header(r->archive, &entry);
    if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
        return archive_errno(r->archive) == ENOMEM ? -ENOMEM : -EBADMSG;
    return matches(entry, record, name) ? 0 : -EBADMSG;
}

static int copy_content(struct sbox_unit_reader *r, struct sbox_unit_tools *tools,
                        const struct sbox_record *record, int output)
{
    struct sbox_digest now;
    uint64_t left = record->size;
    int result = sbox_sha256_begin(tools->hash);
    while (result == 0) {
        ssize_t n = archive_read_data(r->archive, tools->buffer, SBOX_UNIT_BUFFER);
        if (n == 0)
            break;
        if (n < 0 || (uint64_t)n > left)
            return -EBADMSG;
        left -= (uint64_t)n;
        result = sbox_sha256_update(tools->hash, tools->buffer, (size_t)n);
        if (result == 0)
            result = sbox_write_full(output, tools->buffer, (size_t)n);
    }
    if (result == 0)
        result = sbox_sha256_end(tools->hash, &now);
    if (result < 0)
        return result;
    return left == 0 && memcmp(&now, record->content, sizeof now) == 0 ? 0 : -EBADMSG;
}

static int take(struct sbox_unit_reader *r, struct sbox_unit_tools *tools, uint64_t index,
                int output)
{
    if (index < r->next || index >= r->unit->count ||
        r->unit->records[index].type != SBOX_ENTRY_FILE)
        return -EINVAL;
    while (r->next <= index) {
        if (!sbox_unit_archived(&r->unit->records[r->next])) {
            r->next++;
            continue;
        }
        int result = step(r, tools);
        if (result < 0)
            return result;
    }
    return copy_content(r, tools, &r->unit->records[index], output);
}

int sbox_unit_reader_take(struct sbox_unit_reader *r, struct sbox_unit_tools *tools, uint64_t index,
                          int output, struct sbox_unit_failure *failure)
{
    int result = take(r, tools, index, output);
    *failure =
        (struct sbox_unit_failure){.record = index, .why = result == -EBADMSG ? foreign : NULL};
    return result;
}
