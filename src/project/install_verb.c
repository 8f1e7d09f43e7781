/* One row a package manager: its verbs that change dependency trees, and those of its options that
 * take the next word as their value, without which `npm --prefix install test` would be misread.
 * The verbs and aliases are those of the tools' own references (npm 11, pnpm 10, yarn 1 and 4, bun
 * 1.2, pip 25, uv 0.8, poetry 2, cargo 1.8x, go 1.24, composer 2, bundler 2). `npx`, `npm run`,
 * `cargo build` and the like are no rows: they execute code and install by the way at most. */
#include "project/install_verb.h"

#include "base/error.h"
#include "base/strv.h"

#include <ctype.h>

enum { WORDS_MAX = 5, PREFIX_MIN = 3 };

struct program {
    const char *name;
    const char *also;             /* another name of it, or NULL */
    const char *const *verbs;     /* one or two words */
    const char *const *replacing; /* of the verbs: they remove the tree first; may be NULL */
    const char *const *valued;    /* options whose value is the next word */
    const char *outer;            /* a word that may stand before the verb, or NULL */
    int outer_words;              /* ... with this many words, itself included */
    bool bare;                    /* without any verb it installs */
    bool prefixes;                /* takes a verb by its first letters */
};

#define WORDS(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

static const struct program programs[] = {
    {
        .name = "npm",
        .verbs =
            WORDS("install", "i", "in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal",
                  "isntall", "add", "ci", "ic", "clean-install", "install-clean", "isntall-clean",
                  "install-test", "it", "install-ci-test", "cit", "sit", "clean-install-test",
                  "uninstall", "unlink", "remove", "rm", "r", "un", "update", "u", "up", "upgrade",
                  "udpate", "dedupe", "ddp", "prune", "rebuild", "rb", "link", "ln", "audit fix"),
        .replacing = WORDS("ci", "ic", "clean-install", "install-clean", "isntall-clean",
                           "install-ci-test", "cit", "sit", "clean-install-test"),
        .valued = WORDS("--prefix", "-C", "--workspace", "-w", "--loglevel", "--registry",
                        "--cache", "--userconfig", "--globalconfig", "--omit", "--include",
                        "--install-strategy", "--script-shell", "--tag", "--before", "--os",
                        "--cpu", "--libc", "--proxy", "--https-proxy", "--cafile", "--ca",
                        "--noproxy", "--scope", "--location", "--node-options", "--logs-dir",
                        "--fetch-retries", "--fetch-timeout", "--maxsockets", "--save-prefix"),
        .prefixes = true,
    },
    {
        .name = "pnpm",
        .verbs =
            WORDS("install", "i", "add", "ci", "clean-install", "install-clean", "ic", "remove",
                  "rm", "uninstall", "un", "update", "up", "upgrade", "link", "ln", "unlink",
                  "dislink", "rebuild", "rb", "prune", "dedupe", "fetch", "install-test", "it",
                  "patch-commit", "patch-remove", "approve-builds", "deploy", "import"),
        .replacing = WORDS("ci", "clean-install", "install-clean", "ic"),
        .valued = WORDS("--dir", "-C", "--filter", "-F", "--filter-prod", "--loglevel",
                        "--reporter", "--store-dir", "--modules-dir", "--lockfile-dir",
                        "--virtual-store-dir", "--workspace-concurrency", "--network-concurrency",
                        "--registry", "--test-pattern", "--changed-files-ignore-pattern"),
        .outer = "recursive",
        .outer_words = 1,
    },
    {
        .name = "yarn",
        .also = "yarnpkg",
        .verbs =
            WORDS("install", "add", "remove", "up", "upgrade", "upgrade-interactive", "link",
                  "unlink", "unplug", "import", "dedupe", "rebuild", "autoclean", "patch-commit",
                  "workspaces focus", "set version", "plugin import", "plugin remove"),
        .valued = WORDS("--cwd", "--modules-folder", "--cache-folder", "--preferred-cache-folder",
                        "--mutex", "--network-timeout", "--network-concurrency", "--registry",
                        "--use-yarnrc", "--emoji", "--proxy", "--https-proxy", "--link-folder",
                        "--global-folder", "--otp", "--mode"),
        .outer = "workspace",
        .outer_words = 2,
        .bare = true,
    },
    {
        .name = "bun",
        .verbs = WORDS("install", "i", "add", "a", "ci", "remove", "rm", "uninstall", "update",
                       "link", "unlink", "patch", "patch-commit", "pm trust", "pm migrate"),
        .valued = WORDS("--cwd", "--config", "-c", "--env-file", "--registry", "--cache-dir",
                        "--backend", "--ca", "--cafile"),
    },
    {
        .name = "pip",
        .verbs = WORDS("install", "uninstall"),
        .valued = WORDS("--python", "--log", "--proxy", "--retries", "--timeout", "--exists-action",
                        "--trusted-host", "--cert", "--client-cert", "--cache-dir",
                        "--keyring-provider", "--use-feature", "--use-deprecated", "--progress-bar",
                        "--index-url", "-i", "--resume-retries"),
    },
    {
        .name = "uv",
        .verbs = WORDS("add", "remove", "sync", "venv", "pip install", "pip uninstall", "pip sync"),
        .valued = WORDS("--directory", "--project", "--config-file", "--cache-dir", "--color",
                        "--allow-insecure-host", "--trusted-host", "--python-preference",
                        "--python-fetch", "--python", "-p"),
    },
    {
        .name = "poetry",
        .verbs = WORDS("install", "add", "remove", "update", "sync"),
        .valued = WORDS("--directory", "-C", "--project", "-P"),
    },
    {
        .name = "cargo",
        .verbs = WORDS("add", "remove", "rm", "fetch", "update", "generate-lockfile", "install",
                       "vendor"),
        .valued = WORDS("--color", "--config", "-Z", "-C"),
    },
    {
        .name = "go",
        .verbs = WORDS("get", "mod download", "mod vendor", "mod tidy", "work sync", "work vendor"),
        .valued = WORDS("-C", "-modfile", "-mod"),
    },
    {
        .name = "composer",
        .also = "composer.phar",
        .verbs = WORDS("install", "i", "update", "u", "upgrade", "require", "r", "remove", "rm",
                       "uninstall", "reinstall", "dump-autoload", "dumpautoload"),
        .valued = WORDS("--working-dir", "-d"),
        .prefixes = true,
    },
    {
        .name = "bundle",
        .also = "bundler",
        .verbs = WORDS("install", "update", "add", "remove", "clean", "pristine", "cache",
                       "package", "pack"),
        .valued = WORDS("--gemfile", "--path", "--jobs", "-j", "--retry", "-r", "--without",
                        "--with", "--standalone", "--trust-policy"),
        .bare = true,
    },
    {.name = "virtualenv", .verbs = WORDS("*"), .valued = WORDS("-p", "--python", "--app-data")},
    /* Only as `python -m venv`, `python -m ensurepip`. */
    {.name = "venv", .verbs = WORDS("*"), .valued = WORDS("--prompt")},
    {.name = "ensurepip", .verbs = WORDS("*"), .valued = WORDS("--root"), .bare = true},
};

static bool listed(const char *const *list, const char *word)
{
    for (; list && *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

static const struct program *find(const char *name)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].name, name) == 0 ||
            (programs[i].also && strcmp(programs[i].also, name) == 0))
            return &programs[i];
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* `name` with a version behind it: "pip", "pip3", "pip3.11", "pip-3.11". */
static bool versioned(const char *word, const char *name)
{
    if (!sbox_str_starts(word, name))
        return false;
    for (word += strlen(name); *word; word++)
        if (!isdigit((unsigned char)*word) && *word != '.' && *word != '-')
            return false;
    return true;
}

/* The words behind `python [OPTIONS] -m MODULE`, the module first; NULL: something else is run. */
static char *const *python_module(char *const *argv, const char **ret_module)
{
    for (argv++; *argv && (*argv)[0] == '-' && (*argv)[1] != '-'; argv++)
        for (const char *c = *argv + 1; *c; c++) {
            if (!strchr("mcXW", *c))
                continue;
            if (!c[1] && !*++argv)
                return NULL;
            if (*c == 'm') {
                *ret_module = c[1] ? c + 1 : *argv;
                return argv + 1;
            }
            if (*c == 'c')
                return NULL;
            break;
        }
    return NULL;
}

/* Which program is it, and where do its own words begin? */
static const struct program *recognise(char *const *argv, char *const **ret_words)
{
    const char *name = argv[0] ? base_name(argv[0]) : "";
    if (strcmp(name, "corepack") == 0 && argv[1])
        name = base_name(*++argv);
    *ret_words = argv + (argv[0] ? 1 : 0);
    if (versioned(name, "python") || versioned(name, "pypy")) {
        *ret_words = python_module(argv, &name);
        return *ret_words ? find(name) : NULL;
    }
    if (strcmp(name, "venv") == 0 || strcmp(name, "ensurepip") == 0)
        return NULL;
    return find(versioned(name, "pip") ? "pip" : name);
}

/* The first few words that are neither options nor values of options. */
static size_t plain_words(const struct program *p, char *const *argv, const char *ret[WORDS_MAX])
{
    size_t n = 0;
    for (; *argv && n < WORDS_MAX; argv++) {
        const char *word = *argv;
        bool toolchain = word[0] == '+' || (word[0] == '_' && isdigit((unsigned char)word[1]));
        if (word[0] == '-' && listed(p->valued, word) && argv[1])
            argv++;
        else if (word[0] != '-' && !(n == 0 && toolchain)) /* cargo +nightly, bundle _2.4_ */
            ret[n++] = word;
    }
    return n;
}

static bool asks_for_help(char *const *argv)
{
    for (; *argv; argv++)
        if (listed(WORDS("-h", "--help", "-v", "-V", "--version"), *argv))
            return true;
    return false;
}

/* Does "mod tidy" or "install" match the words? */
static bool matches(const char *verb, const char *const *words, size_t count)
{
    const char *blank = strchr(verb, ' ');
    if (strcmp(verb, "*") == 0)
        return true;
    if (!blank)
        return strcmp(verb, words[0]) == 0;
    size_t first = (size_t)(blank - verb);
    return count > 1 && strlen(words[0]) == first && memcmp(words[0], verb, first) == 0 &&
           strcmp(blank + 1, words[1]) == 0;
}

static const char *find_verb(const struct program *p, const char *const *words, size_t count)
{
    for (const char *const *v = p->verbs; *v; v++)
        if (matches(*v, words, count))
            return *v;
    size_t size = strlen(words[0]);
    for (const char *const *v = p->verbs; p->prefixes && size >= PREFIX_MIN && *v; v++)
        if (!strchr(*v, ' ') && strncmp(*v, words[0], size) == 0)
            return *v;
    return NULL;
}

enum sbox_install_verb sbox_install_verb(char *const argv[])
{
    const char *found[WORDS_MAX];
    const char *const *words = found;
    char *const *own = NULL;
    const struct program *p = recognise(argv, &own);
    if (!p)
        return SBOX_INSTALL_VERB_NONE;
    size_t count = plain_words(p, own, found);
    size_t outer = (size_t)p->outer_words;
    if (p->outer && count > outer && strcmp(words[0], p->outer) == 0) {
        words += outer;
        count -= outer;
    }
    if (count == 0)
        return p->bare && !asks_for_help(own) ? SBOX_INSTALL_VERB_CHANGE : SBOX_INSTALL_VERB_NONE;
    const char *verb = find_verb(p, words, count);
    if (!verb)
        return SBOX_INSTALL_VERB_NONE;
    return listed(p->replacing, verb) ? SBOX_INSTALL_VERB_REPLACE : SBOX_INSTALL_VERB_CHANGE;
}

const char *sbox_install_program(char *const argv[])
{
    char *const *own = NULL;
    const struct program *p = recognise(argv, &own);
    return p ? p->name : NULL;
}
