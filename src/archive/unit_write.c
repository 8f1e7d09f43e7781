/* A unit into a tar.zst.
 *
 * The archive is the same for the same records, whoever makes it when: no owner, no time. Names are
 * the raw bytes of the file system (hdrcharset=BINARY). Every file is opened without following a
 * link, below the unit's directory, and hashed while it is archived: what does not have the digest
 * of its record has changed since, and there is no archive. */
#include "archive/reach.h"
#include "archive/unit.h"
#include "base/cleanup.h"
#include "base/fd.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

struct writer {
    struct sbox_unit_tools *tools;
    struct archive *archive;
    struct archive_entry *entry;
    int directory;
    uint64_t bytes;
};

static const char changed[] = "changed while it was locked";

static int open_archive(struct archive *a, int output)
{
    if (archive_write_set_format_pax_restricted(a) != ARCHIVE_OK ||
        archive_write_set_format_option(a, "pax", "hdrcharset", "BINARY") != ARCHIVE_OK ||
        archive_write_add_filter_zstd(a) != ARCHIVE_OK ||
        archive_write_set_filter_option(a, "zstd", "compression-level", "3") != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(a, SBOX_UNIT_BUFFER) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
        archive_write_open_fd(a, output) != ARCHIVE_OK)
        return sbox_unit_errno(a, ENOTSUP);
    return 0;
}

static int open_file(const struct writer *w, const struct sbox_record *record)
{
    if (record->path_size == 0)
        return fcntl(w->directory, F_DUPFD_CLOEXEC, 0);
    return sbox_reach(w->directory, record->path, record->path_size,
                      O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

/* Exactly record->size bytes with exactly that digest, then the end. */
static int copy_content(struct writer *w, const struct sbox_record *record, int fd)
{
    struct sbox_digest now;
    uint64_t left = record->size;
    int r = sbox_sha256_begin(w->tools->hash);
    while (r == 0 && left > 0) {
        size_t most = left < SBOX_UNIT_BUFFER ? (size_t)left : SBOX_UNIT_BUFFER;
        ssize_t n = sbox_read_full(fd, w->tools->buffer, most);
        if (n < 0)
            return (int)n;
        if (n == 0)
            return -EAGAIN;
        r = sbox_sha256_update(w->tools->hash, w->tools->buffer, (size_t)n);
        if (archive_write_data(w->archive, w->tools->buffer, (size_t)n) != n)
            return sbox_unit_errno(w->archive, EIO);
        left -= (uint64_t)n;
    }
    if (r == 0 && sbox_read_full(fd, w->tools->buffer, 1) != 0)
        return -EAGAIN;
    if (r == 0)
        r = sbox_sha256_end(w->tools->hash, &now);
    w->bytes += record->size;
    return r < 0 ? r : memcmp(&now, record->content, sizeof now) == 0 ? 0 : -EAGAIN;
}

static int add_file(struct writer *w, const struct sbox_record *record)
{
    _cleanup_close_ int fd = open_file(w, record);
    struct stat st;
    /* Gone, or replaced by a link, a directory ... */
    if (fd < 0)
        return fd == -ENOENT || fd == -ELOOP || fd == -ENOTDIR || fd == -ENXIO ? -EAGAIN : fd;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return -EAGAIN;
    return copy_content(w, record, fd);
}

static int set_target(struct writer *w, const struct sbox_record *record)
{
    char target[SBOX_RECORD_TARGET_MAX + 1];
    memcpy(target, record->target, record->target_size);
    target[record->target_size] = '\0';
    archive_entry_copy_symlink(w->entry, target);
    return 0;
}

static int add_entry(struct writer *w, const struct sbox_record *record)
{
    const char *name = sbox_unit_name(record, &w->tools->name);
    if (!name)
        return -ENOMEM;
    archive_entry_clear(w->entry);
    archive_entry_copy_pathname(w->entry, name);
    archive_entry_set_perm(w->entry, record->mode);
    archive_entry_set_mtime(w->entry, 0, 0);
    archive_entry_set_size(w->entry, (int64_t)record->size);
    switch (record->type) {
    case SBOX_ENTRY_FILE:
        archive_entry_set_filetype(w->entry, AE_IFREG);
        break;
    case SBOX_ENTRY_DIRECTORY:
        archive_entry_set_filetype(w->entry, AE_IFDIR);
        break;
    default:
        archive_entry_set_filetype(w->entry, AE_IFLNK);
        (void)set_target(w, record);
        break;
    }
    int r = archive_write_header(w->archive, w->entry);
    if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
        return sbox_unit_errno(w->archive, EIO);
    return record->type == SBOX_ENTRY_FILE ? add_file(w, record) : 0;
}

int sbox_unit_write(struct sbox_unit_tools *tools, const struct sbox_unit *unit, int directory,
                    int output, uint64_t *ret_bytes, struct sbox_unit_failure *failure)
{
    struct writer w = {.tools = tools,
                       .archive = archive_write_new(),
                       .entry = archive_entry_new(),
                       .directory = directory};
    int r = w.archive && w.entry ? open_archive(w.archive, output) : -ENOMEM;
    for (uint32_t i = 0; r == 0 && i < unit->count; i++) {
        failure->record = i;
        if (sbox_unit_archived(&unit->records[i]))
            r = add_entry(&w, &unit->records[i]);
    }
    failure->why = r == -EAGAIN ? changed : NULL;
    if (r == 0) {
        failure->record = SBOX_ARCHIVE_NO_RECORD;
        r = archive_write_close(w.archive) == ARCHIVE_OK ? 0 : sbox_unit_errno(w.archive, EIO);
    } else if (w.archive) {
        (void)archive_write_fail(w.archive); /* else freeing it would try to finish the file */
    }
    archive_entry_free(w.entry);
    (void)archive_write_free(w.archive);
    *ret_bytes = w.bytes;
    return r;
}
