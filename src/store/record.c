#include "store/record.h"

#include <sys/stat.h>

enum { VERSION = 1, SMALLEST_RECORD = 4 + 1 + 2 + 1 };
static const char magic[4] = {'S', 'B', 'X', 'U'};

uint8_t sbox_entry_type_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return SBOX_ENTRY_FILE;
    case S_IFDIR:
        return SBOX_ENTRY_DIRECTORY;
    case S_IFLNK:
        return SBOX_ENTRY_LINK;
    case S_IFIFO:
        return SBOX_ENTRY_FIFO;
    case S_IFSOCK:
        return SBOX_ENTRY_SOCKET;
    case S_IFCHR:
        return SBOX_ENTRY_CHAR;
    case S_IFBLK:
        return SBOX_ENTRY_BLOCK;
    default:
        return 0;
    }
}

const char *sbox_entry_type_text(uint8_t type)
{
    switch (type) {
    case SBOX_ENTRY_FILE:
        return "file";
    case SBOX_ENTRY_DIRECTORY:
        return "directory";
    case SBOX_ENTRY_LINK:
        return "link";
    case SBOX_ENTRY_FIFO:
        return "fifo";
    case SBOX_ENTRY_SOCKET:
        return "socket";
    case SBOX_ENTRY_CHAR:
    case SBOX_ENTRY_BLOCK:
        return "device";
    default:
        return "unknown";
    }
}

int sbox_path_order(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t n = a_size < b_size ? a_size : b_size;
    size_t i = 0;
    while (i < n && a[i] == b[i])
        i++;
    if (i == n)
        return a_size < b_size ? -1 : a_size > b_size;
    int x = a[i] == '/' ? 0 : (uint8_t)a[i]; /* no name holds a NUL: 0 is free for "/" */
    int y = b[i] == '/' ? 0 : (uint8_t)b[i];
    return x < y ? -1 : 1;
}

void sbox_unit_header(char ret[SBOX_UNIT_HEADER], uint32_t count)
{
    memcpy(ret, magic, sizeof magic);
    ret[4] = VERSION;
    for (int i = 0; i < 4; i++)
        ret[5 + i] = (char)(count >> (8 * i) & 0xff);
}

void sbox_record_encode(struct sbox_buf *out, const struct sbox_record *record)
{
    sbox_buf_add_le32(out, record->path_size);
    sbox_buf_add(out, record->path, record->path_size);
    sbox_buf_add_byte(out, record->type);
    sbox_buf_add_byte(out, (uint8_t)(record->mode & 0xff));
    sbox_buf_add_byte(out, (uint8_t)(record->mode >> 8));
    sbox_buf_add_byte(out, record->xattrs != NULL);
    if (record->xattrs)
        sbox_buf_add(out, record->xattrs, sizeof *record->xattrs);
    if (record->type == SBOX_ENTRY_FILE) {
        sbox_buf_add_le64(out, record->size);
        sbox_buf_add(out, record->content, sizeof *record->content);
    } else if (record->type == SBOX_ENTRY_LINK) {
        sbox_buf_add_le32(out, record->target_size);
        sbox_buf_add(out, record->target, record->target_size);
    }
}

int sbox_unit_count(const void *data, size_t size, uint32_t *ret_count)
{
    if (size > SBOX_UNIT_BYTES_MAX)
        return -EBADMSG;
    struct sbox_reader r = sbox_reader_of(data, size);
    const void *start = sbox_reader_bytes(&r, sizeof magic);
    uint8_t version = sbox_reader_byte(&r);
    uint32_t count = sbox_reader_le32(&r);
    if (r.failed || memcmp(start, magic, sizeof magic) != 0 || version != VERSION)
        return -EBADMSG;
    /* A count that the bytes cannot hold must not become an allocation. */
    if (count > sbox_reader_left(&r) / SMALLEST_RECORD)
        return -EBADMSG;
    *ret_count = count;
    return 0;
}

/* No NUL, no empty, "." or ".." component: such a path could lead out of the unit. */
static bool path_is_canonical(const char *path, size_t size)
{
    if (size == 0)
        return true;
    size_t start = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && path[i] != '/') {
            if (path[i] == '\0')
                return false;
            continue;
        }
        size_t n = i - start;
        if (n == 0 || (n == 1 && path[start] == '.') ||
            (n == 2 && path[start] == '.' && path[start + 1] == '.'))
            return false;
        start = i + 1;
    }
    return true;
}

static bool decode_path(struct sbox_reader *r, struct sbox_record *ret)
{
    ret->path_size = sbox_reader_le32(r);
    ret->path = sbox_reader_bytes(r, ret->path_size);
    return !r->failed && ret->path_size <= SBOX_RECORD_PATH_MAX &&
           path_is_canonical(ret->path, ret->path_size);
}

static bool decode_link(struct sbox_reader *r, struct sbox_record *ret)
{
    uint32_t size = sbox_reader_le32(r);
    if (size == 0 || size > SBOX_RECORD_TARGET_MAX)
        return false;
    ret->target_size = (uint16_t)size;
    ret->target = sbox_reader_bytes(r, size);
    return ret->target && !memchr(ret->target, 0, size) && ret->mode == 0;
}

/* Fixed parts are taken in one piece: this loop is most of what loading a lock costs. */
static bool decode_file(struct sbox_reader *r, struct sbox_record *ret)
{
    const uint8_t *p = sbox_reader_bytes(r, 8 + sizeof *ret->content);
    if (!p)
        return false;
    for (int i = 7; i >= 0; i--)
        ret->size = ret->size << 8 | p[i];
    ret->content = (const void *)(p + 8);
    return true;
}

static bool decode_one(struct sbox_reader *r, struct sbox_record *ret)
{
    *ret = (struct sbox_record){0};
    if (!decode_path(r, ret))
        return false;
    const uint8_t *p = sbox_reader_bytes(r, 4);
    if (!p)
        return false;
    ret->type = p[0];
    ret->mode = (uint16_t)(p[1] | p[2] << 8);
    if (ret->mode > 07777 || p[3] > 1)
        return false;
    if (p[3])
        ret->xattrs = sbox_reader_bytes(r, sizeof *ret->xattrs);
    switch (ret->type) {
    case SBOX_ENTRY_FILE:
        return decode_file(r, ret);
    case SBOX_ENTRY_LINK:
        return decode_link(r, ret);
    case SBOX_ENTRY_DIRECTORY:
    case SBOX_ENTRY_FIFO:
    case SBOX_ENTRY_SOCKET:
    case SBOX_ENTRY_CHAR:
    case SBOX_ENTRY_BLOCK:
        return !r->failed;
    default:
        return false;
    }
}

int sbox_unit_decode(const void *data, size_t size, struct sbox_record *ret_records, uint32_t count)
{
    struct sbox_reader r = sbox_reader_of(data, size);
    (void)sbox_reader_bytes(&r, SBOX_UNIT_HEADER);
    for (uint32_t i = 0; i < count; i++) {
        struct sbox_record *now = &ret_records[i];
        if (!decode_one(&r, now))
            return -EBADMSG;
        const struct sbox_record *last = now - 1;
        if (i > 0 && sbox_path_order(last->path, last->path_size, now->path, now->path_size) >= 0)
            return -EBADMSG;
    }
    return sbox_reader_left(&r) == 0 ? 0 : -EBADMSG;
}
