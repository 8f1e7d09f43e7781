/* Runs a fuzz target over files, for compilers without libFuzzer. */
#include "base/cleanup.h"
#include "base/fd.h"

#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        _cleanup_free_ char *data = NULL;
        size_t size = 0;
        int r = sbox_read_file_at(AT_FDCWD, argv[i], 16 << 20, &data, &size);
        if (r < 0) {
            (void)fprintf(stderr, "%s: %s\n", argv[i], strerror(-r));
            return 1;
        }
        (void)LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    }
    (void)printf("%d inputs\n", argc - 1);
    return argc > 1 ? 0 : 1;
}
