/* A scratch directory for one test, and short ways to put things into it. Only for tests: failures
 * are cmocka assertions. */
#ifndef SBOX_TESTS_SCRATCH_H
#define SBOX_TESTS_SCRATCH_H

#include "base/banned.h"

#include <stddef.h>

struct scratch {
    char path[128]; /* canonical */
    int fd;
    int open_fds; /* when the test began */
};

int scratch_setup(void **state);    /* *state is a struct scratch */
int scratch_teardown(void **state); /* removes it; fails when the test leaked a descriptor */

/* All names are relative to the scratch directory; parents are made. */
void scratch_mkdir(const struct scratch *s, const char *name);
void scratch_write(const struct scratch *s, const char *name, const char *text);
void scratch_write_bytes(const struct scratch *s, const char *name, const void *data, size_t size);
void scratch_link(const struct scratch *s, const char *name, const char *target);
void scratch_remove(const struct scratch *s, const char *name); /* a whole tree */
/* The absolute name, in one of a few static slots. */
const char *scratch_path(const struct scratch *s, const char *name);

#endif
