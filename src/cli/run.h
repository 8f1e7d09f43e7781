/* `sbox run` in parts: what is gathered (run_policy.c), whether the trees allow it (run_trees.c),
 * what is said afterwards (run_report.c). */
#ifndef SBOX_CLI_RUN_H
#define SBOX_CLI_RUN_H

#include "cli/options.h"
#include "cli/run_network.h"
#include "cli/session.h"
#include "lock/verify.h"
#include "project/install_verb.h"
#include "sandbox/facts.h"
#include "sandbox/home_caches.h"
#include "sandbox/policy.h"
#include "sandbox/protect.h"
#include "sandbox/sandbox.h"

struct sbox_run {
    struct sbox_session session;
    struct sbox_verify_result verified;
    struct sbox_policy_tree *trees;
    struct sbox_policy_path *paths;
    struct sbox_protects protects;
    struct sbox_strv environment;
    struct sbox_env_report dropped;
    struct sbox_facts facts;
    struct sbox_policy policy;
    struct sbox_run_network network;
    struct sbox_cachedir cache_dir;
    struct sbox_home_caches caches;
    bool keep_environment;
    bool install;    /* an install run */
    bool may_differ; /* ... that starts over a tree that is not what was locked */
};

/* Is it an install run, by option or by the command's verb? */
void sbox_run_judge_install(struct sbox_run *run, const struct sbox_options *o);

/* At the end of an install run: what changed by package, and how to accept it. */
void sbox_run_say_installed(struct sbox_run *run);
void sbox_run_say_no_network(const struct sbox_run *run, int status);

/* The trees against the manifest. 0 when a run may boot; SBOX_EXIT_REFUSED when it may not, said on
 * stderr; SBOX_EXIT_FAILED when it could not be told. */
int sbox_run_check_trees(struct sbox_run *run, const struct sbox_options *o);

/* Fills run->policy from everything before. 0 or -errno. */
int sbox_run_make_policy(struct sbox_run *run, const struct sbox_options *o,
                         struct sbox_error *err);

/* --dry-run: the policy and why, on stdout. */
int sbox_run_print(const struct sbox_run *run, const struct sbox_plan *plan);

/* What should be known before boot, and after exit. */
void sbox_run_say_before(const struct sbox_run *run);
void sbox_run_say_after(const struct sbox_run *run, const struct sbox_sandbox_result *result);

/* Records the run's connections, if it had any, with sbox's exit status. */
void sbox_run_journal(struct sbox_run *run, int status);

/* What the test programs change; zero in sbox itself. */
struct sbox_run_changes {
    sbox_sandbox_filter *filter; /* of the plan */
    void (*policy)(struct sbox_policy *policy, void *context);
    void *context;
    bool keep_environment; /* the scrubber is no step of the plan */
};

int sbox_run_with(const struct sbox_options *o, const struct sbox_run_changes *changes);

#endif
