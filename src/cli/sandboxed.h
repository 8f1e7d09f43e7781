/* Running another program for sbox's own needs: as `sbox run --offline` runs it, in an empty
 * directory, with nothing of the project in sight, and with bounds on its answer. */
#ifndef SBOX_CLI_SANDBOXED_H
#define SBOX_CLI_SANDBOXED_H

#include "base/buf.h"

enum { SBOX_SANDBOXED_WORDS = 24, SBOX_SANDBOXED_FDS = 2, SBOX_SANDBOXED_FIRST_FD = 3 };

struct sbox_sandboxed {
    const char *const *argv;     /* NULL-terminated */
    int fds[SBOX_SANDBOXED_FDS]; /* are 3 and 4 inside */
    size_t fd_count;
    size_t output_max; /* what is kept of standard output and error */
    int milliseconds;
    bool cut; /* filled in: there was more */
};

/* Exit status of the program, as sbox run gives it; -ETIMEDOUT, or what kept it from starting. */
int sbox_sandboxed_run(struct sbox_sandboxed *s, struct sbox_buf *out);

#endif
