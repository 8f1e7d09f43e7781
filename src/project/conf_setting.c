/* One setting: is it a secret, and what of it may stay? */
#include "base/error.h"

#include "project/conf_impl.h"
#include "project/secret.h"

#include <ctype.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct sbox_span sbox_span_of(const char *at, const char *end)
{
    return (struct sbox_span){at, (size_t)(end - at)};
}

struct sbox_span sbox_span_trim(struct sbox_span s)
{
    while (s.size > 0 && isspace((unsigned char)s.at[0])) {
        s.at++;
        s.size--;
    }
    while (s.size > 0 && isspace((unsigned char)s.at[s.size - 1]))
        s.size--;
    return s;
}

bool sbox_span_line(const char **at, const char *end, struct sbox_span *ret)
{
    if (*at == end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    *ret = sbox_span_of(*at, stop ? stop : end);
    *at = stop ? stop + 1 : end;
    if (ret->size > 0 && ret->at[ret->size - 1] == '\r')
        ret->size--;
    return true;
}

/* -- keys -------------------------------------------------------------------------------------- */

/* The letters and digits of a key in small letters: `//host/:_authToken`, `http-basic`, `authToken`
 * and `AUTH_TOKEN` are compared alike. Cut where longer than any word that is looked for. */
static size_t fold(struct sbox_span key, char *ret, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < key.size && n + 1 < size; i++)
        if (isalnum((unsigned char)key.at[i]))
            ret[n++] = (char)tolower((unsigned char)key.at[i]);
    ret[n] = '\0';
    return n;
}

static bool holds_secret_word(const char *folded)
{
    static const char *const words[] = {"token",      "passw",      "passphrase", "secret",
                                        "credential", "apikey",     "privatekey", "keyfile",
                                        "certfile",   "clientcert", "clientkey",  "bearer",
                                        "cookie",     "httpbasic",  "identity",   "extraheader",
                                        "authident",  "accesskey",  "account",    "authorization"};
    for (size_t i = 0; i < COUNT(words); i++)
        if (strstr(folded, words[i]))
            return true;
    for (const char *at = folded; (at = strstr(at, "auth")); at += 4)
        if (strncmp(at, "author", 6) != 0)
            return true;
    return false;
}

/* The last word of a key, which says what its value is: `key`, `//host/:username`. */
static bool ends_in_secret_word(struct sbox_span key)
{
    static const char *const words[] = {"key",  "pass",  "pwd",      "cert",     "otp",
                                        "user", "login", "username", "signature"};
    char last[32];
    size_t from = key.size;
    while (from > 0 && !isalnum((unsigned char)key.at[from - 1]))
        from--;
    size_t end = from;
    while (from > 0 && isalnum((unsigned char)key.at[from - 1]))
        from--;
    (void)fold((struct sbox_span){key.at + from, end - from}, last, sizeof last);
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(last, words[i]) == 0)
            return true;
    /* git's sendemail.smtpPass and its like */
    size_t size = strlen(last);
    return size > 4 && strcmp(last + size - 4, "pass") == 0 && strcmp(last, "bypass") != 0;
}

/* Keys that sound like secrets and are none. pip calls the file of authorities it trusts `cert`. */
static bool is_known_harmless(const char *folded)
{
    static const char *const keys[] = {"authtype", "globalcert", "cert", "keyringprovider"};
    for (size_t i = 0; i < COUNT(keys); i++)
        if (strcmp(folded, keys[i]) == 0)
            return true;
    return false;
}

bool sbox_conf_key_secret(struct sbox_span key)
{
    char folded[4096];
    if (key.size >= sizeof folded || memchr(key.at, '\\', key.size))
        return true; /* an escape may spell any word */
    (void)fold(key, folded, sizeof folded);
    if (is_known_harmless(folded))
        return false;
    /* Bundler: BUNDLE_GEMS__EXAMPLE__COM: user:password */
    if (strncmp(key.at, "BUNDLE_", key.size < 7 ? key.size : 7) == 0 &&
        memmem(key.at, key.size, "__", 2))
        return true;
    return holds_secret_word(folded) || ends_in_secret_word(key);
}

/* -- values ------------------------------------------------------------------------------------ */

static struct sbox_span unquote(struct sbox_span v)
{
    v = sbox_span_trim(v);
    if (v.size >= 2 && (v.at[0] == '"' || v.at[0] == '\'') && v.at[v.size - 1] == v.at[0])
        return (struct sbox_span){v.at + 1, v.size - 2};
    return v;
}

static bool is_reference(struct sbox_span v)
{
    if (v.size < 4 || v.at[0] != '$' || v.at[1] != '{' || v.at[v.size - 1] != '}')
        return false;
    for (size_t i = 2; i < v.size - 1; i++)
        if (!isalnum((unsigned char)v.at[i]) && v.at[i] != '_' &&
            !(v.at[i] == '?' && i == v.size - 2) && !(v.at[i] == '-' && i == v.size - 2))
            return false;
    return true;
}

bool sbox_conf_value_plain(struct sbox_span value)
{
    static const char *const words[] = {"true", "false", "null", "yes",   "no",
                                        "on",   "off",   "web",  "legacy"};
    struct sbox_span v = unquote(value);
    for (size_t i = 0; i < COUNT(words); i++)
        if (v.size == strlen(words[i]) && strncasecmp(v.at, words[i], v.size) == 0)
            return true;
    return v.size == 0 || is_reference(v);
}

static bool ends_authority(char c)
{
    return isspace((unsigned char)c) || strchr("/?#\"'`<>\\,", c);
}

/* scheme://USER@host: git logs in over ssh as "git", which is no secret. */
static bool is_ssh_user(const char *start, const char *colon, struct sbox_span userinfo)
{
    return colon - start >= 3 && memcmp(colon - 3, "ssh", 3) == 0 &&
           !memchr(userinfo.at, ':', userinfo.size);
}

/* `at` stands behind "://". Where the userinfo ends: behind the last '@' of the authority; `at`
 * when there is none. */
static const char *end_of_userinfo(const char *at, const char *end)
{
    const char *behind = at;
    for (const char *p = at; p < end && !ends_authority(*p); p++)
        if (*p == '@')
            behind = p + 1;
    return behind;
}

size_t sbox_conf_cut_urls(struct sbox_buf *out, struct sbox_span value, bool proxy)
{
    const char *end = value.at + value.size;
    const char *done = value.at;
    size_t cut = 0;
    for (const char *at = value.at; (at = memmem(at, (size_t)(end - at), "://", 3));) {
        const char *colon = at;
        at += 3;
        const char *host = end_of_userinfo(at, end);
        if (host == at || is_ssh_user(value.at, colon, sbox_span_of(at, host)))
            continue;
        sbox_buf_add(out, done, (size_t)(at - done));
        done = at = host;
        cut++;
    }
    if (proxy && cut == 0 && !memmem(value.at, value.size, "://", 3)) {
        while (done < end && (*done == ' ' || *done == '"' || *done == '\''))
            sbox_buf_add_byte(out, (uint8_t)*done++);
        const char *host = end_of_userinfo(done, end);
        cut = host != done;
        done = host;
    }
    sbox_buf_add(out, done, (size_t)(end - done));
    return cut;
}

bool sbox_conf_proxy_unclear(struct sbox_span cut)
{
    return cut.size > 0 && !memmem(cut.at, cut.size, "://", 3) && memchr(cut.at, '@', cut.size);
}

/* Strings are compared as they stand, so an escape might spell a scheme or a key. A newline in a
 * certificate ("\n") and a backslash itself do not. */
static bool has_odd_escape(struct sbox_span v)
{
    for (size_t i = 0; i < v.size; i++)
        if (v.at[i] == '\\') {
            if (i + 1 == v.size || !strchr("n\\", v.at[i + 1]))
                return true;
            i++;
        }
    return false;
}

static bool is_key_char(char c)
{
    return isalnum((unsigned char)c) || strchr("_-.", c) || (unsigned char)c > 127;
}

/* { token = "x" }, ?token=x, {"password": x}: a key inside a value, with '=' or ':' after it, and
 * blanks and quotes between. */
static bool holds_secret_key(struct sbox_span v)
{
    struct sbox_span key = {v.at, 0};
    bool ended = true;
    for (const char *at = v.at; at < v.at + v.size; at++) {
        if (is_key_char(*at)) {
            if (ended)
                key = (struct sbox_span){at, 0};
            ended = false;
            key.size++;
            continue;
        }
        ended = true;
        if ((*at == '=' || *at == ':') && key.size > 0 && sbox_conf_key_secret(key))
            return true;
        if (*at != ' ' && *at != '"' && *at != '\'')
            key.size = 0;
    }
    return false;
}

bool sbox_conf_value_secret(struct sbox_span value)
{
    return value.size > 0 &&
           (holds_secret_key(value) || sbox_secret_find(value.at, value.size) != NULL);
}

/* -- whole settings ---------------------------------------------------------------------------- */

void sbox_conf_left_out(struct sbox_conf_writer *w)
{
    w->taken++;
    sbox_buf_add_str(&w->text, "# left out by sbox\n");
}

static bool is_proxy(struct sbox_span key)
{
    char folded[4096];
    (void)fold(key, folded, sizeof folded);
    return strstr(folded, "proxy") != NULL;
}

static bool holds_url_login(struct sbox_span s, bool *failed)
{
    struct sbox_buf cut = {0};
    bool holds = sbox_conf_cut_urls(&cut, s, false) > 0;
    *failed |= cut.failed;
    sbox_buf_release(&cut);
    return holds;
}

/* `all` with the URLs of `value` cut. Returns how many were. */
static size_t cut_value(struct sbox_buf *line, struct sbox_span all, struct sbox_span value,
                        bool proxy)
{
    const char *behind = value.at + value.size;
    sbox_buf_add(line, all.at, (size_t)(value.at - all.at));
    size_t urls = sbox_conf_cut_urls(line, value, proxy);
    sbox_buf_add(line, behind, (size_t)(all.at + all.size - behind));
    return urls;
}

/* What was taken for the key may be the beginning of a URL: the line is looked at once more when it
 * is as it would be written. */
bool sbox_conf_setting(struct sbox_conf_writer *w, struct sbox_span all, struct sbox_span key,
                       struct sbox_span value)
{
    struct sbox_buf line = {0};
    bool proxy = is_proxy(key);
    size_t urls = cut_value(&line, all, value, proxy);
    size_t before = (size_t)(value.at - all.at);
    size_t behind = all.size - before - value.size;
    bool left_out = sbox_conf_key_secret(key) && !sbox_conf_value_plain(value);
    left_out = left_out || line.failed || has_odd_escape(value);
    if (!left_out && line.size > 0) {
        struct sbox_span cut = {line.data + before, line.size - before - behind};
        left_out = sbox_conf_value_secret(cut) || (proxy && sbox_conf_proxy_unclear(cut)) ||
                   sbox_secret_find(line.data, line.size) != NULL ||
                   holds_url_login((struct sbox_span){line.data, line.size}, &line.failed);
    }
    if (left_out) {
        sbox_conf_left_out(w);
    } else {
        sbox_buf_add(&w->text, line.data, line.size);
        sbox_buf_add_byte(&w->text, '\n');
        w->taken += urls;
    }
    w->text.failed |= line.failed;
    sbox_buf_release(&line);
    return left_out;
}

bool sbox_conf_other(struct sbox_conf_writer *w, struct sbox_span all)
{
    bool left_out =
        holds_url_login(all, &w->text.failed) || has_odd_escape(all) || sbox_conf_value_secret(all);
    if (left_out) {
        sbox_conf_left_out(w);
        return true;
    }
    sbox_buf_add(&w->text, all.at, all.size);
    sbox_buf_add_byte(&w->text, '\n');
    return false;
}
