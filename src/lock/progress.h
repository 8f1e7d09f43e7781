/* How far a walk is. Called a few times a second from the thread that called lock or verify. */
#ifndef SBOX_LOCK_PROGRESS_H
#define SBOX_LOCK_PROGRESS_H

#include <stdint.h>

struct sbox_progress {
    uint64_t entries;       /* seen so far */
    uint64_t bytes;         /* hashed so far */
    uint64_t total_entries; /* as far as the last lock tells; 0: not known */
    uint64_t total_bytes;
};

typedef void sbox_progress_fn(const struct sbox_progress *progress, void *context);

#endif
