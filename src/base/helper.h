/* Starting one of sbox's own helper programs (sbox-proxy, sbox-archive).
 *
 * It is found relative to the running sbox, never through PATH, and gets an empty environment, one
 * descriptor (3, the control socket), and /dev/null for standard input and output; standard error
 * stays for what a crash has to say. Nothing else of the caller's is open in it. */
#ifndef SBOX_BASE_HELPER_H
#define SBOX_BASE_HELPER_H

#include "base/error.h"

#include <sys/types.h>

enum { SBOX_HELPER_CONTROL_FD = 3 };

/* Starts `name`. *ret_control is this side's end of a SOCK_SEQPACKET pair, close-on-exec; the
 * caller closes it and waits for *ret_pid. -ENOENT when the program is not installed. */
int sbox_helper_start(const char *name, int *ret_control, pid_t *ret_pid, struct sbox_error *err);

#endif
