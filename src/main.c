/* The only file of sbox that exits. */
#include "base/args.h"
#include "base/error.h"
#include "cli/cli.h"

#include <fcntl.h>
#include <unistd.h>

/* A caller may have closed descriptors 0 to 2. Whatever is opened next would take such a number,
 * and the next message would be written into it: the database, say. /dev/null stands in. */
static int fill_standard_descriptors(void)
{
    int fd;
    do {
        /* Not CLOEXEC: a command that is run needs them just as much. */
        fd = open("/dev/null", O_RDWR); /* NOLINT(android-cloexec-open) */
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0)
        return -errno;
    (void)close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    if (fill_standard_descriptors() < 0)
        _exit(SBOX_EXIT_FAILED);
    sbox_args_remember(argc, argv);
    return sbox_cli(argc, argv);
}
