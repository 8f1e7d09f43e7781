/* sbox log without --net: the project's locks. */
#ifndef SBOX_CLI_LOG_LOCKS_H
#define SBOX_CLI_LOG_LOCKS_H

#include "cli/options.h"

int sbox_log_locks(const struct sbox_options *o); /* exit status */

#endif
