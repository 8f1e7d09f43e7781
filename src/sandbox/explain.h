/* From an errno of the kernel to a line that says which layer failed, what forbids it, and the
 * shortest fix. */
#ifndef SBOX_SANDBOX_EXPLAIN_H
#define SBOX_SANDBOX_EXPLAIN_H

#include "base/error.h"

int sbox_explain_clone(int code, struct sbox_error *err);
/* `step`: what init was doing, from its FAILED message; may hold names from outside. */
int sbox_explain_step(int code, const char *step, struct sbox_error *err);
/* A sentence of enum sbox_guard_event; malloc'ed, NULL when out of memory. */
char *sbox_explain_guard(int event, int code, const char *path);

#endif
