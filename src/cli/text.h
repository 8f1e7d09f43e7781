/* How numbers, sizes and times are written for people, and colour where it is wanted. */
#ifndef SBOX_CLI_TEXT_H
#define SBOX_CLI_TEXT_H

#include "base/buf.h"
#include "base/sha256.h"

#include <stdint.h>

enum { SBOX_TEXT_SIZE = 48 }; /* holds every result below */

/* Each writes into `ret` and returns it. */
const char *sbox_text_count(uint64_t n, char ret[SBOX_TEXT_SIZE]); /* "82,868" */
const char *sbox_text_bytes(uint64_t n, char ret[SBOX_TEXT_SIZE]); /* "1.1 GB": powers of 1000 */
const char *sbox_text_duration(uint64_t ms, char ret[SBOX_TEXT_SIZE]); /* "0.9 s", "3 min 20 s" */
const char *sbox_text_local_time(int64_t seconds, char ret[SBOX_TEXT_SIZE]); /* minutes, here */
const char *sbox_text_utc(int64_t seconds, char ret[SBOX_TEXT_SIZE]);        /* RFC 3339 */
const char *sbox_text_hex(const struct sbox_digest *digest, char ret[2 * SBOX_SHA256_SIZE + 1]);
/* The first 16 digits: enough for two people to compare. */
const char *sbox_text_short(const struct sbox_digest *digest, char ret[SBOX_TEXT_SIZE]);

/* Appends "1 tree", "3 trees". */
void sbox_text_plural(struct sbox_buf *out, uint64_t n, const char *one, const char *many);
/* Columns that `s` takes on a terminal once it is escaped: code points, near enough. */
size_t sbox_text_width(const char *s);

enum sbox_colour { SBOX_PLAIN, SBOX_GREEN, SBOX_RED, SBOX_YELLOW };
/* Appends `s` in colour where standard output is a terminal and NO_COLOR is unset or empty
 * (no-color.org). */
void sbox_text_colour(struct sbox_buf *out, enum sbox_colour colour, const char *s);

#endif
