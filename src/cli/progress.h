/* One line on a terminal that says how far lock or verify is. Appears only when the work takes
 * longer than a second and stderr is a terminal; is gone when the work is done. */
#ifndef SBOX_CLI_PROGRESS_H
#define SBOX_CLI_PROGRESS_H

#include "base/buf.h"
#include "lock/progress.h"

#include <stdbool.h>

struct sbox_progress_line {
    const char *doing; /* "locking" */
    uint64_t began_ms; /* CLOCK_MONOTONIC */
    uint64_t drawn_ms;
    bool wanted;
    bool visible;
};

void sbox_progress_begin(struct sbox_progress_line *line, const char *doing, bool quiet);
/* A sbox_progress_fn; `context` is the line. */
void sbox_progress_draw(const struct sbox_progress *progress, void *context);
void sbox_progress_end(struct sbox_progress_line *line);

/* Pure: "locking: 12,345 of 82,868 entries, 412 MB of 1.1 GB, 620 MB/s, 1 s left". Totals are those
 * of the last lock: when they are passed they are left out, and so is the time. */
void sbox_progress_text(struct sbox_buf *out, const char *doing,
                        const struct sbox_progress *progress, uint64_t elapsed_ms);

#endif
