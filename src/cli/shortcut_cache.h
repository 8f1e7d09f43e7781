/* What a client answered when it was asked for its registry, kept in the data directory
 * (`clients`): starting npm takes longer than all else before a run. An answer holds for one
 * program, known by path, inode, size and time, and for the settings that lie beside it. */
#ifndef SBOX_CLI_SHORTCUT_CACHE_H
#define SBOX_CLI_SHORTCUT_CACHE_H

#include <stdbool.h>

/* Names the program of the caller's PATH and its state; NULL when it cannot be told, or when the
 * environment points it at settings of its own: then nothing is kept. */
char *sbox_shortcut_cache_key(const char *program);
/* The URL that was kept for the key, or NULL. `data_fd`: the data directory, -1 for none. */
char *sbox_shortcut_cache_get(int data_fd, const char *key);
/* Best effort: what cannot be kept is asked again. */
void sbox_shortcut_cache_put(int data_fd, const char *key, const char *url);

#endif
