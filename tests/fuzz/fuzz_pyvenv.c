/* pyvenv.cfg: an error, or two strings. */
#include "project/pyvenv.h"

#include "base/error.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sbox_pyvenv v = {NULL, NULL};
    if (sbox_pyvenv_parse((const char *)data, size, &v) == 0)
        sbox_pyvenv_release(&v);
    return 0;
}
