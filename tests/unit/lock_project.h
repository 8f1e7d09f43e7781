/* A project in a scratch directory, with a data directory of its own, for tests of lock and verify.
 */
#ifndef SBOX_TESTS_LOCK_PROJECT_H
#define SBOX_TESTS_LOCK_PROJECT_H

#include "lock/lock.h"
#include "lock/verify.h"
#include "unit/scratch.h"

struct project {
    struct scratch *scratch;
    struct sbox_datadir datadir;
    struct sbox_root root;
    struct sbox_scan scan;
    char *home;
};

int project_setup(void **state); /* *state is a struct project; the workspace is "p", empty */
int project_teardown(void **state);

void project_scan(struct project *p); /* again, after a change */
/* Lets everything that was written until now grow older than a clock tick. */
void project_age(void);

int project_lock(struct project *p, const char *path, struct sbox_lock_result *ret,
                 struct sbox_error *err);
void project_must_lock(struct project *p);
int project_verify(struct project *p, enum sbox_verify_mode mode, struct sbox_verify_result *ret,
                   struct sbox_error *err);

/* "verdict path [package]" of all differences, one a line; "equal" when there are none; the state
 * of a tree that is absent or unlocked. Static memory. */
const char *project_differences(struct project *p, enum sbox_verify_mode mode);
/* The same in both modes, which must agree. */
const char *project_both(struct project *p);

#define NM "p/node_modules"
/* In it express with a nested package, a scope, a link, a script. */
void project_install(struct project *p);

#endif
