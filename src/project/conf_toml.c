/* TOML: tables and settings. A value may span lines (arrays, strings of three quotes); a setting is
 * kept or left out as one. */
#include "base/error.h"

#include "project/conf_impl.h"

struct scanner {
    const char *at;
    const char *end;
};

static bool looking_at(const struct scanner *s, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, text, n) == 0;
}

/* `at` stands on a quote; leaves it behind the closing one. */
static int skip_string(struct scanner *s)
{
    char quote = *s->at;
    const char *three = quote == '"' ? "\"\"\"" : "'''";
    bool lines = looking_at(s, three);
    s->at += lines ? 3 : 1;
    for (; s->at < s->end; s->at++) {
        if (*s->at == '\\' && quote == '"' && s->at + 1 < s->end) {
            s->at++;
        } else if (!lines && *s->at == '\n') {
            return -EBADMSG;
        } else if (lines ? looking_at(s, three) : *s->at == quote) {
            s->at += lines ? 3 : 1;
            return 0;
        }
    }
    return -EBADMSG;
}

static void skip_comment(struct scanner *s)
{
    while (s->at < s->end && *s->at != '\n')
        s->at++;
}

/* From the start of a statement to the newline that ends it. *ret_equals: the first '=' outside of
 * strings; *ret_value_end: where the value ends, before a comment on its last line. */
static int skip_statement(struct scanner *s, const char **ret_equals, const char **ret_value_end)
{
    size_t depth = 0;
    *ret_equals = *ret_value_end = NULL;
    while (s->at < s->end && (*s->at != '\n' || depth > 0)) {
        char c = *s->at;
        if (c == '#') {
            *ret_value_end = depth == 0 ? s->at : NULL;
            skip_comment(s);
            continue;
        }
        if (c == '"' || c == '\'') {
            int r = skip_string(s);
            if (r < 0)
                return r;
            continue;
        }
        if (c == '=' && !*ret_equals)
            *ret_equals = s->at;
        depth += c == '[' || c == '{';
        if (c == ']' || c == '}') {
            if (depth == 0)
                return -EBADMSG;
            depth--;
        }
        s->at++;
    }
    if (!*ret_value_end)
        *ret_value_end = s->at;
    return depth == 0 ? 0 : -EBADMSG;
}

/* [table], [[table]]: everything below one that is named after secrets is left out. */
static int take_table(struct sbox_conf_writer *w, struct sbox_span all, bool *ret_secret)
{
    *ret_secret = sbox_conf_key_secret(all);
    if (*ret_secret)
        sbox_conf_left_out(w);
    else
        *ret_secret = sbox_conf_other(w, all);
    return 0;
}

static int take_statement(struct sbox_conf_writer *w, struct scanner *s, bool *in_secret_table)
{
    const char *equals = NULL;
    const char *value_end = NULL;
    const char *begin = s->at;
    int r = skip_statement(s, &equals, &value_end);
    if (r < 0)
        return r;
    struct sbox_span all = sbox_span_of(begin, s->at);
    struct sbox_span line = sbox_span_trim(sbox_span_of(begin, value_end));
    if (all.size > 0 && all.at[all.size - 1] == '\r')
        all.size--;
    if (line.size > 0 && line.at[0] == '[')
        return take_table(w, all, in_secret_table);
    if (line.size == 0) {
        (void)sbox_conf_other(w, all);
        return 0;
    }
    if (!equals || equals >= value_end)
        return -EBADMSG;
    /* The comment is part of what is looked at. */
    if (*in_secret_table)
        sbox_conf_left_out(w);
    else
        (void)sbox_conf_setting(w, all, sbox_span_trim(sbox_span_of(begin, equals)),
                                sbox_span_of(equals + 1, all.at + all.size));
    return 0;
}

int sbox_conf_toml(struct sbox_conf_writer *w, const char *data, size_t size)
{
    struct scanner s = {data, data + size};
    bool in_secret_table = false;
    while (s.at < s.end) {
        int r = take_statement(w, &s, &in_secret_table);
        if (r < 0)
            return r;
        s.at += s.at < s.end; /* the newline */
    }
    return 0;
}
