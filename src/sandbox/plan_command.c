/* The steps in the process that becomes the command. The order matters: descriptors are closed
 * while everything is still allowed; no_new_privs is what lets a process without capabilities load
 * the filter and the rule set; capabilities go before seccomp, which refuses what dropping them
 * takes. Landlock's rules repeat the view, which init builds meanwhile: they are last, and the
 * filter lets them through. Nothing of the command's runs before all of them hold. */
#include "sandbox/build.h"

int sbox_plan_command(struct sbox_plan *plan, const struct sbox_policy *policy)
{
    (void)policy;
    static const struct {
        enum sbox_op op;
        enum sbox_layer layer;
    } last[] = {
        {SBOX_OP_NO_CORE, SBOX_LAYER_LIMITS},    {SBOX_OP_CLOSE_FDS, SBOX_LAYER_FDS},
        {SBOX_OP_NO_NEW_PRIVS, SBOX_LAYER_CORE}, {SBOX_OP_DROP_CAPS, SBOX_LAYER_CAPS},
        {SBOX_OP_SECCOMP, SBOX_LAYER_SECCOMP},   {SBOX_OP_LANDLOCK, SBOX_LAYER_LANDLOCK},
    };
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        if (!sbox_plan_add(plan, last[i].op, last[i].layer, NULL, NULL))
            return -ENOMEM;
    return 0;
}
