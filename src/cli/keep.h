/* Snapshots as a part of `sbox lock`: the lock's keep function, and what is said about it. */
#ifndef SBOX_CLI_KEEP_H
#define SBOX_CLI_KEEP_H

#include "cli/json.h"
#include "cli/snapshots.h"

struct sbox_keep {
    const struct sbox_datadir *datadir;
    bool quiet;
    struct sbox_snapshots snapshots; /* held until the lock is written: gc waits */
    struct sbox_snapshots_made made;
    uint64_t elapsed_ms;
};

/* A sbox_lock_keep_fn; `context` is a struct sbox_keep with snapshots = SBOX_SNAPSHOTS_NONE. */
int sbox_keep_units(const struct sbox_lock_unit *units, size_t count, void *context,
                    struct sbox_error *err);
void sbox_keep_text(struct sbox_buf *out, const struct sbox_keep *keep);
void sbox_keep_json(struct sbox_json *j, const struct sbox_keep *keep); /* "snapshots": {...} */

#endif
