/* A `.git` file: an error, or a path without NUL and newline. */
#include "project/git.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = NULL;
    if (sbox_git_file_parse((const char *)data, size, &path) == 0 &&
        (path[0] == '\0' || strchr(path, '\n')))
        abort();
    free(path);
    return 0;
}
