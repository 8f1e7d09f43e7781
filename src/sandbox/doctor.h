/* What holds on this machine: each layer asked or tried, and a real sandbox built and attacked. */
#ifndef SBOX_SANDBOX_DOCTOR_H
#define SBOX_SANDBOX_DOCTOR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum sbox_health {
    SBOX_HOLDS,
    SBOX_WEAKER,  /* usable; the text says what is missing */
    SBOX_MISSING, /* `sbox run` refuses; the text says how to fix it */
};

struct sbox_finding {
    const char *layer;
    enum sbox_health health;
    char text[600];
};

enum { SBOX_FINDINGS_MAX = 16 };

struct sbox_findings {
    struct sbox_finding items[SBOX_FINDINGS_MAX];
    size_t count;
};

/* Fills *ret; 0, or -errno when not even asking was possible. Uses a temporary directory below
 * /tmp, removed at the end. */
int sbox_doctor_run(struct sbox_findings *ret, struct sbox_error *err);

const char *sbox_health_text(enum sbox_health health); /* "holds", "weaker", "missing" */

#endif
