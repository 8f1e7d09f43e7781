/* Block mappings and sequences, as people write them into .yarnrc.yml: one key a line, the rest by
 * indentation. Anchors, tags, several documents, keys of more than one line and strings that go on
 * on the next line are not understood. */
#include "base/error.h"

#include "project/conf_impl.h"

#include <ctype.h>

static const char *end_of(struct sbox_span s)
{
    return s.at + s.size;
}

/* The ':' that ends the key of a line, or NULL. */
static const char *end_of_key(struct sbox_span line)
{
    const char *at = line.at;
    const char *end = end_of(line);
    if (at < end && (*at == '"' || *at == '\'')) {
        const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        return close && close + 1 < end && close[1] == ':' ? close + 1 : NULL;
    }
    for (; at < end; at++)
        if (*at == ':' && (at + 1 == end || at[1] == ' ' || at[1] == '\t'))
            return at;
    return NULL;
}

/* A value whose end stands on its own line: plain, a closed string, a closed flow collection, or a
 * block scalar, whose lines are indented further. */
static bool ends_here(struct sbox_span v)
{
    size_t depth = 0;
    char quote = '\0';
    char first = '\0';
    if (v.size > 0)
        first = v.at[0];
    if (first && strchr("&*!?@`%", first))
        return false;
    if (!first || !strchr("\"'{[", first))
        return true;
    for (const char *at = v.at; at < end_of(v); at++) {
        if (quote && *at == quote)
            quote = '\0';
        else if (quote)
            continue;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        if (*at == '#' && at > v.at && isspace((unsigned char)at[-1]))
            break;
        depth += *at == '{' || *at == '[';
        if (*at == '}' || *at == ']') {
            if (depth == 0)
                return false;
            depth--;
        }
    }
    return !quote && depth == 0;
}

/* Behind the "- "s of a sequence; each counts as indentation. */
static struct sbox_span skip_dashes(struct sbox_span line)
{
    while (line.size > 0 && line.at[0] == '-' && (line.size == 1 || line.at[1] == ' ')) {
        line = sbox_span_of(line.at + 1, end_of(line));
        line = sbox_span_trim(line);
    }
    return line;
}

struct state {
    bool left_out; /* a setting was; what is indented further goes with it */
    bool scalar;   /* a value went on behind "key: |" or "key: word" */
    bool list;     /* ... whose value may be a list that is not indented further */
    size_t indent; /* of the key that these speak of */
};

static bool belongs(const struct state *s, struct sbox_span all, struct sbox_span line)
{
    size_t indent = (size_t)(line.at - all.at);
    bool item = line.at[0] == '-' && (line.size == 1 || line.at[1] == ' ');
    return indent > s->indent || (indent == s->indent && s->list && s->left_out && item);
}

static int take_line(struct sbox_conf_writer *w, struct state *s, struct sbox_span all,
                     struct sbox_span line)
{
    struct sbox_span content = skip_dashes(line);
    const char *colon = end_of_key(content);
    struct sbox_span key = sbox_span_of(content.at, colon ? colon : content.at);
    struct sbox_span value = sbox_span_of(colon ? colon + 1 : content.at, end_of(content));
    if (!ends_here(sbox_span_trim(value)) || (content.size && strchr("&*!?%`@|>", content.at[0])))
        return -EBADMSG;
    if (!colon && content.at == line.at) /* neither a key nor an item of a list */
        return -EBADMSG;
    s->indent = (size_t)((colon ? content.at : line.at) - all.at);
    /* A secret that fills a block of lines: the key tells, the value is still to come. */
    bool secret = colon && sbox_conf_key_secret(key) && sbox_span_trim(value).size == 0;
    if (secret)
        sbox_conf_left_out(w);
    else
        secret = sbox_conf_setting(w, all, key, value);
    s->left_out = secret;
    s->scalar = sbox_span_trim(value).size > 0;
    s->list = colon && !s->scalar;
    return 0;
}

/* A document is one; "---" may stand before it. */
static bool begins_document(struct sbox_span line)
{
    return line.size == 3 && memcmp(line.at, "---", 3) == 0;
}

int sbox_conf_yaml(struct sbox_conf_writer *w, const char *data, size_t size)
{
    const char *end = data + size;
    struct state s = {.indent = 0};
    struct sbox_span all;
    bool begun = false;
    while (sbox_span_line(&data, end, &all)) {
        struct sbox_span line = sbox_span_trim(all);
        if (memchr(all.at, '\t', (size_t)(line.at - all.at)))
            return -EBADMSG;
        if (line.size == 0 || line.at[0] == '#' || (!begun && begins_document(line))) {
            (void)sbox_conf_other(w, all);
            continue;
        }
        bool deeper = begun && belongs(&s, all, line);
        if (deeper && s.left_out) {
            sbox_conf_left_out(w);
        } else if (deeper && s.scalar) {
            (void)sbox_conf_setting(w, all, (struct sbox_span){line.at, 0}, line);
        } else {
            int r = take_line(w, &s, all, line);
            if (r < 0)
                return r;
        }
        begun = true;
    }
    return 0;
}
