/* Files that configure package clients, with their secrets out: what a client is told about its
 * registry, proxy or certificates stays in force inside the sandbox, what logs it in does not get
 * in. Pure: text to text.
 *
 * A setting goes when its key says secret, when its value has the form of one (secret.h), or when
 * it holds another setting that would go; user and password are cut out of URLs, whose host stays.
 * A reference to the environment (${NAME}) holds no secret and stays. What is not understood is no
 * reason to guess: then nothing of the file is to be shown.
 *
 * Sources: npm-config(5), npmrc(5); yarnpkg.com/configuration/yarnrc; pip's user guide
 * "Configuration" and Python's configparser; toml.io 1.0; YAML 1.2, of which a subset is
 * understood; git-config(1). */
#ifndef SBOX_PROJECT_CONF_H
#define SBOX_PROJECT_CONF_H

#include "base/strv.h"

enum { SBOX_CONF_MAX = 256 << 10 };

enum sbox_conf_syntax {
    SBOX_CONF_NONE,        /* no such file */
    SBOX_CONF_NPMRC,       /* npm's ini: KEY=VALUE, a key alone, sections */
    SBOX_CONF_INI,         /* Python's configparser: KEY = VALUE with indented further lines */
    SBOX_CONF_YARNRC,      /* yarn 1: KEY VALUE */
    SBOX_CONF_YAML,        /* yarn 2 and later */
    SBOX_CONF_TOML,        /* cargo, uv, bun */
    SBOX_CONF_GIT,         /* git-config(1) */
    SBOX_CONF_COMPOSER,    /* auth.json: hidden whole when it is Composer's or holds a secret */
    SBOX_CONF_CREDENTIALS, /* logins and little else: hidden whole, unless it is empty */
};

enum sbox_conf_verdict {
    SBOX_CONF_CLEAN,    /* holds no secret: to be shown as it is */
    SBOX_CONF_FILTERED, /* text is what is left */
    SBOX_CONF_HIDDEN,   /* nothing of it may be shown */
};

struct sbox_conf {
    enum sbox_conf_verdict verdict;
    char *text;             /* for FILTERED; NUL-terminated, holds no other NUL */
    size_t taken;           /* how many settings and comments were taken out or cut */
    struct sbox_strv names; /* of the environment, to which what is shown refers */
    const char *why;        /* for FILTERED and HIDDEN; static */
};

/* 0 or -ENOMEM; *ret is zero-initialised by the caller. */
int sbox_conf_filter(enum sbox_conf_syntax syntax, const char *data, size_t size,
                     struct sbox_conf *ret);
void sbox_conf_release(struct sbox_conf *c);
#define _cleanup_conf_ __attribute__((cleanup(sbox_conf_release)))

/* What a file of that name is, `dir` being the name of the directory that it lies in ("" for
 * unknown). */
enum sbox_conf_syntax sbox_conf_syntax_of(const char *dir, const char *name);

/* A URL without user and password; other text as it is. NULL when out of memory or when what is
 * left still has the form of a secret. */
char *sbox_conf_bare_url(const char *url);

#endif
