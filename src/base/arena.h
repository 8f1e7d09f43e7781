/* Memory that is given back all at once: for the many small pieces of one walk or one manifest.
 * Zero-initialise to start. Not for use by two threads. */
#ifndef SBOX_BASE_ARENA_H
#define SBOX_BASE_ARENA_H

#include <stddef.h>

struct sbox_arena {
    struct sbox_arena_block *blocks;
    char *at;
    size_t left;
};

/* Aligned for any type, not cleared; NULL when out of memory. */
void *sbox_arena_alloc(struct sbox_arena *a, size_t size);
void *sbox_arena_zalloc(struct sbox_arena *a, size_t count, size_t size);
/* A copy with a NUL behind it. */
char *sbox_arena_copy(struct sbox_arena *a, const void *data, size_t size);
/* Takes over all memory of `from`, which is empty then. */
void sbox_arena_join(struct sbox_arena *a, struct sbox_arena *from);
void sbox_arena_release(struct sbox_arena *a);

#endif
