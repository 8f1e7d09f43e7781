/* The command line of sbox: parse, dispatch, one exit status. */
#ifndef SBOX_CLI_CLI_H
#define SBOX_CLI_CLI_H

#include "cli/options.h"

/* Everything but exit(3) and the standard descriptors, which are main.c's. */
int sbox_cli(int argc, char **argv);

/* One verb each: prints, and returns the exit status. */
int sbox_cmd_lock(const struct sbox_options *o);
int sbox_cmd_verify(const struct sbox_options *o);
int sbox_cmd_status(const struct sbox_options *o);
int sbox_cmd_run(const struct sbox_options *o);
int sbox_cmd_doctor(const struct sbox_options *o);
int sbox_cmd_diff(const struct sbox_options *o);
int sbox_cmd_restore(const struct sbox_options *o);
int sbox_cmd_gc(const struct sbox_options *o);
int sbox_cmd_forget(const struct sbox_options *o);
int sbox_cmd_log(const struct sbox_options *o);
int sbox_cmd_suggest(const struct sbox_options *o);

#endif
