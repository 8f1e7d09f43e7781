/* The steps in the process that becomes the command. The order matters: descriptors are closed
 * while everything is still allowed; no_new_privs is what lets a process without capabilities load
 * the filter and the rule set; capabilities go before seccomp, which refuses what dropping them
 * takes. Landlock's rules repeat the view, which init builds meanwhile: they are last, and the
 * filter lets them through. Nothing of the command's runs before all of them hold. */
#include "sandbox/build.h"

/* Of a new network namespace it is 1024, whatever the host's is. */
static int add_first_free_port(struct sbox_plan *plan, const struct sbox_policy *policy,
                               const struct sbox_facts *facts)
{
    enum { KERNEL_DEFAULT = 1024 };
    char text[24];
    if (policy->host_network || facts->first_free_port < 0 ||
        facts->first_free_port == KERNEL_DEFAULT)
        return 0;
    (void)snprintf(text, sizeof text, "%ld", facts->first_free_port);
    return sbox_plan_add(plan, SBOX_OP_NET_SYSCTL, SBOX_LAYER_NETNS, text,
                         "sys/net/ipv4/ip_unprivileged_port_start")
               ? 0
               : -ENOMEM;
}

int sbox_plan_command(struct sbox_plan *plan, const struct sbox_policy *policy,
                      const struct sbox_facts *facts)
{
    static const struct {
        enum sbox_op op;
        enum sbox_layer layer;
    } last[] = {
        {SBOX_OP_NO_CORE, SBOX_LAYER_LIMITS},    {SBOX_OP_CLOSE_FDS, SBOX_LAYER_FDS},
        {SBOX_OP_NO_NEW_PRIVS, SBOX_LAYER_CORE}, {SBOX_OP_DROP_CAPS, SBOX_LAYER_CAPS},
        {SBOX_OP_SECCOMP, SBOX_LAYER_SECCOMP},   {SBOX_OP_LANDLOCK, SBOX_LAYER_LANDLOCK},
    };
    int r = add_first_free_port(plan, policy, facts);
    if (r < 0)
        return r;
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        if (!sbox_plan_add(plan, last[i].op, last[i].layer, NULL, NULL))
            return -ENOMEM;
    return 0;
}
