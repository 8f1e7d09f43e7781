/* The status line of a response and the framing that follows from it (RFC 9112 sections 4, 6.3 and
 * 9.3). */
#include "proxy/head_impl.h"

/* "HTTP/1.1 200 OK"; the blank before an empty reason is often left out. */
static int parse_status_line(struct sbox_response *p, struct sbox_text line, const char **ret_why)
{
    enum { VERSION = 8, STATUS = VERSION + 4 };
    if (line.size < STATUS || line.at[VERSION] != ' ' ||
        (line.size > STATUS && line.at[STATUS] != ' '))
        return sbox_head_refuse(ret_why, "a status line that is not VERSION STATUS REASON");
    int r = sbox_head_version((struct sbox_text){line.at, VERSION}, &p->http_1_0, ret_why);
    if (r < 0)
        return r;
    for (size_t i = VERSION + 1; i < STATUS; i++) {
        if (line.at[i] < '0' || line.at[i] > '9')
            return sbox_head_refuse(ret_why, "a status that is not three digits");
        p->status = p->status * 10 + (line.at[i] - '0');
    }
    if (p->status < 100)
        return sbox_head_refuse(ret_why, "a status below 100");
    size_t skip = line.size > STATUS ? STATUS + 1 : STATUS;
    p->reason = (struct sbox_text){line.at + skip, line.size - skip};
    for (size_t i = 0; i < p->reason.size; i++)
        if (!sbox_head_is_value_byte((unsigned char)p->reason.at[i]))
            return sbox_head_refuse(ret_why, "a control character in the reason");
    return 0;
}

static bool has_no_body(const struct sbox_response *p, bool to_head_request)
{
    return to_head_request || p->status < 200 || p->status == 204 || p->status == 304;
}

static int check_framing(struct sbox_response *p, bool to_head_request, const char **ret_why)
{
    struct sbox_framing f;
    int r = sbox_framing_parse(p->fields, p->field_count, p->http_1_0, &f, ret_why);
    if (r < 0)
        return r;
    p->keep_alive = !f.close && (!p->http_1_0 || f.keep);
    if (has_no_body(p, to_head_request)) {
        /* HEAD and 304 tell the size of what they do not send; 1xx and 204 must not (section 6.1).
         */
        bool claims = f.body == SBOX_BODY_CHUNKED || f.length > 0;
        if (claims && (p->status < 200 || p->status == 204))
            return sbox_head_refuse(ret_why, "a body where the status allows none");
        return 0;
    }
    p->until_close = f.body == SBOX_BODY_NONE;
    p->keep_alive &= !p->until_close;
    p->body = f.body == SBOX_BODY_LENGTH && f.length == 0 ? SBOX_BODY_NONE : f.body;
    p->length = f.length;
    return 0;
}

int sbox_response_parse(const char *data, size_t size, bool to_head_request,
                        struct sbox_response *ret, const char **ret_why)
{
    struct sbox_response p = {0};
    struct sbox_text line;
    struct sbox_text fields;
    int r = sbox_head_split(data, size, &line, &fields, &p.size, ret_why);
    if (r <= 0)
        return r;
    r = parse_status_line(&p, line, ret_why);
    if (r == 0)
        r = sbox_head_fields(fields, p.fields, &p.field_count, ret_why);
    if (r == 0)
        r = check_framing(&p, to_head_request, ret_why);
    if (r < 0)
        return r;
    *ret = p;
    return 1;
}
