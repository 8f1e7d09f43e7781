#include "cli/cli.h"

int sbox_cmd_lock(const struct sbox_options *o)
{
    (void)o;
    sbox_say("lock is not built yet");
    return SBOX_EXIT_UNKNOWN;
}
