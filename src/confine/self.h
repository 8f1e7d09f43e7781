/* What every helper program of sbox takes from itself before it reads a byte from outside. All
 * return 0 or -errno. Source: setrlimit(2), prctl(2), capabilities(7). */
#ifndef SBOX_CONFINE_SELF_H
#define SBOX_CONFINE_SELF_H

#include "base/error.h"

#include <sys/resource.h>

int sbox_self_limit(int resource, rlim_t most); /* soft and hard */
int sbox_self_drop_capabilities(void);          /* all, where there are any */
int sbox_self_no_new_privs(void);

struct sbox_self_step {
    const char *name;
    int (*take)(void);
};
/* All steps in order; the first that fails is named: "confine PROGRAM: NAME: ...". */
int sbox_self_confine(const char *program, const struct sbox_self_step *steps, size_t count,
                      struct sbox_error *err);

#endif
