/* Policy and facts to plan: pure functions, one file a subject. */
#ifndef SBOX_SANDBOX_BUILD_H
#define SBOX_SANDBOX_BUILD_H

#include "sandbox/facts.h"
#include "sandbox/plan.h"
#include "sandbox/policy.h"

/* The whole plan: 0 or -ENOMEM. */
int sbox_plan_build(const struct sbox_policy *policy, const struct sbox_facts *facts,
                    struct sbox_plan *ret, struct sbox_error *err);

/* The parts, in the order in which they are carried out. */
int sbox_plan_system(struct sbox_plan *plan, const struct sbox_facts *facts);
int sbox_plan_network(struct sbox_plan *plan, const struct sbox_policy *policy,
                      const struct sbox_facts *facts);
int sbox_plan_home(struct sbox_plan *plan, const struct sbox_policy *policy,
                   const struct sbox_facts *facts);
int sbox_plan_caches(struct sbox_plan *plan, const struct sbox_policy *policy); /* part of home */
int sbox_plan_workspace(struct sbox_plan *plan, const struct sbox_policy *policy);
/* Where --keep-cache keeps one cache directory of one tree on the host. 0 or -ENAMETOOLONG. */
int sbox_plan_cache_dir(const char *cache_path, const char *tree, const char *cache, char *ret,
                        size_t size);
int sbox_plan_paths(struct sbox_plan *plan, const struct sbox_policy *policy);
int sbox_plan_command(struct sbox_plan *plan, const struct sbox_policy *policy,
                      const struct sbox_facts *facts);

#endif
