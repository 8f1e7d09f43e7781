/* mountinfo: an error, or mounts with all their fields. The parser works in place, on a copy here.
 */
#include "project/mountinfo.h"

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int each(const struct sbox_mount *m, void *context)
{
    size_t *total = context;
    *total += strlen(m->root) + strlen(m->point) + strlen(m->options) + strlen(m->fstype) +
              strlen(m->super_options);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t total = 0;
    char *copy = malloc(size + 1);
    if (!copy)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    (void)sbox_mountinfo_walk(copy, size, each, &total);
    free(copy);
    return 0;
}
