/* Capabilities, by raw system calls (libcap would allocate). Safe after clone: no heap, no stdio,
 * no locks. Source: capabilities(7), capset(2), prctl(2).
 */
#ifndef SBOX_CONFINE_CAPS_H
#define SBOX_CONFINE_CAPS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#define SBOX_CAP(cap) (UINT64_C(1) << (cap)) /* SBOX_CAP(CAP_SYS_ADMIN) */

struct sbox_caps {
    uint64_t effective;
    uint64_t permitted;
    uint64_t inheritable;
    uint64_t bounding;
    uint64_t ambient;
};

/* Reduces the calling thread to `mask`: effective and permitted become what they share with it,
 * bounding too, inheritable and ambient become empty, and the secure bits are locked so that uid 0
 * gains nothing by exec. What is already gone stays gone and is no error. A child can give up the
 * rest later only if `mask` holds CAP_SETPCAP. 0 or -errno; -EPERM when something must be dropped
 * and CAP_SETPCAP is missing. */
int sbox_caps_keep(uint64_t mask);

/* sbox_caps_keep(0): nothing is left in any set. */
int sbox_caps_drop_all(void);

/* The sets of the calling thread; for doctor and tests. */
int sbox_caps_read(struct sbox_caps *ret);

#endif
