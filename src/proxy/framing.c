/* The fields that decide where a message ends and which fields end at the proxy. Everything here
 * that two parsers could read differently is refused (RFC 9112 sections 6.1, 6.3 and 11.2). */
#include "proxy/head_impl.h"

#include <strings.h>

struct state {
    struct sbox_framing framing;
    bool has_coding;
    bool has_upgrade;
    const char **why;
};

/* Plain digits. A leading zero is octal to some; 18 digits fit an int64_t. */
static int parse_length(struct state *s, struct sbox_text value)
{
    if (s->framing.has_length)
        return sbox_head_refuse(s->why, "two Content-Length lines");
    if (value.size == 0 || value.size > 18 || (value.size > 1 && value.at[0] == '0'))
        return sbox_head_refuse(s->why, "a Content-Length that is no plain number");
    uint64_t length = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            return sbox_head_refuse(s->why, "a Content-Length that is no plain number");
        length = length * 10 + (uint64_t)(value.at[i] - '0');
    }
    s->framing.has_length = true;
    s->framing.body = SBOX_BODY_LENGTH;
    s->framing.length = length;
    return 0;
}

static int parse_coding(struct state *s, struct sbox_text value)
{
    if (s->has_coding)
        return sbox_head_refuse(s->why, "two Transfer-Encoding lines");
    if (!sbox_head_is_word(value, "chunked"))
        return sbox_head_refuse(s->why, "a Transfer-Encoding other than chunked");
    s->has_coding = true;
    return 0;
}

/* The next element of a comma-separated list, blanks around it dropped; empty ones are passed over
 * (RFC 9110 section 5.6.1.2). False at the end. */
static bool next_element(struct sbox_text *list, struct sbox_text *ret)
{
    const char *p = list->at;
    const char *end = p + list->size;
    while (p < end && (*p == ',' || *p == ' ' || *p == '\t'))
        p++;
    const char *begin = p;
    while (p < end && *p != ',')
        p++;
    *list = (struct sbox_text){p, (size_t)(end - p)};
    while (p > begin && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    *ret = (struct sbox_text){begin, (size_t)(p - begin)};
    return ret->size > 0;
}

/* An option that names one of these would make the proxy drop what the next one needs to see where
 * the message ends, or for whom it is. */
static bool must_pass(struct sbox_text option)
{
    return sbox_head_is_word(option, "Content-Length") || sbox_head_is_word(option, "Host") ||
           sbox_head_is_word(option, "Transfer-Encoding");
}

static int parse_connection(struct state *s, struct sbox_text value)
{
    struct sbox_text option;
    while (next_element(&value, &option)) {
        if (!sbox_head_is_token(option))
            return sbox_head_refuse(s->why, "a Connection line that is no list of tokens");
        if (must_pass(option))
            return sbox_head_refuse(s->why, "a Connection line that names Host, Content-Length "
                                            "or Transfer-Encoding");
        s->framing.close |= sbox_head_is_word(option, "close");
        s->framing.keep |= sbox_head_is_word(option, "keep-alive");
        s->framing.upgrade |= sbox_head_is_word(option, "upgrade");
    }
    return 0;
}

static int parse_field(struct state *s, const struct sbox_head_field *f)
{
    if (sbox_head_is_word(f->name, "Content-Length"))
        return parse_length(s, f->value);
    if (sbox_head_is_word(f->name, "Transfer-Encoding"))
        return parse_coding(s, f->value);
    if (sbox_head_is_word(f->name, "Connection"))
        return parse_connection(s, f->value);
    s->has_upgrade |= sbox_head_is_word(f->name, "Upgrade");
    return 0;
}

int sbox_framing_parse(const struct sbox_head_field *fields, size_t count, bool http_1_0,
                       struct sbox_framing *ret, const char **ret_why)
{
    struct state s = {.why = ret_why};
    for (size_t i = 0; i < count; i++) {
        int r = parse_field(&s, &fields[i]);
        if (r < 0)
            return r;
    }
    if (s.has_coding && s.framing.has_length)
        return sbox_head_refuse(ret_why, "Content-Length and Transfer-Encoding");
    if (s.has_coding && http_1_0)
        return sbox_head_refuse(ret_why, "Transfer-Encoding in HTTP/1.0");
    if (s.has_coding)
        s.framing.body = SBOX_BODY_CHUNKED;
    s.framing.upgrade &= s.has_upgrade && !http_1_0;
    *ret = s.framing;
    return 0;
}

static bool is_named(const struct sbox_head_field *connection, struct sbox_text name)
{
    struct sbox_text list = connection->value;
    struct sbox_text option;
    while (next_element(&list, &option))
        if (option.size == name.size && strncasecmp(option.at, name.at, name.size) == 0)
            return true;
    return false;
}

static bool is_hop(const struct sbox_head_field *fields, size_t count, struct sbox_text name)
{
    static const char *const always[] = {"Connection", "Keep-Alive", "TE", "Upgrade"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (sbox_head_is_word(name, always[i]))
            return true;
    if (name.size >= 6 && strncasecmp(name.at, "Proxy-", 6) == 0)
        return true;
    for (size_t i = 0; i < count; i++)
        if (sbox_head_is_word(fields[i].name, "Connection") && is_named(&fields[i], name))
            return true;
    return false;
}

bool sbox_head_is_hop(const struct sbox_head *head, const struct sbox_head_field *field)
{
    return is_hop(head->fields, head->field_count, field->name);
}

bool sbox_response_is_hop(const struct sbox_response *response, const struct sbox_head_field *field)
{
    return is_hop(response->fields, response->field_count, field->name);
}
