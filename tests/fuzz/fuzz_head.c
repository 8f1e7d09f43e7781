/* Request heads: an error, or parts that lie in the buffer and that, written out again, are the
 * same request. Whatever answer a prefix gets stays the answer. */
#include "proxy/head.h"

#include "base/buf.h"
#include "base/error.h"

#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static bool inside(struct sbox_text t, const char *data, size_t size)
{
    return t.at >= data && t.size <= size && t.at + t.size <= data + size;
}

static bool is_word(struct sbox_text t, const char *word)
{
    return t.size == strlen(word) && strncasecmp(t.at, word, t.size) == 0;
}

static void check_parts(const struct sbox_head *h, const char *data)
{
    size_t framing = 0;
    size_t hosts = 0;
    check(inside(h->method, data, h->size) && h->field_count <= SBOX_HEAD_FIELDS_MAX);
    check(h->port > 0 && (h->host.name[0] != '\0') == (h->host.address.family == 0));
    for (size_t i = 0; i < h->field_count; i++) {
        const struct sbox_head_field *f = &h->fields[i];
        check(inside(f->name, data, h->size) && inside(f->value, data, h->size));
        check(f->name.size > 0 && f->name.size <= SBOX_HEAD_NAME_MAX);
        check(!memchr(f->value.at, '\r', f->value.size) &&
              !memchr(f->value.at, '\n', f->value.size));
        check(!memchr(f->value.at, '\0', f->value.size));
        bool frames = is_word(f->name, "Content-Length") || is_word(f->name, "Transfer-Encoding");
        framing += frames;
        hosts += is_word(f->name, "Host");
        check(!frames || !sbox_head_is_hop(h, f));
    }
    check(framing <= 1 && (framing == 1 || h->body == SBOX_BODY_NONE));
    check(hosts == 1 || (hosts == 0 && h->http_1_0));
    check(h->body == SBOX_BODY_LENGTH ? h->length > 0 : h->length == 0);
    check(!h->connect || (h->body == SBOX_BODY_NONE && !h->upgrade));
    if (!h->connect && !is_word(h->path, "/"))
        check(inside(h->path, data, h->size) && (h->path.at[0] == '/' || h->path.at[0] == '?'));
}

static void write_target(struct sbox_buf *b, const struct sbox_head *h)
{
    char host[SBOX_HOST_SIZE];
    if (!h->connect)
        sbox_buf_add_str(b, "http://");
    (void)sbox_host_format(&h->host, host);
    if (h->host.address.family == 6)
        sbox_buf_addf(b, "[%s]:%u", host, h->port);
    else
        sbox_buf_addf(b, "%s:%u", host, h->port);
    if (h->connect)
        return;
    if (h->path.at[0] != '/')
        sbox_buf_add_byte(b, '/');
    sbox_buf_add(b, h->path.at, h->path.size);
}

/* What another parser sees of the canonical form is what this one saw of the original. */
static void check_written(const struct sbox_head *h)
{
    _cleanup_buf_ struct sbox_buf b = {0};
    struct sbox_head again;
    const char *why = NULL;
    sbox_buf_add(&b, h->method.at, h->method.size);
    sbox_buf_add_byte(&b, ' ');
    write_target(&b, h);
    sbox_buf_add_str(&b, h->http_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
    for (size_t i = 0; i < h->field_count; i++) {
        sbox_buf_add(&b, h->fields[i].name.at, h->fields[i].name.size);
        sbox_buf_add_byte(&b, ':');
        sbox_buf_add(&b, h->fields[i].value.at, h->fields[i].value.size);
        sbox_buf_add_str(&b, "\r\n");
    }
    sbox_buf_add_str(&b, "\r\n");
    int r = sbox_head_parse(b.data, b.size, &again, &why);
    if (r == -E2BIG) /* a port and a slash longer */
        return;
    check(r == 1 && again.size == b.size);
    check(sbox_host_equal(&again.host, &h->host) && again.port == h->port);
    check(again.body == h->body && again.length == h->length && again.connect == h->connect);
    check(again.keep_alive == h->keep_alive && again.upgrade == h->upgrade);
    check(again.field_count == h->field_count);
}

static void check_prefix(const char *data, size_t cut, int whole, const struct sbox_head *head,
                         const char *why)
{
    struct sbox_head h;
    const char *cut_why = NULL;
    char *copy = malloc(cut ? cut : 1); /* a read past the end is seen */
    check(copy);
    memcpy(copy, data, cut);
    int r = sbox_head_parse(copy, cut, &h, &cut_why);
    check(r == 0 || r == whole);
    check(r >= 0 || cut_why == why);
    check(r != 1 || (h.size == head->size && h.field_count == head->field_count &&
                     h.body == head->body && sbox_host_equal(&h.host, &head->host)));
    check(whole != 1 || (r == 1) == (cut >= head->size));
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sbox_head h;
    const char *why = NULL;
    const char *text = (const char *)data;
    int r = sbox_head_parse(text, size, &h, &why);
    check(r == 1 || r == 0 || ((r == -EINVAL || r == -E2BIG || r == -EPROTONOSUPPORT) && why));
    for (size_t cut = 0; cut <= size; cut += size / 64 + 1)
        check_prefix(text, cut, r, &h, why);
    if (r != 1)
        return 0;
    check_prefix(text, h.size, r, &h, why);
    check_prefix(text, h.size - 1, r, &h, why);
    check_parts(&h, text);
    check_written(&h);
    return 0;
}
