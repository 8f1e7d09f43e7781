/* treedigest DIR: the two digests of a directory as sbox computes them, for comparison with
 * tests/helpers/fingerprint.py, which computes them from docs/fingerprint.md alone. */
#include "base/cleanup.h"
#include "base/escape.h"
#include "lock/collect.h"

#include <fcntl.h>

static void print(const char *what, const struct sbox_digest *digest)
{
    char hex[2 * SBOX_SHA256_SIZE + 1];
    sbox_hex(digest->bytes, sizeof digest->bytes, hex);
    (void)printf("%s %s\n", what, hex);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: treedigest DIR\n");
        return 2;
    }
    _cleanup_close_ int fd = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_walk walk = {0};
    struct sbox_collected c = {0};
    const struct sbox_walk_request request = {.root = fd, .label = argv[1], .skip_caches = true};
    int r = sbox_walk_run(&request, &walk, &err);
    if (r == 0)
        r = sbox_collect(&walk, SBOX_TREE_NODE_MODULES, fd, &c, &err);
    if (r < 0) {
        (void)fprintf(stderr, "treedigest: %s\n", err.message);
        return 1;
    }
    print("fingerprint", &c.tree.fingerprint);
    print("local", &c.tree.local);
    sbox_collected_release(&c);
    sbox_walk_release(&walk);
    return 0;
}
