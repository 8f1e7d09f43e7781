#include "base/buf.h"

#include <stdarg.h>

void sbox_buf_release(struct sbox_buf *b)
{
    free(b->data);
    *b = (struct sbox_buf){0};
}

void sbox_buf_clear(struct sbox_buf *b)
{
    b->size = 0;
    b->failed = false;
}

static bool reserve(struct sbox_buf *b, size_t more)
{
    if (b->failed)
        return false;
    if (more <= b->room - b->size)
        return true;
    size_t room = b->room ? b->room : 256;
    while (room - b->size < more) {
        if (room > SIZE_MAX / 2) {
            b->failed = true;
            return false;
        }
        room *= 2;
    }
    char *grown = realloc(b->data, room);
    if (!grown) {
        b->failed = true;
        return false;
    }
    b->data = grown;
    b->room = room;
    return true;
}

void sbox_buf_add(struct sbox_buf *b, const void *data, size_t size)
{
    if (size > 0 && reserve(b, size)) {
        memcpy(b->data + b->size, data, size);
        b->size += size;
    }
}

void sbox_buf_add_byte(struct sbox_buf *b, uint8_t byte)
{
    sbox_buf_add(b, &byte, 1);
}

void sbox_buf_add_str(struct sbox_buf *b, const char *s)
{
    sbox_buf_add(b, s, strlen(s));
}

void sbox_buf_add_le32(struct sbox_buf *b, uint32_t v)
{
    uint8_t raw[4];
    for (int i = 0; i < 4; i++)
        raw[i] = (uint8_t)(v >> (8 * i));
    sbox_buf_add(b, raw, sizeof raw);
}

void sbox_buf_add_le64(struct sbox_buf *b, uint64_t v)
{
    sbox_buf_add_le32(b, (uint32_t)v);
    sbox_buf_add_le32(b, (uint32_t)(v >> 32));
}

void sbox_buf_addf(struct sbox_buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n < 0) {
        b->failed = true;
    } else if (reserve(b, (size_t)n + 1)) {
        (void)vsnprintf(b->data + b->size, (size_t)n + 1, format, again);
        b->size += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

char *sbox_buf_take_str(struct sbox_buf *b)
{
    sbox_buf_add_byte(b, 0);
    if (b->failed)
        return NULL;
    char *s = b->data;
    *b = (struct sbox_buf){0};
    return s;
}

const void *sbox_reader_bytes(struct sbox_reader *r, size_t size)
{
    if (r->failed || sbox_reader_left(r) < size) {
        r->failed = true;
        return NULL;
    }
    const void *p = r->at;
    r->at += size;
    return p;
}

uint8_t sbox_reader_byte(struct sbox_reader *r)
{
    const uint8_t *p = sbox_reader_bytes(r, 1);
    return p ? *p : 0;
}

uint32_t sbox_reader_le32(struct sbox_reader *r)
{
    const uint8_t *p = sbox_reader_bytes(r, 4);
    if (!p)
        return 0;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint64_t sbox_reader_le64(struct sbox_reader *r)
{
    uint64_t low = sbox_reader_le32(r);
    uint64_t high = sbox_reader_le32(r);
    return low | high << 32;
}

void sbox_buf_add_base64(struct sbox_buf *b, const void *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i += 3) {
        size_t have = size - i < 3 ? size - i : 3;
        uint32_t v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < have ? bytes[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            sbox_buf_add_byte(b, k <= have ? (uint8_t)digits[v >> (18 - 6 * k) & 63] : '=');
    }
}
