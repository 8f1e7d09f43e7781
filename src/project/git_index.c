/* gitformat-index(5): a header, then entries of fixed fields, a name, and padding; version 4 writes
 * each name as "drop n bytes of the last one, then add". Extensions after the entries are not read.
 */
#include "project/git.h"

#include "base/buf.h"

enum { NAME_MAX_SIZE = 1 << 16, FIXED = 40, EXTENDED = 0x4000 };

struct index {
    struct sbox_reader in;
    uint32_t version;
    size_t hash_size;
    struct sbox_buf name;
};

static uint32_t be32(struct sbox_reader *r)
{
    const uint8_t *p = sbox_reader_bytes(r, 4);
    return p ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : 0;
}

/* The variable-length integer of pack files: each continued byte also adds one. */
static bool read_offset(struct sbox_reader *r, uint64_t *ret)
{
    uint8_t byte = sbox_reader_byte(r);
    uint64_t value = byte & 0x7f;
    while ((byte & 0x80) && !r->failed) {
        if (value > UINT32_MAX)
            return false;
        byte = sbox_reader_byte(r);
        value = ((value + 1) << 7) | (byte & 0x7f);
    }
    *ret = value;
    return !r->failed;
}

static bool read_name(struct index *x, size_t begun)
{
    uint64_t drop = 0;
    if (x->version == 4) {
        if (!read_offset(&x->in, &drop) || drop > x->name.size)
            return false;
        x->name.size -= (size_t)drop;
    } else {
        x->name.size = 0;
    }
    size_t left = sbox_reader_left(&x->in);
    const uint8_t *end = memchr(x->in.at, '\0', left < NAME_MAX_SIZE ? left : NAME_MAX_SIZE);
    if (!end || x->name.size > NAME_MAX_SIZE)
        return false;
    sbox_buf_add(&x->name, x->in.at, (size_t)(end - x->in.at));
    x->in.at = end + 1;
    if (x->version == 4)
        return !sbox_buf_failed(&x->name);
    /* Versions 2 and 3: 1 to 8 NULs up to a multiple of eight from the entry's start. */
    size_t length = begun - sbox_reader_left(&x->in);
    size_t pad = (8 - length % 8) % 8;
    return sbox_reader_bytes(&x->in, pad) && !sbox_buf_failed(&x->name);
}

static int read_entry(struct index *x, sbox_git_index_each *each, void *context)
{
    size_t begun = sbox_reader_left(&x->in);
    const uint8_t *fixed = sbox_reader_bytes(&x->in, FIXED);
    (void)sbox_reader_bytes(&x->in, x->hash_size);
    const uint8_t *flags = sbox_reader_bytes(&x->in, 2);
    if (!fixed || !flags)
        return -EBADMSG;
    uint32_t mode = (uint32_t)fixed[26] << 8 | fixed[27];
    if ((flags[0] << 8) & EXTENDED) {
        if (x->version < 3)
            return -EBADMSG;
        (void)sbox_reader_bytes(&x->in, 2);
    }
    if (x->in.failed || !read_name(x, begun) || x->name.size == 0)
        return -EBADMSG;
    return each(x->name.data, x->name.size, mode, context);
}

int sbox_git_index_walk(const void *data, size_t size, size_t hash_size, sbox_git_index_each *each,
                        void *context, struct sbox_error *err)
{
    struct index x = {.in = sbox_reader_of(data, size), .hash_size = hash_size};
    const void *magic = sbox_reader_bytes(&x.in, 4);
    bool good = magic && memcmp(magic, "DIRC", 4) == 0;
    x.version = be32(&x.in);
    uint32_t count = be32(&x.in);
    int r = good && !x.in.failed && x.version >= 2 && x.version <= 4 ? 0 : -EBADMSG;
    for (uint32_t i = 0; r == 0 && i < count; i++)
        r = read_entry(&x, each, context);
    sbox_buf_release(&x.name);
    return r == -EBADMSG ? sbox_error_say(err, EBADMSG, "git's index is damaged") : r;
}
