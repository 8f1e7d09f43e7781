/* The environment that the command gets: the caller's without what names or holds a secret.
 * Pure: no system call, nothing read but the arguments.
 *
 * A variable goes when its name says so (env_names.h), when its value does (project/secret.h), or
 * when another copy of the same name does. An empty value is no secret. Not dropped are hooks of
 * loaders and interpreters (LD_PRELOAD, NODE_OPTIONS, BASH_ENV, PERL5OPT ...): they act inside
 * only, where the command is not trusted anyway, and people need them (--max-old-space-size);
 * sbox itself starts nothing that would obey them.
 */
#ifndef SBOX_SANDBOX_ENV_SCRUB_H
#define SBOX_SANDBOX_ENV_SCRUB_H

#include "base/error.h"
#include "base/strv.h"

enum sbox_env_reason {
    SBOX_ENV_KEPT,
    SBOX_ENV_NAME,      /* the name says secret */
    SBOX_ENV_AGENT,     /* it leads to an agent, a session or a key file of the user */
    SBOX_ENV_FUNCTION,  /* a shell function: code, not a setting */
    SBOX_ENV_VALUE,     /* the value has the form of a secret */
    SBOX_ENV_CUT,       /* stays: user and password are cut out of its URLs (env_registry.h) */
    SBOX_ENV_MALFORMED, /* no name, or no '=': its name is reported as "" */
    SBOX_ENV_COMPANION, /* of no use, or harmful, without one that went (GIT_CONFIG_COUNT) */
};

/* "name", "agent" ...: a few words for -v and --dry-run. */
const char *sbox_env_reason_text(enum sbox_env_reason reason);

struct sbox_env_rules {
    bool allow_all;               /* --allow-env */
    const struct sbox_strv *pass; /* -e NAME; NULL: none */
    const struct sbox_strv *set;  /* -e NAME=VALUE, the last of a name wins; NULL: none */
};

/* What went or was cut, each name once, never a value. Names are the caller's bytes: escape before
 * printing.
 */
struct sbox_env_drop {
    char *name;
    enum sbox_env_reason reason;
    const char *detail; /* static: "GitHub token", "word TOKEN", ...; never part of the value */
};

struct sbox_env_report {
    struct sbox_env_drop *items;
    size_t count;
    size_t room;
};

void sbox_env_report_release(struct sbox_env_report *r);
#define _cleanup_env_report_ __attribute__((cleanup(sbox_env_report_release)))

/* Fills *ret_env (copies; NULL-terminated, also when empty: hand ret_env->items to execve) and
 * *ret_report; both zero-initialised by the caller and untouched on failure. Variables that are
 * kept stay in their order and number; those set come last and replace all others of the name.
 * -E2BIG above 65,536 variables or 2 MiB in one (execve(2) passes no more), -EINVAL when an
 * element of `set` or `pass` has no name, -ENOMEM. */
int sbox_env_scrub(char *const *environ_block, const struct sbox_env_rules *rules,
                   struct sbox_strv *ret_env, struct sbox_env_report *ret_report,
                   struct sbox_error *err);

/* Overwrites every string of `environ_block`, the one the kernel shows in /proc/PID/environ, with
 * zeros, and releases nothing. For processes of sbox that live beside the command (init, guard):
 * they are copies of the supervisor and hold the caller's secrets otherwise. */
void sbox_env_wipe(char **environ_block);

/* The same for the strings of a list, then its release. */
void sbox_env_wipe_strv(struct sbox_strv *v);

#endif
