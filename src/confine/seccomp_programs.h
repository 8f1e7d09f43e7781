/* The arrays that seccomp_gen writes; only seccomp.c reads them. */
#ifndef SBOX_CONFINE_SECCOMP_PROGRAMS_H
#define SBOX_CONFINE_SECCOMP_PROGRAMS_H

#include "confine/seccomp.h"

/* By enum sbox_seccomp_arch and enum sbox_seccomp_kind. */
extern const struct sbox_seccomp_program sbox_seccomp_programs[2][SBOX_SECCOMP_KINDS];

#endif
