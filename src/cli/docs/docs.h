/* The build-time half of the option table: man page and shell completions are made from it, so
 * that no list has to be kept in two places. Linked into sbox-gendocs only. */
#ifndef SBOX_CLI_DOCS_DOCS_H
#define SBOX_CLI_DOCS_DOCS_H

#include "base/buf.h"

/* `template` is the prose of man/sbox.1.in (mdoc(7)); lines "@VERBS@" and "@OPTIONS@" are replaced.
 * -EINVAL when one of them is missing. */
int sbox_docs_man(const char *template, struct sbox_buf *out);

void sbox_docs_bash(struct sbox_buf *out);
void sbox_docs_zsh(struct sbox_buf *out);
void sbox_docs_fish(struct sbox_buf *out);

#endif
