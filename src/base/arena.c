#include "base/arena.h"

#include "base/banned.h"

#include <stdalign.h>
#include <stdint.h>

enum { BLOCK = 64 << 10, ALIGN = alignof(max_align_t) };

struct sbox_arena_block {
    struct sbox_arena_block *next;
    alignas(max_align_t) char data[];
};

static char *add_block(struct sbox_arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    struct sbox_arena_block *block = malloc(sizeof *block + size);
    if (!block)
        return NULL;
    block->next = a->blocks;
    a->blocks = block;
    return block->data;
}

void *sbox_arena_alloc(struct sbox_arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size > BLOCK / 4)
        return add_block(a, size); /* the current block stays in use */
    if (size > a->left) {
        char *fresh = add_block(a, BLOCK);
        if (!fresh)
            return NULL;
        a->at = fresh;
        a->left = BLOCK;
    }
    void *p = a->at;
    a->at += size;
    a->left -= size;
    return p;
}

void *sbox_arena_zalloc(struct sbox_arena *a, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return NULL;
    void *p = sbox_arena_alloc(a, total);
    return p ? memset(p, 0, total) : NULL;
}

char *sbox_arena_copy(struct sbox_arena *a, const void *data, size_t size)
{
    char *p = sbox_arena_alloc(a, size + 1);
    if (!p)
        return NULL;
    if (size > 0)
        memcpy(p, data, size);
    p[size] = '\0';
    return p;
}

void sbox_arena_join(struct sbox_arena *a, struct sbox_arena *from)
{
    struct sbox_arena_block **last = &a->blocks;
    while (*last)
        last = &(*last)->next;
    *last = from->blocks;
    *from = (struct sbox_arena){0};
}

void sbox_arena_release(struct sbox_arena *a)
{
    while (a->blocks) {
        struct sbox_arena_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
    *a = (struct sbox_arena){0};
}
