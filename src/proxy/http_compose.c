#include "proxy/http_compose.h"

#include <strings.h>

static void add_text(struct sbox_buf *out, struct sbox_text t)
{
    sbox_buf_add(out, t.at, t.size);
}

static void add_field(struct sbox_buf *out, const struct sbox_head_field *field)
{
    add_text(out, field->name);
    sbox_buf_add_str(out, ": ");
    add_text(out, field->value);
    sbox_buf_add_str(out, "\r\n");
}

static bool is_named(const struct sbox_head_field *field, const char *name)
{
    return field->name.size == strlen(name) &&
           strncasecmp(field->name.at, name, field->name.size) == 0;
}

/* host, [host], host:port: as in Host and in an absolute target. */
static void add_authority(struct sbox_buf *out, const struct sbox_host *host, uint16_t port)
{
    char text[SBOX_HOST_SIZE];
    sbox_buf_addf(out, host->address.family == 6 ? "[%s]" : "%s", sbox_host_format(host, text));
    if (port != 80)
        sbox_buf_addf(out, ":%u", port);
}

static void add_upgrade(struct sbox_buf *out, const struct sbox_head_field *fields, size_t count)
{
    sbox_buf_add_str(out, "Connection: upgrade\r\n");
    for (size_t i = 0; i < count; i++)
        if (is_named(&fields[i], "Upgrade"))
            add_field(out, &fields[i]);
}

void sbox_compose_request(struct sbox_buf *out, const struct sbox_head *head,
                          const struct sbox_upstream *upstream)
{
    add_text(out, head->method);
    sbox_buf_add_byte(out, ' ');
    if (upstream) {
        sbox_buf_add_str(out, "http://");
        add_authority(out, &head->host, head->port);
    }
    if (head->path.at[0] != '/')
        sbox_buf_add_byte(out, '/');
    add_text(out, head->path);
    /* An HTTP/1.0 client gets what an HTTP/1.0 server would be sent: no chunks, no 1xx. */
    sbox_buf_add_str(out, head->http_1_0 ? " HTTP/1.0\r\nHost: " : " HTTP/1.1\r\nHost: ");
    add_authority(out, &head->host, head->port);
    sbox_buf_add_str(out, "\r\n");
    for (size_t i = 0; i < head->field_count; i++)
        if (!is_named(&head->fields[i], "Host") && !sbox_head_is_hop(head, &head->fields[i]))
            add_field(out, &head->fields[i]);
    if (upstream && upstream->authorization[0])
        sbox_buf_addf(out, "Proxy-Authorization: %s\r\n", upstream->authorization);
    if (head->upgrade)
        add_upgrade(out, head->fields, head->field_count);
    else
        sbox_buf_add_str(out, "Connection: close\r\n");
    sbox_buf_add_str(out, "\r\n");
}

void sbox_compose_response(struct sbox_buf *out, const struct sbox_response *r, bool keep)
{
    sbox_buf_addf(out, "HTTP/1.1 %d ", r->status);
    add_text(out, r->reason);
    sbox_buf_add_str(out, "\r\n");
    for (size_t i = 0; i < r->field_count; i++)
        if (!sbox_response_is_hop(r, &r->fields[i]))
            add_field(out, &r->fields[i]);
    if (r->status == 101)
        add_upgrade(out, r->fields, r->field_count);
    else if (r->status / 100 != 1)
        sbox_buf_addf(out, "Connection: %s\r\n", keep ? "keep-alive" : "close");
    sbox_buf_add_str(out, "\r\n");
}
