/* The scan's cache: refused, or a tree that encodes to the same bytes. */
#include "project/scan_node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sbox_scan_node *node = sbox_scan_node_decode(data, size);
    if (!node)
        return 0;
    _cleanup_buf_ struct sbox_buf again = {0};
    sbox_scan_node_encode(&again, node);
    if (again.size != size || memcmp(again.data, data, size) != 0)
        abort();
    sbox_scan_node_free(node);
    return 0;
}
