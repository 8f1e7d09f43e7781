#include "cli/cli.h"

int sbox_cmd_doctor(const struct sbox_options *o)
{
    (void)o;
    sbox_say("doctor is not built yet");
    return SBOX_EXIT_DIFFERS;
}
