#include "base/escape.h"

#include <errno.h>

size_t sbox_utf8_next(const char *s, size_t size, uint32_t *ret_cp)
{
    if (size == 0)
        return 0;
    const uint8_t *p = (const uint8_t *)s;
    uint32_t cp;
    size_t n;
    uint32_t least;
    if (p[0] < 0x80) {
        cp = p[0], n = 1, least = 0;
    } else if ((p[0] & 0xe0) == 0xc0) {
        cp = p[0] & 0x1f, n = 2, least = 0x80;
    } else if ((p[0] & 0xf0) == 0xe0) {
        cp = p[0] & 0x0f, n = 3, least = 0x800;
    } else if ((p[0] & 0xf8) == 0xf0) {
        cp = p[0] & 0x07, n = 4, least = 0x10000;
    } else {
        return 0;
    }
    if (n > size)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        cp = cp << 6 | (p[i] & 0x3f);
    }
    if (cp < least || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
        return 0;
    if (ret_cp)
        *ret_cp = cp;
    return n;
}

bool sbox_utf8_valid(const char *s, size_t size)
{
    while (size > 0) {
        size_t n = sbox_utf8_next(s, size, NULL);
        if (n == 0)
            return false;
        s += n;
        size -= n;
    }
    return true;
}

/* Code points that move the cursor, reorder the line or end it. */
static bool unprintable(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) || cp == '\\' || cp == 0x61c ||
           (cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
           (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff || (cp >= 0xfff9 && cp <= 0xfffb) ||
           (cp >= 0xe0000 && cp <= 0xe007f);
}

void sbox_escape(struct sbox_buf *out, const char *s, size_t size)
{
    while (size > 0) {
        uint32_t cp = 0;
        size_t n = sbox_utf8_next(s, size, &cp);
        if (n > 0 && !unprintable(cp)) {
            sbox_buf_add(out, s, n);
        } else if (n == 1 && (cp == '\n' || cp == '\t' || cp == '\r' || cp == '\\')) {
            int name = cp == '\n' ? 'n' : cp == '\t' ? 't' : cp == '\r' ? 'r' : '\\';
            sbox_buf_add_byte(out, '\\');
            sbox_buf_add_byte(out, (uint8_t)name);
        } else {
            n = n > 0 ? n : 1;
            for (size_t i = 0; i < n; i++)
                sbox_buf_addf(out, "\\x%02x", (unsigned)(uint8_t)s[i]);
        }
        s += n;
        size -= n;
    }
}

const char *sbox_esc_n(const char *s, size_t size)
{
    enum { SLOTS = 4, WIDTH = 1024 };
    static _Thread_local char slots[SLOTS][WIDTH];
    static _Thread_local unsigned turn;
    char *slot = slots[turn++ % SLOTS];

    struct sbox_buf b = {0};
    sbox_escape(&b, s, size > WIDTH ? WIDTH : size);
    size_t n = b.size < WIDTH - 4 ? b.size : WIDTH - 4;
    /* Never cut inside a sequence: step back over continuation bytes. */
    if (n < b.size)
        while (n > 0 && ((uint8_t)b.data[n] & 0xc0) == 0x80)
            n--;
    if (n > 0)
        memcpy(slot, b.data, n);
    (void)snprintf(slot + n, WIDTH - n, "%s", n < b.size || size > WIDTH ? "..." : "");
    sbox_buf_release(&b);
    return slot;
}

const char *sbox_esc(const char *s)
{
    return sbox_esc_n(s, strlen(s));
}

void sbox_hex(const uint8_t *bytes, size_t size, char *ret_hex)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        ret_hex[2 * i] = digits[bytes[i] >> 4];
        ret_hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret_hex[2 * size] = '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

int sbox_unhex(const char *hex, uint8_t *ret, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(hex[2 * i]);
        int low = high < 0 ? -1 : hex_digit(hex[2 * i + 1]);
        if (low < 0)
            return -EINVAL;
        ret[i] = (uint8_t)(high << 4 | low);
    }
    return hex[2 * size] == '\0' ? 0 : -EINVAL;
}
