/* A writer of JSON (RFC 8259) into a buffer. Commas are its own business; keys and strings are
 * escaped; the text is UTF-8 whatever the input is. Nesting up to 32 levels. */
#ifndef SBOX_CLI_JSON_H
#define SBOX_CLI_JSON_H

#include "base/buf.h"

#include <stdint.h>

struct sbox_json {
    struct sbox_buf *out;
    uint32_t filled; /* bit n: the container at depth n has a member */
    unsigned depth;
};

static inline struct sbox_json sbox_json_to(struct sbox_buf *out)
{
    return (struct sbox_json){.out = out};
}

/* A `key` is NULL inside an array and at the top. */
void sbox_json_object(struct sbox_json *j, const char *key);
void sbox_json_array(struct sbox_json *j, const char *key);
void sbox_json_end_object(struct sbox_json *j);
void sbox_json_end_array(struct sbox_json *j);

void sbox_json_null(struct sbox_json *j, const char *key);
void sbox_json_bool(struct sbox_json *j, const char *key, bool value);
void sbox_json_int(struct sbox_json *j, const char *key, int64_t value);
/* Digits beyond 2^53 are written out; a reader that keeps doubles rounds them. */
void sbox_json_uint(struct sbox_json *j, const char *key, uint64_t value);
/* Bytes that are not UTF-8 become U+FFFD. NULL writes null. */
void sbox_json_string(struct sbox_json *j, const char *key, const char *value);
void sbox_json_string_n(struct sbox_json *j, const char *key, const char *value, size_t size);
/* A value that is JSON already. */
void sbox_json_raw(struct sbox_json *j, const char *key, const char *text, size_t size);
/* A name from the file system: the same, and where it is not UTF-8 a second member KEY_b64 with
 * the exact bytes in base64. Only inside an object. */
void sbox_json_path(struct sbox_json *j, const char *key, const char *path, size_t size);

#endif
