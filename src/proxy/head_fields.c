/* A head is lines that end in CRLF, up to an empty one (RFC 9112 section 2). Its end is looked for
 * first, at the speed of memchr: a client that sends byte by byte has the lines scanned often, but
 * parsed once. */
#include "proxy/head_impl.h"

#include <strings.h>

int sbox_head_refuse(const char **ret_why, const char *why)
{
    *ret_why = why;
    return -EINVAL;
}

static int over(const char **ret_why, const char *why)
{
    *ret_why = why;
    return -E2BIG;
}

static bool is_token_byte(unsigned char c)
{
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
        return true;
    return c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

bool sbox_head_is_token(struct sbox_text t)
{
    for (size_t i = 0; i < t.size; i++)
        if (!is_token_byte((unsigned char)t.at[i]))
            return false;
    return t.size > 0;
}

bool sbox_head_equal(struct sbox_text t, const char *word)
{
    return t.size == strlen(word) && memcmp(t.at, word, t.size) == 0;
}

bool sbox_head_is_word(struct sbox_text t, const char *word)
{
    return t.size == strlen(word) && strncasecmp(t.at, word, t.size) == 0;
}

int sbox_head_version(struct sbox_text t, bool *ret_1_0, const char **ret_why)
{
    *ret_1_0 = sbox_head_equal(t, "HTTP/1.0");
    if (*ret_1_0 || sbox_head_equal(t, "HTTP/1.1"))
        return 0;
    return sbox_head_refuse(ret_why, "a version but HTTP/1.0 and HTTP/1.1");
}

/* One line at `at`: 1 and its size without CRLF, 0 when it has no end yet, or an error. The length
 * is judged before the line's end is: so the answer does not depend on whether the end is there. */
static int next_line(const char *data, size_t at, size_t size, size_t *ret_size,
                     const char **ret_why)
{
    const char *lf = at < size ? memchr(data + at, '\n', size - at) : NULL;
    size_t length = lf ? (size_t)(lf - (data + at)) : size - at;
    if (at == 0 && length > SBOX_HEAD_LINE_MAX)
        return over(ret_why, "a first line over 16 KB");
    if (!lf)
        return 0;
    if (length == 0 || lf[-1] != '\r')
        return sbox_head_refuse(ret_why, "a line that ends in LF without CR");
    *ret_size = length - 1;
    return 1;
}

int sbox_head_split(const char *data, size_t size, struct sbox_text *ret_first,
                    struct sbox_text *ret_fields, size_t *ret_size, const char **ret_why)
{
    /* What speaks another protocol to this port (TLS, say) need not send a line to be told. */
    if (size > 0 && !is_token_byte((unsigned char)data[0]))
        return sbox_head_refuse(ret_why, "a first line that is not HTTP's");
    size_t seen = size < SBOX_HEAD_MAX ? size : SBOX_HEAD_MAX;
    size_t at = 0;
    size_t line = 0;
    int lines = 0;
    int r;
    while ((r = next_line(data, at, seen, &line, ret_why)) > 0) {
        if (at == 0) {
            *ret_first = (struct sbox_text){data, line};
            *ret_fields = (struct sbox_text){data + line + 2, 0};
        } else if (line == 0) {
            *ret_size = at + 2;
            return 1;
        } else if (++lines > SBOX_HEAD_FIELDS_MAX) {
            return over(ret_why, "more than 200 header lines");
        } else {
            ret_fields->size += line + 2;
        }
        at += line + 2;
    }
    return r == 0 && seen == SBOX_HEAD_MAX ? over(ret_why, "a head over 64 KB") : r;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct sbox_text trim(struct sbox_text t)
{
    while (t.size > 0 && is_blank(t.at[0]))
        t = (struct sbox_text){t.at + 1, t.size - 1};
    while (t.size > 0 && is_blank(t.at[t.size - 1]))
        t.size--;
    return t;
}

static int parse_field(struct sbox_text line, struct sbox_head_field *ret, const char **ret_why)
{
    if (is_blank(line.at[0]))
        return sbox_head_refuse(ret_why, "a header that is folded over two lines");
    const char *colon = memchr(line.at, ':', line.size);
    if (!colon)
        return sbox_head_refuse(ret_why, "a header line without a colon");
    ret->name = (struct sbox_text){line.at, (size_t)(colon - line.at)};
    if (ret->name.size > SBOX_HEAD_NAME_MAX)
        return over(ret_why, "a header name over 256 bytes");
    if (!sbox_head_is_token(ret->name))
        return sbox_head_refuse(ret_why, "a header name that is no token");
    ret->value = (struct sbox_text){colon + 1, line.size - ret->name.size - 1};
    for (size_t i = 0; i < ret->value.size; i++)
        if (!sbox_head_is_value_byte((unsigned char)ret->value.at[i]))
            return sbox_head_refuse(ret_why, "a control character in a header");
    ret->value = trim(ret->value);
    return 0;
}

int sbox_head_fields(struct sbox_text lines, struct sbox_head_field *fields, size_t *ret_count,
                     const char **ret_why)
{
    size_t count = 0;
    for (size_t at = 0; at < lines.size;) {
        const char *line = lines.at + at;
        const char *lf = memchr(line, '\n', lines.size - at);
        size_t length = (size_t)(lf - line);
        int r = parse_field((struct sbox_text){line, length - 1}, &fields[count++], ret_why);
        if (r < 0)
            return r;
        at += length + 1;
    }
    *ret_count = count;
    return 0;
}
