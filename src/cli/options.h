/* What the command line asked for. The words and their meaning are data, in option_table.c; this is
 * what the parser makes of them. Strings are borrowed from argv; the lists are copies. */
#ifndef SBOX_CLI_OPTIONS_H
#define SBOX_CLI_OPTIONS_H

#include "base/error.h"
#include "base/log.h"
#include "base/strv.h"

#include <stdbool.h>
#include <stddef.h>

enum sbox_verb {
    SBOX_VERB_NONE, /* only --help or --version was given */
    SBOX_VERB_LOCK,
    SBOX_VERB_VERIFY,
    SBOX_VERB_STATUS,
    SBOX_VERB_RUN,
    SBOX_VERB_DOCTOR,
    SBOX_VERB_DIFF,
    SBOX_VERB_RESTORE,
    SBOX_VERB_GC,
    SBOX_VERB_FORGET,
    SBOX_VERB_LOG,
    SBOX_VERB_SUGGEST,
    SBOX_VERB_COUNT,
};

/* In the order of the words in the option table's "fast|full". */
enum sbox_check { SBOX_CHECK_FAST, SBOX_CHECK_FULL };

enum sbox_install { SBOX_INSTALL_AUTO, SBOX_INSTALL_YES, SBOX_INSTALL_NO };

enum { SBOX_PASS_FD_MAX = 64 };

struct sbox_options {
    enum sbox_verb verb;
    bool short_form; /* `sbox npm test`: run without the word */
    bool help;
    bool version;
    bool json;
    int level;             /* enum sbox_log_level */
    const char *directory; /* -C; NULL: here */
    const char *workspace; /* --workspace; NULL: find it */

    bool fast;  /* verify --fast */
    bool all;   /* verify --all, log --all */
    bool net;   /* log --net */
    bool patch; /* log -p */
    bool no_snapshot;
    bool stat;         /* diff --stat */
    bool name_only;    /* diff --name-only */
    bool remove_added; /* restore --delete */

    bool offline;
    bool open_network;          /* --allow-net-out without hosts */
    struct sbox_strv net_rules; /* HOST[:PORT] or @word each, not looked at */
    struct sbox_strv publish;   /* as typed */
    struct sbox_strv host_port;
    bool allow_private;
    bool proxy_env;
    bool allow_env;
    bool keep_cache;
    bool dry_run;
    int check;            /* enum sbox_check */
    int install;          /* enum sbox_install */
    struct sbox_strv env; /* NAME or NAME=VALUE; the name is checked */
    struct sbox_strv unmask;
    struct sbox_strv mask;
    struct sbox_strv ro;
    struct sbox_strv rw;
    int pass_fd[SBOX_PASS_FD_MAX]; /* > 2; whether it is open is for run to see */
    size_t pass_fd_count;

    char **args; /* lock, verify: the PATHs; run: the command. NULL-terminated, may be empty */
    size_t arg_count;
};

enum { SBOX_EXIT_OK = 0, SBOX_EXIT_DIFFERS = 1, SBOX_EXIT_UNKNOWN = 2 };
/* Of run: refused because of a tree; failed or used wrongly; cannot execute; not found. */
enum {
    SBOX_EXIT_REFUSED = 120,
    SBOX_EXIT_FAILED = 125,
    SBOX_EXIT_CANNOT_EXECUTE = 126,
    SBOX_EXIT_NOT_FOUND = 127,
};

/* A usage error: one line that names the nearest right spelling, and the exit status that goes with
 * it (125 for run and the short form, else 2). */
struct sbox_usage {
    struct sbox_error error;
    int exit;
    const char *verb; /* as far as it was understood; NULL */
    bool json;        /* --json stands among the options */
};

/* 0, or -EINVAL with *ret_usage filled. `ret` is to be released in both cases. The parser has no
 * side effect: it reads argv and nothing else. */
int sbox_options_parse(int argc, char **argv, struct sbox_options *ret,
                       struct sbox_usage *ret_usage);
void sbox_options_release(struct sbox_options *o);

#endif
