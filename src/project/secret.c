#include "project/secret.h"

#include "base/banned.h"

#include <stdbool.h>
#include <stdint.h>
#include <strings.h>

/* Forms of secrets that their issuers chose so that scanners can tell them: a fixed prefix and a
 * body of known length and alphabet, anywhere in the value but not inside a longer word. Bodies are
 * asked for generously: what begins with ghp_ and goes on for 16 letters is nothing else.
 *
 * Entropy alone is not looked at: commits, digests, identifiers and paths of a store would go. */

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum alphabet { UPPER_DIGIT, ALNUM, HEX, URL_SAFE, DOTTED, ANY };

enum length { AT_LEAST, EXACTLY };

static const struct form {
    const char *prefix;
    const char *what;
    enum alphabet alphabet;
    enum length how;
    size_t length; /* of the body, after the prefix */
} forms[] = {
    {"AKIA", "AWS access key", UPPER_DIGIT, EXACTLY, 16},
    {"ASIA", "AWS access key", UPPER_DIGIT, EXACTLY, 16},
    {"ABIA", "AWS access key", UPPER_DIGIT, EXACTLY, 16},
    {"ACCA", "AWS access key", UPPER_DIGIT, EXACTLY, 16},
    {"ghp_", "GitHub token", ALNUM, AT_LEAST, 16},
    {"gho_", "GitHub token", ALNUM, AT_LEAST, 16},
    {"ghu_", "GitHub token", ALNUM, AT_LEAST, 16},
    {"ghs_", "GitHub token", ALNUM, AT_LEAST, 16},
    {"ghr_", "GitHub token", ALNUM, AT_LEAST, 16},
    {"github_pat_", "GitHub token", URL_SAFE, AT_LEAST, 20},
    {"glpat-", "GitLab token", DOTTED, AT_LEAST, 16},
    {"gldt-", "GitLab token", DOTTED, AT_LEAST, 16},
    {"glrt-", "GitLab token", DOTTED, AT_LEAST, 16},
    {"glptt-", "GitLab token", DOTTED, AT_LEAST, 16},
    {"glcbt-", "GitLab token", DOTTED, AT_LEAST, 16},
    {"glsoat-", "GitLab token", DOTTED, AT_LEAST, 16},
    {"xoxb-", "Slack token", URL_SAFE, AT_LEAST, 10},
    {"xoxp-", "Slack token", URL_SAFE, AT_LEAST, 10},
    {"xoxa-", "Slack token", URL_SAFE, AT_LEAST, 10},
    {"xoxr-", "Slack token", URL_SAFE, AT_LEAST, 10},
    {"xoxs-", "Slack token", URL_SAFE, AT_LEAST, 10},
    {"xoxe-", "Slack token", URL_SAFE, AT_LEAST, 10},
    {"xoxe.", "Slack token", DOTTED, AT_LEAST, 10},
    {"xapp-", "Slack token", URL_SAFE, AT_LEAST, 10},
    {"hooks.slack.com/services/", "Slack webhook", ANY, AT_LEAST, 8},
    {"hooks.slack.com/workflows/", "Slack webhook", ANY, AT_LEAST, 8},
    {"hooks.slack.com/triggers/", "Slack webhook", ANY, AT_LEAST, 8},
    {"discord.com/api/webhooks/", "Discord webhook", ANY, AT_LEAST, 8},
    {"discordapp.com/api/webhooks/", "Discord webhook", ANY, AT_LEAST, 8},
    {"sk_live_", "Stripe key", ALNUM, AT_LEAST, 16},
    {"sk_test_", "Stripe key", ALNUM, AT_LEAST, 16},
    {"rk_live_", "Stripe key", ALNUM, AT_LEAST, 16},
    {"rk_test_", "Stripe key", ALNUM, AT_LEAST, 16},
    {"whsec_", "webhook secret", ANY, AT_LEAST, 16},
    {"sk-ant-", "API key", URL_SAFE, AT_LEAST, 20},
    {"sk-proj-", "API key", URL_SAFE, AT_LEAST, 20},
    {"sk-svcacct-", "API key", URL_SAFE, AT_LEAST, 20},
    {"sk-or-", "API key", URL_SAFE, AT_LEAST, 20},
    {"sk-", "API key", ALNUM, AT_LEAST, 32},
    {"npm_", "npm token", ALNUM, AT_LEAST, 36},
    {"pypi-Ag", "PyPI token", URL_SAFE, AT_LEAST, 20},
    {"rubygems_", "RubyGems key", HEX, AT_LEAST, 48},
    {"dckr_pat_", "Docker token", URL_SAFE, AT_LEAST, 16},
    {"AIza", "Google API key", URL_SAFE, EXACTLY, 35},
    {"GOCSPX-", "Google client secret", URL_SAFE, AT_LEAST, 20},
    {"ya29.", "Google access token", URL_SAFE, AT_LEAST, 20},
    {"SK", "Twilio key", HEX, EXACTLY, 32},
    {"key-", "Mailgun key", HEX, EXACTLY, 32},
    {"dapi", "Databricks token", HEX, EXACTLY, 32},
    {"AGE-SECRET-KEY-1", "age key", UPPER_DIGIT, AT_LEAST, 20},
    {"hf_", "Hugging Face token", ALNUM, AT_LEAST, 30},
    {"dop_v1_", "DigitalOcean token", HEX, AT_LEAST, 32},
    {"doo_v1_", "DigitalOcean token", HEX, AT_LEAST, 32},
    {"dor_v1_", "DigitalOcean token", HEX, AT_LEAST, 32},
    {"shpat_", "Shopify token", HEX, AT_LEAST, 32},
    {"shpss_", "Shopify secret", HEX, AT_LEAST, 32},
    {"shpca_", "Shopify token", HEX, AT_LEAST, 32},
    {"lin_api_", "Linear key", ALNUM, AT_LEAST, 30},
    {"ntn_", "Notion token", ALNUM, AT_LEAST, 40},
    {"figd_", "Figma token", URL_SAFE, AT_LEAST, 30},
    {"pul-", "Pulumi token", HEX, EXACTLY, 40},
    {"hvs.", "Vault token", URL_SAFE, AT_LEAST, 20},
    {"hvb.", "Vault token", URL_SAFE, AT_LEAST, 20},
    {"sntrys_", "Sentry token", ANY, AT_LEAST, 20},
    {"sntryu_", "Sentry token", HEX, AT_LEAST, 32},
    {"glsa_", "Grafana token", URL_SAFE, AT_LEAST, 30},
    {"ATATT3", "Atlassian token", ANY, AT_LEAST, 30},
    {"xkeysib-", "Brevo key", URL_SAFE, AT_LEAST, 32},
    {"sq0atp-", "Square token", URL_SAFE, AT_LEAST, 20},
    {"sq0csp-", "Square secret", URL_SAFE, AT_LEAST, 30},
    {"tskey-", "Tailscale key", URL_SAFE, AT_LEAST, 16},
    {"PuTTY-User-Key-File-", "private key", ANY, AT_LEAST, 1},
    /* "-----BEGIN ... PRIVATE KEY" in base64, by what comes before PRIVATE */
    {"LS0tLS1CRUdJTiBQUklWQVRFIEtFWS", "private key in base64", ANY, AT_LEAST, 1},
    {"LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt", "private key in base64", ANY, AT_LEAST, 1},
    {"LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS", "private key in base64", ANY, AT_LEAST, 1},
    {"LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ", "private key in base64", ANY, AT_LEAST, 1},
    {"LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRVkt", "private key in base64", ANY, AT_LEAST, 1},
};

/* NAME=VALUE or "NAME": "VALUE" inside a value: JSON, connection strings, DSNs, .npmrc lines.
 * Compared without regard to case. */
static const struct field {
    const char *name;
    size_t least; /* characters of its value */
} fields[] = {
    {"password", 1},        {"passwd", 1},
    {"passphrase", 1},      {"secret", 1},
    {"client_secret", 1},   {"clientsecret", 1},
    {"secret_key", 1},      {"secretkey", 1},
    {"secretaccesskey", 1}, {"secret_access_key", 1},
    {"access_token", 1},    {"accesstoken", 1},
    {"refresh_token", 1},   {"authtoken", 1},
    {"identitytoken", 1},   {"private_key", 1},
    {"privatekey", 1},      {"api_key", 1},
    {"apikey", 1},          {"accountkey", 1},
    {"sharedaccesskey", 1}, {"sharedaccesssignature", 1},
    {"auth", 12}, /* base64 of user:password */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_word(char c)
{
    return is_alnum(c) || c == '_';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool in_alphabet(char c, enum alphabet alphabet)
{
    switch (alphabet) {
    case UPPER_DIGIT:
        return is_digit(c) || (c >= 'A' && c <= 'Z');
    case ALNUM:
        return is_alnum(c);
    case HEX:
        return is_hex(c);
    case URL_SAFE:
        return is_word(c) || c == '-';
    case DOTTED:
        return is_word(c) || c == '-' || c == '.';
    case ANY:
        break;
    }
    return c > ' ' && c < 0x7f;
}

/* Not further than `max`, what the caller needs to know: a value of nothing but beginnings must not
 * cost its square. */
static size_t run_length(const char *s, const char *end, enum alphabet alphabet, size_t max)
{
    const char *p = s;
    if ((size_t)(end - s) > max)
        end = s + max;
    while (p < end && in_alphabet(*p, alphabet))
        p++;
    return (size_t)(p - s);
}

/* Does a word begin at `p`? Also right after an escape of JSON ("\n") or of a URL ("%3D"). */
static bool begins_word(const char *start, const char *p)
{
    size_t before = (size_t)(p - start);
    if (before == 0 || !is_word(p[-1]))
        return true;
    return (before >= 2 && p[-2] == '\\') ||
           (before >= 3 && p[-3] == '%' && is_hex(p[-2]) && is_hex(p[-1]));
}

static bool has_prefix(const char *p, const char *end, const char *prefix)
{
    size_t n = strlen(prefix);
    return (size_t)(end - p) >= n && memcmp(p, prefix, n) == 0;
}

static const char *match_form(const char *p, const char *end)
{
    for (size_t i = 0; i < COUNT(forms); i++) {
        const struct form *f = &forms[i];
        if (*p != f->prefix[0] || !has_prefix(p, end, f->prefix))
            continue;
        const char *body = p + strlen(f->prefix);
        size_t n = run_length(body, end, f->alphabet, f->length + 1);
        /* An exact form must not go on as a longer word in another alphabet. */
        bool cut = n == f->length && (body + n == end || !is_word(body[n]));
        if (f->how == EXACTLY ? cut : n >= f->length)
            return f->what;
    }
    return NULL;
}

/* Parts of base64url joined by dots, each of at least `least[i]` characters. */
static bool match_dotted(const char *p, const char *end, const size_t *least, size_t parts)
{
    for (size_t i = 0; i < parts; i++) {
        size_t n = run_length(p, end, URL_SAFE, SIZE_MAX);
        if (n < least[i])
            return false;
        p += n;
        if (i + 1 < parts && (p == end || *p++ != '.'))
            return false;
    }
    return true;
}

/* RFC 7519: header, claims, signature. Where one beginning fails, all others in the same run of
 * letters do: their first part is shorter, the rest is the same. *fails_before remembers that. */
static bool match_jwt(const char *p, const char *end, const char **fails_before)
{
    static const size_t least[] = {10, 6, 4};
    if (p < *fails_before || !has_prefix(p, end, "eyJ"))
        return false;
    if (match_dotted(p, end, least, COUNT(least)))
        return true;
    *fails_before = p + run_length(p, end, URL_SAFE, SIZE_MAX);
    return false;
}

static bool match_sendgrid(const char *p, const char *end)
{
    static const size_t least[] = {2, 16, 16}; /* "SG", identifier, key */
    return has_prefix(p, end, "SG.") && match_dotted(p, end, least, COUNT(least));
}

/* RFC 7468: "-----BEGIN RSA PRIVATE KEY-----"; the label is short. */
static const char *match_pem(const char *p, const char *end)
{
    if (*p != '-' || !has_prefix(p, end, "-----BEGIN "))
        return NULL;
    const size_t label_max = 48;
    const char *stop = (size_t)(end - p) > label_max ? p + label_max : end;
    for (const char *q = p; q < stop && *q != '\n'; q++)
        if (has_prefix(q, end, "PRIVATE KEY"))
            return "private key";
    return NULL;
}

static bool ends_authority(char c)
{
    return c == '/' || c == '?' || c == '#' || c == '"' || c == '\'' || c == '`' || c == '<' ||
           c == '>' || c == '\\' || is_space(c);
}

/* RFC 3986: scheme://user:password@host; `p` is at "://". The last '@' of the authority counts,
 * since people do not encode those of a password. A long user alone before an http host is a token
 * (Sentry, GitHub); "git@" is not. */
static const char *match_userinfo(const char *start, const char *p, const char *end)
{
    if (*p != ':' || !has_prefix(p, end, "://") || p == start || !is_alnum(p[-1]))
        return NULL;
    const size_t token_min = 16;
    const char *user = p + 3;
    const char *colon = NULL;
    const char *at = NULL;
    for (const char *q = user; q < end && !ends_authority(*q); q++) {
        if (*q == ':' && !colon && !at)
            colon = q;
        if (*q == '@')
            at = q;
    }
    if (!at)
        return NULL;
    if (colon)
        return at > colon + 1 ? "password in a URL" : NULL;
    bool http = (p - start >= 4 && memcmp(p - 4, "http", 4) == 0) ||
                (p - start >= 5 && memcmp(p - 5, "https", 5) == 0);
    return http && (size_t)(at - user) >= token_min ? "token in a URL" : NULL;
}

static const char *skip_quotes_and_spaces(const char *p, const char *end)
{
    while (p < end && (is_space(*p) || *p == '"' || *p == '\'' || *p == '\\'))
        p++;
    return p;
}

static bool is_plain_word(const char *p, size_t size)
{
    static const char *const plain[] = {"true", "false", "null", "none", "undefined", "0", "1"};
    for (size_t i = 0; i < COUNT(plain); i++)
        if (size == strlen(plain[i]) && strncasecmp(p, plain[i], size) == 0)
            return true;
    return false;
}

/* Length of the value after the name of a field: '=' or ':', quotes, and then something that is
 * neither empty nor a reference ($NAME, ${NAME}, <name>) nor an object. 0 where there is none. */
static size_t field_value_size(const char *p, const char *end)
{
    const size_t enough = 64;
    p = skip_quotes_and_spaces(p, end);
    if (p == end || (*p != '=' && *p != ':'))
        return 0;
    p = skip_quotes_and_spaces(p + 1, end);
    if (p == end || strchr(",;&})]$<{[", *p))
        return 0;
    size_t n = run_length(p, end, ANY, enough);
    while (n > 0 && strchr("\"',;}&", p[n - 1]))
        n--;
    return is_plain_word(p, n) ? 0 : n;
}

/* Fields begin after anything that is no letter or digit (db_password), or at a hump. */
static bool begins_field(const char *start, const char *p)
{
    if (p == start || !is_alnum(p[-1]))
        return true;
    return (*p >= 'A' && *p <= 'Z' && p[-1] >= 'a' && p[-1] <= 'z') || begins_word(start, p);
}

static const char *match_field(const char *p, const char *end)
{
    for (size_t i = 0; i < COUNT(fields); i++) {
        size_t n = strlen(fields[i].name);
        if ((size_t)(end - p) <= n || strncasecmp(p, fields[i].name, n) != 0)
            continue;
        if (field_value_size(p + n, end) >= fields[i].least)
            return "a field that holds a secret";
    }
    return NULL;
}

/* HTTP: "Authorization: basic ..." (CI checkouts put it into git's configuration), "Bearer ...". */
static const char *match_header(const char *p, const char *end)
{
    static const char authorization[] = "authorization:";
    static const char bearer[] = "bearer ";
    size_t left = (size_t)(end - p);
    if (left > sizeof authorization && strncasecmp(p, authorization, sizeof authorization - 1) == 0)
        return "authorization header";
    if (left > sizeof bearer && strncasecmp(p, bearer, sizeof bearer - 1) == 0 &&
        run_length(p + sizeof bearer - 1, end, DOTTED, 16) == 16)
        return "bearer token";
    return NULL;
}

static const char *match_at_word(const char *p, const char *end, const char **jwt_fails_before)
{
    const char *what = match_form(p, end);
    if (what)
        return what;
    if (match_jwt(p, end, jwt_fails_before))
        return "JSON web token";
    if (match_sendgrid(p, end))
        return "SendGrid key";
    return match_header(p, end);
}

const char *sbox_secret_find(const char *value, size_t size)
{
    const char *end = value + size;
    const char *jwt_fails_before = value;
    for (const char *p = value; p < end; p++) {
        const char *what = match_pem(p, end);
        if (!what)
            what = match_userinfo(value, p, end);
        if (!what && is_word(*p) && begins_word(value, p))
            what = match_at_word(p, end, &jwt_fails_before);
        if (!what && is_alnum(*p) && begins_field(value, p))
            what = match_field(p, end);
        if (what)
            return what;
    }
    return NULL;
}
