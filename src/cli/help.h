/* The text of --help, made from the option table. */
#ifndef SBOX_CLI_HELP_H
#define SBOX_CLI_HELP_H

#include "base/buf.h"
#include "cli/options.h"

/* SBOX_VERB_NONE: of sbox itself. */
void sbox_help_text(enum sbox_verb verb, struct sbox_buf *out);

#endif
