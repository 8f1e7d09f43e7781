#include "sandbox/build.h"

#include <sched.h>

int sbox_plan_build(const struct sbox_policy *policy, const struct sbox_facts *facts,
                    struct sbox_plan *ret, struct sbox_error *err)
{
    struct sbox_plan plan = {
        .namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                      CLONE_NEWUTS | CLONE_NEWCGROUP,
        .undumpable = true,
    };
    if (policy->host_network)
        plan.namespaces &= ~(uint64_t)CLONE_NEWNET;
    int r = sbox_plan_system(&plan, facts);
    if (r == 0)
        r = sbox_plan_network(&plan, policy, facts);
    if (r == 0)
        r = sbox_plan_home(&plan, policy, facts);
    if (r == 0)
        r = sbox_plan_paths(&plan, policy);
    if (r == 0)
        r = sbox_plan_workspace(&plan, policy);
    if (r == 0)
        r = sbox_plan_command(&plan, policy, facts);
    if (r < 0) {
        sbox_plan_release(&plan);
        return sbox_error_set(err, -r, "plan the sandbox");
    }
    *ret = plan;
    return 0;
}
