/* package.json: whatever the bytes, an answer with terminated strings and well-formed hooks. */
#include "base/banned.h"
#include "store/pkgjson.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sbox_pkgjson_reader *reader;
    if (!reader && sbox_pkgjson_reader_new(&reader, NULL) < 0)
        abort();
    _cleanup_pkgjson_ struct sbox_pkgjson p = {0};
    if (sbox_pkgjson_read(reader, data, size, &p, NULL) < 0)
        abort(); /* contents are never an error */
    size_t strings = 0;
    for (size_t i = 0; i < p.hooks.size; i++)
        strings += p.hooks.data[i] == '\0';
    if (strings % 2 != 0 || strlen(p.name) > size || strlen(p.version) > size)
        abort();
    return 0;
}
