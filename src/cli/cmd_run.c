#include "cli/cli.h"

int sbox_cmd_run(const struct sbox_options *o)
{
    (void)o;
    sbox_say("run is not built yet");
    return SBOX_EXIT_FAILED;
}
