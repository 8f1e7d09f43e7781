/* git-config(1)'s file syntax: sections, quoted values, comments, continuation lines. */
#include "project/git.h"

#include "base/buf.h"

#include <ctype.h>

struct parser {
    const char *at;
    const char *end;
    struct sbox_buf section; /* "core." or "remote.origin." */
    struct sbox_buf key;
    struct sbox_buf value;
};

static bool done(const struct parser *p)
{
    return p->at == p->end;
}

static void skip_blank(struct parser *p)
{
    while (!done(p) && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

static void skip_line(struct parser *p)
{
    while (!done(p) && *p->at != '\n')
        p->at++;
}

/* [name], [name "sub"], and the old [name.sub]. */
static int read_section(struct parser *p)
{
    sbox_buf_clear(&p->section);
    p->at++;
    while (!done(p) && (isalnum((unsigned char)*p->at) || *p->at == '-' || *p->at == '.'))
        sbox_buf_add_byte(&p->section, (uint8_t)tolower((unsigned char)*p->at++));
    if (p->section.size == 0)
        return -EBADMSG;
    skip_blank(p);
    if (!done(p) && *p->at == '"') {
        sbox_buf_add_byte(&p->section, '.');
        for (p->at++; !done(p) && *p->at != '"'; p->at++) {
            if (*p->at == '\\' && ++p->at == p->end)
                return -EBADMSG;
            if (*p->at == '\n' || *p->at == '\0')
                return -EBADMSG;
            sbox_buf_add_byte(&p->section, (uint8_t)*p->at);
        }
        if (done(p))
            return -EBADMSG;
        p->at++;
    }
    if (done(p) || *p->at != ']')
        return -EBADMSG;
    p->at++;
    sbox_buf_add_byte(&p->section, '.');
    return 0;
}

static int read_escape(struct parser *p)
{
    if (++p->at == p->end)
        return -EBADMSG;
    char c = *p->at++;
    if (c == '\r' && !done(p) && *p->at == '\n')
        c = *p->at++;
    if (c == '\n')
        return 0; /* a continuation line */
    const char *known = strchr("n\nt\tb\b\"\"\\\\", c);
    if (c == '\0' || !known)
        return -EBADMSG;
    sbox_buf_add_byte(&p->value, (uint8_t)(c == 'n'   ? '\n'
                                           : c == 't' ? '\t'
                                           : c == 'b' ? '\b'
                                                      : c));
    return 0;
}

static int read_value(struct parser *p)
{
    bool quoted = false;
    size_t solid = 0; /* up to here trailing blanks count */
    sbox_buf_clear(&p->value);
    skip_blank(p);
    while (!done(p) && *p->at != '\n') {
        if (*p->at == '\0')
            return -EBADMSG;
        if (!quoted && (*p->at == '#' || *p->at == ';')) {
            skip_line(p);
            break;
        }
        if (*p->at == '"') {
            quoted = !quoted;
            p->at++;
            solid = p->value.size;
            continue;
        }
        if (*p->at == '\\') {
            int r = read_escape(p);
            if (r < 0)
                return r;
            solid = p->value.size;
            continue;
        }
        sbox_buf_add_byte(&p->value, (uint8_t)*p->at);
        if (quoted || (*p->at != ' ' && *p->at != '\t' && *p->at != '\r'))
            solid = p->value.size;
        p->at++;
    }
    if (quoted)
        return -EBADMSG;
    p->value.size = solid;
    sbox_buf_add_byte(&p->value, 0);
    return 0;
}

static int read_entry(struct parser *p, sbox_git_config_each *each, void *context)
{
    sbox_buf_clear(&p->key);
    sbox_buf_add(&p->key, p->section.data, p->section.size);
    size_t section = p->key.size;
    while (!done(p) && (isalnum((unsigned char)*p->at) || *p->at == '-'))
        sbox_buf_add_byte(&p->key, (uint8_t)tolower((unsigned char)*p->at++));
    if (section == 0 || p->key.size == section)
        return -EBADMSG;
    sbox_buf_add_byte(&p->key, 0);
    skip_blank(p);
    bool has_value = !done(p) && *p->at == '=';
    if (has_value) {
        p->at++;
        int r = read_value(p);
        if (r < 0)
            return r;
    } else if (!done(p) && *p->at != '\n' && *p->at != '#' && *p->at != ';') {
        return -EBADMSG;
    }
    if (sbox_buf_failed(&p->key) || sbox_buf_failed(&p->value))
        return -ENOMEM;
    return each(p->key.data, has_value ? p->value.data : NULL, context);
}

static int walk(struct parser *p, sbox_git_config_each *each, void *context)
{
    int r = 0;
    if (p->end - p->at >= 3 && memcmp(p->at, "\xef\xbb\xbf", 3) == 0)
        p->at += 3;
    while (r == 0 && !done(p)) {
        char c = *p->at;
        if (isspace((unsigned char)c))
            p->at++;
        else if (c == '#' || c == ';')
            skip_line(p);
        else if (c == '[')
            r = read_section(p);
        else
            r = read_entry(p, each, context);
    }
    return r;
}

int sbox_git_config_walk(const char *data, size_t size, sbox_git_config_each *each, void *context)
{
    struct parser p = {.at = data, .end = data + size};
    int r = walk(&p, each, context);
    sbox_buf_release(&p.section);
    sbox_buf_release(&p.key);
    sbox_buf_release(&p.value);
    return r;
}
