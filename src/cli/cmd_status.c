#include "cli/cli.h"

int sbox_cmd_status(const struct sbox_options *o)
{
    (void)o;
    sbox_say("status is not built yet");
    return SBOX_EXIT_UNKNOWN;
}
