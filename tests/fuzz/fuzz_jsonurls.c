/* Texts under a key of a hostile JSON document. */
#include "store/jsonurls.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int each(const char *text, size_t size, void *context)
{
    size_t *sum = context;
    for (size_t i = 0; i < size; i++)
        *sum += (uint8_t)text[i];
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t sum = 0;
    (void)sbox_jsonurls_walk((const char *)data, size, "resolved", each, &sum, NULL);
    return 0;
}
