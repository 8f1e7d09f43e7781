/* journal.db for the verbs that read it: log --net and suggest. */
#ifndef SBOX_CLI_JOURNAL_READ_H
#define SBOX_CLI_JOURNAL_READ_H

#include "cli/session.h"
#include "net/wire.h"
#include "store/journal.h"

/* The latest `limit` runs of the session's project. Finds the root; 0, also when there is no
 * journal, or -errno. */
int sbox_journal_of(struct sbox_session *s, const struct sbox_options *o, unsigned limit,
                    const struct sbox_journal_reader *reader, struct sbox_error *err);

/* To the wire's form, for net_text.h. */
void sbox_journal_to_wire(const struct sbox_journal_connection *c,
                          struct sbox_wire_connection *ret);

#endif
