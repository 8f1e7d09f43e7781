/* The process's own argument list, as ps shows it. Copies of a process (init, guard) show it too,
 * and with it whatever the caller wrote there: `-e NAME=VALUE`. */
#ifndef SBOX_BASE_ARGS_H
#define SBOX_BASE_ARGS_H

/* Called once, by main. */
void sbox_args_remember(int argc, char **argv);
/* Overwrites the strings behind argv (the kernel reads them for /proc/PID/cmdline) with `title`, as
 * far as it fits, and zeros. Nothing may use argv afterwards. No heap. */
void sbox_args_replace(const char *title);

#endif
