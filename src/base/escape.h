/* Names from outside, made safe to print: a terminal must not obey what a file is called. */
#ifndef SBOX_BASE_ESCAPE_H
#define SBOX_BASE_ESCAPE_H

#include "base/buf.h"

/* Appends `size` bytes of `s`: printable UTF-8 as it is; control characters, C1, DEL, backslash,
 * bidirectional and line-separator code points and bytes that are not UTF-8 as \n, \t, \xHH. */
void sbox_escape(struct sbox_buf *out, const char *s, size_t size);

/* The same into a ring of static per-thread buffers: good for up to 4 uses in one printf. Cut with
 * "..." when longer than about 1,000 bytes. */
const char *sbox_esc(const char *s);
const char *sbox_esc_n(const char *s, size_t size);

/* Length in bytes of the well-formed UTF-8 sequence at `s` (RFC 3629: no surrogates, no overlong
 * forms), 0 if there is none. *ret_cp may be NULL. */
size_t sbox_utf8_next(const char *s, size_t size, uint32_t *ret_cp);
bool sbox_utf8_valid(const char *s, size_t size);

void sbox_hex(const uint8_t *bytes, size_t size, char *ret_hex); /* 2 * size + 1 bytes */
int sbox_unhex(const char *hex, uint8_t *ret, size_t size);      /* exactly 2 * size digits */

#endif
