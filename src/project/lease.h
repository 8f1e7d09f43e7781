/* Who works on a project now: flock(2) on projects/<id>/lease. Install runs and lock hold it
 * exclusively; ordinary runs, verify and status share it. The holder adds one line about itself
 * ("run", pid) to the file `holders` beside it so that a waiter can name it. A lease dies with its
 * process: nothing has to be cleaned up after kill -9. The descriptor is CLOEXEC and must not leak
 * into the sandbox, where it would keep the project busy. */
#ifndef SBOX_PROJECT_LEASE_H
#define SBOX_PROJECT_LEASE_H

#include "base/error.h"

#include <stdbool.h>

enum { SBOX_LEASE_WAIT_SECONDS = 10 };

/* Descriptor that holds the lease, or -EBUSY after `wait_seconds` with a message that names the
 * holder: "the project is busy: sbox lock (pid 123) has held it for 11 s"; of a stopped one it says
 * so. `verb`: lower-case letters. */
int sbox_lease_acquire(int project_dirfd, bool exclusive, const char *verb, unsigned wait_seconds,
                       struct sbox_error *err);

#endif
