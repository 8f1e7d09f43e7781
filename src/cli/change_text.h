/* One package that changed, as lock and install runs write it. */
#ifndef SBOX_CLI_CHANGE_TEXT_H
#define SBOX_CLI_CHANGE_TEXT_H

#include "base/buf.h"
#include "lock/lock.h"

enum { SBOX_CHANGES_SHOWN = 20 };

/* Appends "+ name 1.0.0", "~ name 1.0.0 -> 1.1.0" ... without a newline; `name_tree`: there are
 * several trees, so say which. */
void sbox_text_change(struct sbox_buf *out, const struct sbox_lock_change *c, bool name_tree);

#endif
