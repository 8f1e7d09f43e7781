#include "base/error.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "project/conf_impl.h"
#include "project/secret.h"

#include <ctype.h>

static const struct {
    const char *dir; /* NULL: any */
    const char *name;
    enum sbox_conf_syntax syntax;
} files[] = {
    {NULL, ".npmrc", SBOX_CONF_NPMRC},
    {NULL, ".yarnrc", SBOX_CONF_YARNRC},
    {NULL, ".yarnrc.yml", SBOX_CONF_YAML},
    {NULL, "pip.conf", SBOX_CONF_INI},
    {NULL, "pip.ini", SBOX_CONF_INI},
    {NULL, "uv.toml", SBOX_CONF_TOML},
    {NULL, "bunfig.toml", SBOX_CONF_TOML},
    {NULL, ".bunfig.toml", SBOX_CONF_TOML},
    {NULL, "poetry.toml", SBOX_CONF_TOML},
    {NULL, ".condarc", SBOX_CONF_YAML},
    {"pypoetry", "config.toml", SBOX_CONF_TOML},
    {".cargo", "config.toml", SBOX_CONF_TOML},
    {".cargo", "config", SBOX_CONF_TOML},
    {".cargo", "credentials.toml", SBOX_CONF_CREDENTIALS},
    {".cargo", "credentials", SBOX_CONF_CREDENTIALS},
    {".bundle", "config", SBOX_CONF_YAML},
    {"pnpm", "rc", SBOX_CONF_NPMRC},
    {".docker", "config.json", SBOX_CONF_CREDENTIALS},
    {".gem", "credentials", SBOX_CONF_CREDENTIALS},
    {NULL, "auth.json", SBOX_CONF_COMPOSER},
    {NULL, ".netrc", SBOX_CONF_CREDENTIALS},
    {NULL, "_netrc", SBOX_CONF_CREDENTIALS},
    {NULL, ".pypirc", SBOX_CONF_CREDENTIALS},
    {NULL, ".git-credentials", SBOX_CONF_CREDENTIALS},
    {NULL, ".dockercfg", SBOX_CONF_CREDENTIALS},
};

enum sbox_conf_syntax sbox_conf_syntax_of(const char *dir, const char *name)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].name[0] == name[0] && strcmp(files[i].name, name) == 0 &&
            (!files[i].dir || strcmp(files[i].dir, dir) == 0))
            return files[i].syntax;
    return SBOX_CONF_NONE;
}

/* Readers differ about these bytes: npm ends a line at a lone CR, git does not. */
static bool is_plain_text(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] == '\0' || (data[i] == '\r' && (i + 1 == size || data[i + 1] != '\n')))
            return false;
    return sbox_utf8_valid(data, size);
}

static int parse(enum sbox_conf_syntax syntax, struct sbox_conf_writer *w, const char *data,
                 size_t size)
{
    switch (syntax) {
    case SBOX_CONF_NPMRC:
        return sbox_conf_npmrc(w, data, size);
    case SBOX_CONF_INI:
        return sbox_conf_ini(w, data, size);
    case SBOX_CONF_YARNRC:
        return sbox_conf_yarnrc(w, data, size);
    case SBOX_CONF_YAML:
        return sbox_conf_yaml(w, data, size);
    case SBOX_CONF_TOML:
        return sbox_conf_toml(w, data, size);
    case SBOX_CONF_GIT:
        return sbox_conf_git(w, data, size);
    case SBOX_CONF_NONE:
    case SBOX_CONF_COMPOSER:
    case SBOX_CONF_CREDENTIALS:
        break;
    }
    return -EBADMSG;
}

/* ${NAME}, with whatever npm and yarn allow after the name: "?", "-default", ":-default". */
static int find_names(const char *data, size_t size, struct sbox_strv *names)
{
    if (size == 0)
        return 0;
    const char *end = data + size;
    const char *at = data;
    while ((at = memmem(at, (size_t)(end - at), "${", 2))) {
        const char *name = at += 2;
        while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
            at++;
        _cleanup_free_ char *copy = strndup(name, (size_t)(at - name));
        if (!copy)
            return -ENOMEM;
        if (*copy && !isdigit((unsigned char)*copy) && !sbox_strv_contains(names, copy) &&
            sbox_strv_add(names, copy) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int hide(struct sbox_conf *ret, const char *why)
{
    ret->verdict = SBOX_CONF_HIDDEN;
    ret->why = why;
    return 0;
}

static int finish(struct sbox_conf_writer *w, const char *data, size_t size, struct sbox_conf *ret)
{
    if (w->taken == 0)
        return find_names(data, size, &ret->names);
    ret->verdict = SBOX_CONF_FILTERED;
    ret->taken = w->taken;
    ret->why = "secrets are taken out";
    int r = find_names(w->text.data, w->text.size, &ret->names);
    if (r == 0)
        ret->text = sbox_buf_take_str(&w->text);
    return ret->text ? r : -ENOMEM;
}

/* Cutting may leave what reads otherwise than it did, a bracket without its other half, say. What
 * is shown must be understood and found clean by itself, else nothing is. 0, -EBADMSG or -ENOMEM.
 */
static int check_left(enum sbox_conf_syntax syntax, const struct sbox_conf_writer *w)
{
    struct sbox_conf_writer again = {.taken = 0};
    if (w->taken == 0 || w->text.size == 0)
        return 0;
    int r = parse(syntax, &again, w->text.data, w->text.size);
    if (r == 0 && sbox_buf_failed(&again.text))
        r = -ENOMEM;
    sbox_buf_release(&again.text);
    return r == 0 && again.taken > 0 ? -EBADMSG : r;
}

static bool is_blank(const char *data, size_t size)
{
    return sbox_span_trim((struct sbox_span){data, size}).size == 0;
}

/* Many programs have a file of that name; Composer's has one of these at its top. */
static bool is_composer_auth(const char *data, size_t size)
{
    static const char *const keys[] = {
        "\"http-basic\"",   "\"bearer\"",          "\"github-oauth\"",       "\"gitlab-oauth\"",
        "\"gitlab-token\"", "\"bitbucket-oauth\"", "\"client-certificate\"", "\"forgejo-token\""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (memmem(data, size, keys[i], strlen(keys[i])))
            return true;
    return sbox_secret_find(data, size) != NULL;
}

int sbox_conf_filter(enum sbox_conf_syntax syntax, const char *data, size_t size,
                     struct sbox_conf *ret)
{
    struct sbox_conf_writer w = {.taken = 0};
    if (is_blank(data, size))
        return 0;
    if (syntax == SBOX_CONF_CREDENTIALS)
        return hide(ret, "holds logins");
    if (syntax == SBOX_CONF_COMPOSER)
        return is_composer_auth(data, size) ? hide(ret, "holds logins") : 0;
    if (size > SBOX_CONF_MAX)
        return hide(ret, "too large to take secrets out, so hidden whole");
    int r = is_plain_text(data, size) ? parse(syntax, &w, data, size) : -EBADMSG;
    if (r == 0 && sbox_buf_failed(&w.text))
        r = -ENOMEM;
    if (r == 0)
        r = check_left(syntax, &w);
    if (r == -EBADMSG)
        r = hide(ret, "not understood, so hidden whole");
    else if (r == 0)
        r = finish(&w, data, size, ret);
    sbox_buf_release(&w.text);
    if (r < 0)
        sbox_conf_release(ret);
    return r;
}

void sbox_conf_release(struct sbox_conf *c)
{
    free(c->text);
    sbox_strv_release(&c->names);
    *c = (struct sbox_conf){0};
}

char *sbox_conf_bare_url(const char *url)
{
    struct sbox_buf out = {0};
    (void)sbox_conf_cut_urls(&out, (struct sbox_span){url, strlen(url)}, false);
    char *text = sbox_buf_take_str(&out);
    if (text && sbox_secret_find(text, strlen(text))) {
        free(text);
        return NULL;
    }
    return text;
}
