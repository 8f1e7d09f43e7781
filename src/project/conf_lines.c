/* The syntaxes whose settings stand on lines: npm's ini, Python's configparser, yarn 1. */
#include "base/error.h"

#include "project/conf_impl.h"

static const char *end_of(struct sbox_span s)
{
    return s.at + s.size;
}

/* Where the first of `delimiters` stands, or the end. With `quotes` a quoted key may hold them. */
static const char *find_delimiter(struct sbox_span line, const char *delimiters, bool quotes)
{
    char quote = '\0';
    for (const char *at = line.at; at < end_of(line); at++) {
        if (quote && *at == quote)
            quote = '\0';
        else if (quote)
            continue;
        else if (quotes && at == line.at && (*at == '"' || *at == '\''))
            quote = *at;
        else if (strchr(delimiters, *at))
            return at;
    }
    return end_of(line);
}

static bool is_comment(struct sbox_span line)
{
    return line.size == 0 || line.at[0] == '#' || line.at[0] == ';';
}

/* A line with the key up to the delimiter at `at`; without one the whole line is a value. */
static bool setting(struct sbox_conf_writer *w, struct sbox_span all, struct sbox_span line,
                    const char *at)
{
    if (at == end_of(line))
        return sbox_conf_other(w, all);
    return sbox_conf_setting(w, all, sbox_span_of(line.at, at), sbox_span_of(at + 1, end_of(line)));
}

/* [section]. One that had to be left out would hand its settings to the section before it, and with
 * a bracket that is not closed readers differ about what it is. */
static int section(struct sbox_conf_writer *w, struct sbox_span all, struct sbox_span line)
{
    const char *close = memchr(line.at, ']', line.size);
    bool closed = close && is_comment(sbox_span_trim(sbox_span_of(close + 1, end_of(line))));
    return closed && !sbox_conf_other(w, all) ? 0 : -EBADMSG;
}

/* A key without a value is `true`; one that looks like a secret was put there by mistake. npm's
 * reader cuts at the first "=", quotes or not. */
int sbox_conf_npmrc(struct sbox_conf_writer *w, const char *data, size_t size)
{
    const char *end = data + size;
    struct sbox_span all;
    while (sbox_span_line(&data, end, &all)) {
        struct sbox_span line = sbox_span_trim(all);
        if (is_comment(line))
            (void)sbox_conf_other(w, all);
        else if (line.at[0] != '[')
            (void)setting(w, all, line, find_delimiter(line, "=", false));
        else if (section(w, all, line) < 0)
            return -EBADMSG;
    }
    return 0;
}

static size_t indent_of(struct sbox_span all, struct sbox_span line)
{
    return (size_t)(line.at - all.at);
}

/* A line that is indented further than the key before it belongs to its value, comments and empty
 * lines between or not. What belongs to a setting that is left out, is. */
int sbox_conf_ini(struct sbox_conf_writer *w, const char *data, size_t size)
{
    const char *end = data + size;
    struct sbox_span all;
    bool in_value = false;
    bool left_out = false;
    size_t indent = 0;
    struct sbox_span key = {data, 0};
    while (sbox_span_line(&data, end, &all)) {
        struct sbox_span line = sbox_span_trim(all);
        if (is_comment(line)) {
            (void)sbox_conf_other(w, all);
            continue;
        }
        if (in_value && indent_of(all, line) > indent) {
            if (left_out)
                sbox_conf_left_out(w);
            else
                left_out = sbox_conf_setting(w, all, key, line);
            continue;
        }
        indent = indent_of(all, line);
        in_value = line.at[0] != '[';
        if (!in_value) {
            if (section(w, all, line) < 0)
                return -EBADMSG;
            continue;
        }
        const char *at = find_delimiter(line, "=:", false);
        if (at == end_of(line))
            return -EBADMSG;
        key = sbox_span_of(line.at, at);
        left_out = setting(w, all, line, at);
    }
    return 0;
}

int sbox_conf_yarnrc(struct sbox_conf_writer *w, const char *data, size_t size)
{
    const char *end = data + size;
    struct sbox_span all;
    while (sbox_span_line(&data, end, &all)) {
        struct sbox_span line = sbox_span_trim(all);
        if (is_comment(line))
            (void)sbox_conf_other(w, all);
        else
            (void)setting(w, all, line, find_delimiter(line, " \t", true));
    }
    return 0;
}
