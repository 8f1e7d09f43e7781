#include "sandbox/env_names.h"

#include <strings.h>

/* A name is cut into words, in upper case, at everything that is no letter or digit and at the
 * humps of camel case: "npm_config_//host/:_authToken" is NPM CONFIG HOST AUTH TOKEN, "APIKey" is
 * API KEY. Whole words decide, so KEYBOARD, MONKEY, AUTHOR and TOKENIZERS are nothing special.
 * Digits at the end of a word and words of digits are not looked at: OAUTH2 is OAUTH, DB_KEY_2 ends
 * in KEY.
 *
 * In order: names that are known to be harmless though a word speaks against them; shell functions;
 * names that lead to an agent; names known to hold a secret though no word says so; words. */

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { WORDS_MAX = 32, WORD_SIZE = 32 };

struct words {
    char text[WORDS_MAX][WORD_SIZE]; /* upper case, cut to WORD_SIZE - 1 */
    size_t count;                    /* what is past WORDS_MAX replaces the last one */
};

/* Entries ending in '*' are prefixes. Names are compared without regard to case, as npm does. */
static const char *const harmless[] = {
    "PWD",
    "OLDPWD",
    "HOST_PWD",
    "PROJECT_PWD",
    "INIT_PWD",
    "GIT_CONFIG_KEY_*", /* a key of a setting; its value is looked at on its own */
    "SSH_TTY",
    "npm_config_auth_type", /* "web" */
    "npm_config_always_auth",
};

static const char *const agents[] = {
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "GIT_ASKPASS",
    "SUDO_ASKPASS",
    "VSCODE_GIT_*",
    "VSCODE_IPC_HOOK*",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_*",
    "DBUS_SESSION_BUS_*",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DBUS_STARTER_*",
    "SESSION_MANAGER",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "KRB5CCNAME",
    "KRB5_KTNAME",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "CONTAINER_HOST",
    "KUBECONFIG",
    "NETRC",
    "PGPASSFILE",
    "PGSERVICEFILE",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "CLOUDSDK_CONFIG",
    "AZURE_CONFIG_DIR",
    "GOOGLE_APPLICATION_CREDENTIALS",
};

static const char *const secret_names[] = {
    "PGPASSWORD", "LDAPPW",         "DATABASE_URL",      "DATABASE_URI",
    "DB_URL",     "DB_URI",         "FASTLANE_SESSION",  "OP_SESSION_*",
    "BW_SESSION", "NPM_CONFIG_OTP", "ACTIONS_RUNTIME_*", "ACTIONS_ID_TOKEN_*",
};

static const char *const secret_words[] = {
    "TOKEN",      "SECRET",     "SECRETS",       "PASSWORD",    "PASSWORDS", "PASSWD",
    "PASSPHRASE", "CREDENTIAL", "CREDENTIALS",   "CREDS",       "APIKEY",    "APIKEYS",
    "APITOKEN",   "APISECRET",  "ACCESSKEY",     "ACCESSTOKEN", "AUTHTOKEN", "AUTHKEY",
    "SECRETKEY",  "PRIVATEKEY", "PRIVKEY",       "SSHKEY",      "AUTH",      "OAUTH",
    "JWT",        "BEARER",     "AUTHORIZATION", "MNEMONIC",    "DSN",       "SSHPASS",
    "PASSCODE",   "KEYFILE",    "CLIENTSECRET",  "USERPASS",
};

/* Secret as the last word of several. */
static const char *const secret_last[] = {"PWD", "PASS", "COOKIE", "PW"};

/* Two words in this order, anywhere. */
static const struct {
    const char *first, *second;
} secret_pairs[] = {
    {"PRIVATE", "KEY"},       {"PRIVATE", "PEM"},        {"PRIVATE", "RSA"},
    {"CONNECTION", "STRING"}, {"CONNECTION", "STRINGS"}, {"WEBHOOK", "URL"},
    {"SEED", "PHRASE"},       {"DATABASE", "URL"},       {"DATABASE", "URI"},
};

/* A KEY that opens nothing. */
static const char *const harmless_keys[] = {"PUBLIC", "PUBLISHABLE", "CACHE", "PRIMARY", "FOREIGN",
                                            "SORT",   "PARTITION",   "HOT",   "COMPOSE"};

/* What may follow KEY when it is not the last word. */
static const char *const key_suffixes[] = {"ID", "FILE", "PATH", "PEM", "BASE64", "B64"};

/* TOKENS, in the plural, is also what language models are billed by. */
static const char *const token_counts[] = {"MAX",   "MIN",   "NUM",    "LIMIT", "COUNT",
                                           "TOTAL", "INPUT", "OUTPUT", "BUDGET"};

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

#define ONE_OF(word, list) is_one_of(word, list, COUNT(list))

static const char *find_name(const char *name, size_t size, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(list[i]);
        bool prefix = list[i][n - 1] == '*';
        n -= prefix;
        if ((prefix ? size >= n : size == n) && strncasecmp(name, list[i], n) == 0)
            return list[i];
    }
    return NULL;
}

/* Own classification: <ctype.h> depends on the locale. */
static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_char(char c)
{
    return is_upper(c) || is_lower(c) || is_digit(c);
}

/* Does a word begin at `i`, right after another? In "apiKey" at K, in "APIKey" at K as well. */
static bool is_hump(const char *s, size_t size, size_t i)
{
    if (!is_upper(s[i]))
        return false;
    if (!is_upper(s[i - 1]))
        return !is_digit(s[i - 1]) || (i + 1 < size && is_lower(s[i + 1]));
    return i + 1 < size && is_lower(s[i + 1]);
}

/* In these the digits belong to the word. */
static bool keeps_digits(const char *s, size_t size)
{
    static const char *const list[] = {"BASE64", "B64", "AUTH0"};
    return find_name(s, size, list, COUNT(list)) != NULL;
}

static size_t without_digits(const char *s, size_t size)
{
    if (keeps_digits(s, size))
        return size;
    while (size > 0 && is_digit(s[size - 1]))
        size--;
    return size;
}

static void add_word(struct words *w, const char *s, size_t size)
{
    size = without_digits(s, size);
    if (size == 0)
        return;
    char *out = w->text[w->count < WORDS_MAX ? w->count++ : WORDS_MAX - 1];
    size_t n = size < WORD_SIZE ? size : WORD_SIZE - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(is_lower(s[i]) ? s[i] - 'a' + 'A' : s[i]);
    out[n] = '\0';
}

static void split(const char *s, size_t size, struct words *ret)
{
    ret->count = 0;
    for (size_t start = 0, i = 0; i <= size; i++) {
        bool ends = i == size || !is_word_char(s[i]);
        if (!ends && (i == start || !is_hump(s, size, i)))
            continue;
        add_word(ret, s + start, i - start);
        start = i + ends; /* a separator belongs to no word */
    }
}

static bool key_is_secret(const struct words *w, size_t i)
{
    if (i > 0 && ONE_OF(w->text[i - 1], harmless_keys))
        return false;
    bool last = i + 1 == w->count;
    if (strcmp(w->text[i], "KEYS") == 0)
        return last;
    return strcmp(w->text[i], "KEY") == 0 && (last || ONE_OF(w->text[i + 1], key_suffixes));
}

static bool tokens_are_secret(const struct words *w, size_t i)
{
    if (strcmp(w->text[i], "TOKENS") != 0)
        return false;
    for (size_t k = 0; k < w->count; k++)
        if (ONE_OF(w->text[k], token_counts))
            return false;
    return true;
}

static bool pair_is_secret(const struct words *w, size_t i)
{
    for (size_t k = 0; i + 1 < w->count && k < COUNT(secret_pairs); k++)
        if (strcmp(w->text[i], secret_pairs[k].first) == 0 &&
            strcmp(w->text[i + 1], secret_pairs[k].second) == 0)
            return true;
    return false;
}

static const char *secret_word(const struct words *w)
{
    for (size_t i = 0; i < w->count; i++) {
        for (size_t k = 0; k < COUNT(secret_words); k++)
            if (strcmp(w->text[i], secret_words[k]) == 0)
                return secret_words[k];
        if (key_is_secret(w, i))
            return "KEY";
        if (tokens_are_secret(w, i))
            return "TOKENS";
        if (pair_is_secret(w, i))
            return w->text[i][0] == 'P' ? "PRIVATE KEY" : "an address with access";
    }
    for (size_t k = 0; w->count > 1 && k < COUNT(secret_last); k++)
        if (strcmp(w->text[w->count - 1], secret_last[k]) == 0)
            return secret_last[k];
    return NULL;
}

/* Bundler keeps the password of a gem server in BUNDLE_<HOST>, dots written as two underscores. Its
 * other settings may have two underscores too, but do not end like a host. */
static bool is_bundler_password(const char *name, size_t size)
{
    static const char *const ends[] = {"__COM", "__IO", "__ORG", "__NET", "__DEV", "__TEST"};
    if (size < 7 || strncasecmp(name, "BUNDLE_", 7) != 0)
        return false;
    for (size_t i = 0; i < COUNT(ends); i++) {
        size_t n = strlen(ends[i]);
        if (size > n && strncasecmp(name + size - n, ends[i], n) == 0)
            return true;
    }
    return false;
}

/* What bash exports a function as: BASH_FUNC_x%%, and BASH_FUNC_x() in some distributions. */
static bool is_function(const char *name, size_t size)
{
    return size > 10 && memcmp(name, "BASH_FUNC_", 10) == 0 &&
           (name[size - 1] == '%' || name[size - 1] == ')');
}

static enum sbox_env_reason by_list(const char *name, size_t size, const char **ret_detail)
{
    *ret_detail = find_name(name, size, agents, COUNT(agents));
    if (*ret_detail)
        return SBOX_ENV_AGENT;
    *ret_detail = find_name(name, size, secret_names, COUNT(secret_names));
    if (*ret_detail)
        return SBOX_ENV_NAME;
    return SBOX_ENV_KEPT;
}

enum sbox_env_reason sbox_env_name_reason(const char *name, size_t size, const char **ret_detail)
{
    const char *ignored;
    const char **detail = ret_detail ? ret_detail : &ignored;
    *detail = NULL;
    if (is_function(name, size)) {
        *detail = "exported by bash";
        return SBOX_ENV_FUNCTION;
    }
    if (find_name(name, size, harmless, COUNT(harmless)))
        return SBOX_ENV_KEPT;
    enum sbox_env_reason listed = by_list(name, size, detail);
    if (listed != SBOX_ENV_KEPT)
        return listed;

    struct words words;
    split(name, size, &words);
    *detail = is_bundler_password(name, size) ? "a gem server's password" : secret_word(&words);
    return *detail ? SBOX_ENV_NAME : SBOX_ENV_KEPT;
}
