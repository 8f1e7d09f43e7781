/* A git config: an error, or keys with a dot in them. */
#include "project/git.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int each(const char *key, const char *value, void *context)
{
    size_t *keys = context;
    if (!strchr(key, '.'))
        abort();
    *keys += sbox_git_config_key_harmless(key, value);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t keys = 0;
    (void)sbox_git_config_walk((const char *)data, size, each, &keys);
    return 0;
}
