/* git's index: an error, or entries whose names have a length. */
#include "project/git.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int each(const char *path, size_t size, unsigned mode, void *context)
{
    size_t *total = context;
    (void)mode;
    if (size == 0 || memchr(path, '\0', size))
        abort();
    *total += size;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t total = 0;
    (void)sbox_git_index_walk(data, size, 20, each, &total, NULL);
    (void)sbox_git_index_walk(data, size, 32, each, &total, NULL);
    return 0;
}
