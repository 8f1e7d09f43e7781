/* A list of strings that owns its members; always NULL-terminated once it holds one, so that
 * `items` can be handed to execve. Zero-initialise to start. */
#ifndef SBOX_BASE_STRV_H
#define SBOX_BASE_STRV_H

#include "base/banned.h"

#include <stdbool.h>
#include <stddef.h>

struct sbox_strv {
    char **items;
    size_t count;
    size_t room;
};

void sbox_strv_release(struct sbox_strv *v);
int sbox_strv_add(struct sbox_strv *v, const char *s); /* copies; 0 or -ENOMEM */
int sbox_strv_add_take(struct sbox_strv *v, char *s);  /* owns s, also on failure */
int sbox_strv_addf(struct sbox_strv *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool sbox_strv_contains(const struct sbox_strv *v, const char *s);

#define _cleanup_strv_ __attribute__((cleanup(sbox_strv_release)))

bool sbox_str_starts(const char *s, const char *prefix);
bool sbox_str_ends(const char *s, const char *suffix);
/* Is `path` `dir` itself or below it? Both absolute and canonical; "/w" does not hold "/w-2". */
bool sbox_path_within(const char *path, const char *dir);
/* The part of `path` below `dir` without a leading slash ("" for dir itself); NULL if outside. */
const char *sbox_path_below(const char *path, const char *dir);
/* Decimal digits only, whole string, at most `max`; 0 or -EINVAL / -ERANGE. */
int sbox_parse_u64(const char *s, unsigned long long max, unsigned long long *ret);

#endif
