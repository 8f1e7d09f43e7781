/* Running one command in a sandbox: the supervisor's interface.
 *
 *     supervisor (host) ── clone3 ──► init (pid 1 inside): maps, network, view, seal
 *         │  ▲                          └── fork ──► the command: confined, then exec
 *         │  └── SOCK_SEQPACKET, message.h
 *         └── fork ──► guard (guard.h)
 *
 * Everything started inside dies with init, and init dies with the supervisor.
 */
#ifndef SBOX_SANDBOX_SANDBOX_H
#define SBOX_SANDBOX_SANDBOX_H

#include "sandbox/facts.h"
#include "sandbox/plan.h"
#include "sandbox/policy.h"

struct sbox_sandbox_result {
    bool started;               /* the command was executed */
    int exec_errno;             /* why not; 0 */
    int status;                 /* wait(2) status of the command, once started */
    const char *cannot_run;     /* the command's name, borrowed from the policy */
    struct sbox_strv discarded; /* the first few files written into locked trees */
    size_t discarded_count;     /* all of them, caches apart */
    struct sbox_strv masked_again;
    struct sbox_strv ended_by; /* sentences: why the guard ended the run */
    char *lost;                /* the path whose mount was lost, relative to the workspace; NULL */
    bool read_only_trees;      /* no layer could be put over them */
    bool plain_caches;         /* ... nor over caches (view.h) */
    pid_t ending;              /* init, which may not be gone yet: waited for by release; 0 */
};

/* Seen by tests only: changes the plan before it is carried out. */
typedef void sbox_sandbox_filter(struct sbox_plan *plan, void *context);

/* 0 when the sandbox was built and the command's fate is in *ret; else -errno with a message that
 * names the layer that could not be applied and what to do; the command never ran then. */
int sbox_sandbox_run(const struct sbox_policy *policy, const struct sbox_facts *facts,
                     sbox_sandbox_filter *filter, void *context, struct sbox_sandbox_result *ret,
                     struct sbox_error *err);
void sbox_sandbox_result_release(struct sbox_sandbox_result *result);

#endif
