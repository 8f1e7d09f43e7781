/* `sbox status -v`: what the copies of a lock take. */
#ifndef SBOX_CLI_SNAPSHOT_STATUS_H
#define SBOX_CLI_SNAPSHOT_STATUS_H

#include "base/buf.h"
#include "cli/session.h"

/* Appends "copies  252 MB for 1.1 GB in 1,249 packages" and how many packages have none. */
int sbox_snapshot_status(struct sbox_buf *out, const struct sbox_session *session,
                         struct sbox_error *err);

#endif
