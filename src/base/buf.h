/* A growable byte buffer. Errors are sticky: append as often as you like, then look once with
 * sbox_buf_failed(); a failed buffer ignores further appends. Zero-initialise to start. */
#ifndef SBOX_BASE_BUF_H
#define SBOX_BASE_BUF_H

#include "base/banned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sbox_buf {
    char *data;
    size_t size;
    size_t room;
    bool failed; /* out of memory */
};

void sbox_buf_release(struct sbox_buf *b);
void sbox_buf_clear(struct sbox_buf *b); /* keeps the memory */
static inline bool sbox_buf_failed(const struct sbox_buf *b)
{
    return b->failed;
}

void sbox_buf_add(struct sbox_buf *b, const void *data, size_t size);
void sbox_buf_add_byte(struct sbox_buf *b, uint8_t byte);
void sbox_buf_add_str(struct sbox_buf *b, const char *s);
void sbox_buf_add_le32(struct sbox_buf *b, uint32_t v);
void sbox_buf_add_le64(struct sbox_buf *b, uint64_t v);
void sbox_buf_add_base64(struct sbox_buf *b, const void *data, size_t size); /* RFC 4648, 4. */
void sbox_buf_addf(struct sbox_buf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The contents as a string that belongs to the caller; NULL when out of memory. */
char *sbox_buf_take_str(struct sbox_buf *b);

#define _cleanup_buf_ __attribute__((cleanup(sbox_buf_release)))

/* The opposite direction: a bounded reader of bytes from outside. Every read past the end sets
 * `failed` and yields zeros, so that a parser looks once at the end of a record. */
struct sbox_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

static inline struct sbox_reader sbox_reader_of(const void *data, size_t size)
{
    const uint8_t *p = data;
    return (struct sbox_reader){.at = p, .end = p + size, .failed = false};
}
static inline size_t sbox_reader_left(const struct sbox_reader *r)
{
    return (size_t)(r->end - r->at);
}
uint8_t sbox_reader_byte(struct sbox_reader *r);
uint32_t sbox_reader_le32(struct sbox_reader *r);
uint64_t sbox_reader_le64(struct sbox_reader *r);
/* A view of the next `size` bytes, or NULL. */
const void *sbox_reader_bytes(struct sbox_reader *r, size_t size);

#endif
