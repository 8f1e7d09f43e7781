#include "cli/cli.h"

int sbox_cmd_verify(const struct sbox_options *o)
{
    (void)o;
    sbox_say("verify is not built yet");
    return SBOX_EXIT_UNKNOWN;
}
