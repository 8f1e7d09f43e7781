/* @npm, @pip, @cargo, @git in --allow-net-out: the hosts that the client's own configuration and
 * the project's lockfiles name. No host is built in: where the client's registry is written nowhere
 * but in the client, the client is asked, in a sandbox of its own, offline, in an empty directory.
 * yarn is asked whatever npm's settings say: it fetches the archives of npm's public registry from
 * its own.
 *
 * Lockfiles lie in the workspace (so does .git, which an earlier command may have made): literal
 * addresses that are not public do not count there, and hosts that nothing but the workspace names
 * are reported apart, for sbox to say so. */
#ifndef SBOX_CLI_SHORTCUT_H
#define SBOX_CLI_SHORTCUT_H

#include "base/error.h"
#include "base/strv.h"
#include "project/root.h"

enum { SBOX_SHORTCUT_HOSTS_MAX = 100 };

struct sbox_shortcut {
    struct sbox_strv hosts;     /* HOST:PORT, each once */
    struct sbox_strv why;       /* one line for each: host, word, file */
    struct sbox_strv workspace; /* of these, those that only a file of the workspace names */
};

/* Asks the client for its registry: what it printed, at most 32 KB, or -errno. */
typedef int sbox_shortcut_ask(const char *const *argv, char **ret_text);
/* The real one (shortcut_ask.c). */
int sbox_shortcut_ask_client(const char *const *argv, char **ret_text);

struct sbox_shortcut_asking {
    sbox_shortcut_ask *ask;
    int data_fd;        /* the data directory, where answers are kept; -1: they are not */
    const char *client; /* the run's package manager (sbox_install_program), or NULL */
};

/* `word` with its '@'. `root`: its fd, path and cwd count. `asking`: NULL asks nobody. 0, or -errno
 * with the sentence for the user: no such shortcut, nothing names a host, too many. */
int sbox_shortcut_hosts(const char *word, const struct sbox_root *root, const char *home,
                        const struct sbox_shortcut_asking *asking, struct sbox_shortcut *ret,
                        struct sbox_error *err);
void sbox_shortcut_release(struct sbox_shortcut *s);

#endif
