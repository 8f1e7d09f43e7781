/* The nearest right spelling of a mistyped word. */
#ifndef SBOX_CLI_SUGGEST_H
#define SBOX_CLI_SUGGEST_H

#include <stddef.h>

/* Steps from a to b: insert, delete, replace one byte, or swap two neighbours (the "optimal string
 * alignment" distance). Words longer than 32 bytes are as far apart as can be. */
size_t sbox_suggest_distance(const char *a, const char *b);

/* Keeps the nearest of the candidates it is shown. Set `typed`, zero the rest. */
struct sbox_suggest {
    const char *typed;
    const char *best; /* NULL: nothing is near enough to be meant */
    size_t distance;
};

void sbox_suggest_offer(struct sbox_suggest *s, const char *candidate);

#endif
