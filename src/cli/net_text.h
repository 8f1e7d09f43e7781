/* Connections in words: for the line on a refusal, the count at the end, log --net and suggest. */
#ifndef SBOX_CLI_NET_TEXT_H
#define SBOX_CLI_NET_TEXT_H

#include "base/buf.h"
#include "base/strv.h"
#include "net/wire.h"

const char *sbox_net_verdict_text(uint8_t verdict); /* "allowed", "not listed" ... */
const char *sbox_net_way_text(uint8_t way);         /* "connect", "transparent" ... */

/* Was it refused by a rule (not: allowed and then failed)? */
bool sbox_net_refused(const struct sbox_wire_connection *c);

/* The list element that would allow it: "evil.test", "db.test:5432", "[::1]:80"; false when no
 * element would (a request that is not understood, a name whose address is refused, SNI). */
bool sbox_net_rule_for(const struct sbox_wire_connection *c, char *text, size_t size);

/* One sentence for stderr, names escaped, with the option that would allow it. */
void sbox_net_refusal_text(struct sbox_buf *out, const struct sbox_wire_connection *c);

/* Appends what would allow it to a list of elements, once each; *private is set where only
 * --allow-private would help. With `needed` also what was allowed. */
int sbox_net_collect(const struct sbox_wire_connection *c, bool needed, struct sbox_strv *rules,
                     bool *private);

#endif
