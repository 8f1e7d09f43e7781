/* What verify and status share: the check itself and its JSON. */
#ifndef SBOX_CLI_VERIFY_COMMON_H
#define SBOX_CLI_VERIFY_COMMON_H

#include "cli/json.h"
#include "cli/options.h"
#include "cli/session.h"
#include "lock/verify.h"

/* Finds the project, takes the shared lease, compares. As sbox_verify_run(). The session is filled
 * as far as it got, also on failure. */
int sbox_verify_with(struct sbox_session *session, const struct sbox_options *o, const char *verb,
                     enum sbox_verify_mode mode, struct sbox_verify_result *ret,
                     struct sbox_error *err);

/* "locked", "differs"... of a tree, with the number of differences. */
void sbox_verify_state_text(struct sbox_buf *out, const struct sbox_verified_tree *tree);

/* The "result" of both verbs. */
void sbox_verify_json(struct sbox_json *j, const struct sbox_verify_result *r,
                      enum sbox_verify_mode mode);

/* The part of it behind the lease, for who holds that already. */
int sbox_verify_entered(struct sbox_session *session, const struct sbox_options *o,
                        enum sbox_verify_mode mode, struct sbox_verify_result *ret,
                        struct sbox_error *err);

#endif
