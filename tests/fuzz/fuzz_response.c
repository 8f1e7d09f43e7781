/* Response heads and what follows them: the first byte says whether HEAD was asked. A chunked body
 * ends where a second, simpler reader says, however it is cut. */
#include "proxy/head.h"

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

/* The end of a body, or 0: it goes on, or a line does not end in CRLF. What else is refused for its
 * bytes is not judged here. */
static size_t end_of_chunked(const char *data, size_t size)
{
    size_t at = 0;
    for (bool last = false;;) {
        const char *lf = at < size ? memchr(data + at, '\n', size - at) : NULL;
        if (!lf || lf == data + at || lf[-1] != '\r')
            return 0;
        size_t next = (size_t)(lf - data) + 1;
        if (last && next - at == 2)
            return next;
        uint64_t length = last ? 0 : strtoull(data + at, NULL, 16); /* ends at the CR */
        last |= length == 0;
        at = next;
        if (length == 0)
            continue;
        if (size - at < length || size - at - length < 2)
            return 0;
        at += (size_t)length + 2;
        if (data[at - 2] != '\r' || data[at - 1] != '\n')
            return 0;
    }
}

static void check_chunked(const char *data, size_t size, size_t cut)
{
    struct sbox_chunked whole = {0};
    struct sbox_chunked cut_up = {0};
    bool done = false;
    bool cut_done = false;
    int64_t used = sbox_chunked_feed(&whole, data, size, &done);
    int64_t first = sbox_chunked_feed(&cut_up, data, cut, &cut_done);
    int64_t rest =
        first < 0 ? first : sbox_chunked_feed(&cut_up, data + cut, size - cut, &cut_done);
    check(used == (rest < 0 ? rest : first + rest));
    check(used <= (int64_t)size && (used >= 0 || used == -EINVAL));
    if (used < 0)
        return;
    check(done == cut_done && whole.left == cut_up.left && whole.state == cut_up.state &&
          whole.line == cut_up.line);
    check(done || used == (int64_t)size);
    check((done ? (size_t)used : 0) == end_of_chunked(data, size));
}

static void check_parts(const struct sbox_response *p, const char *data, bool to_head)
{
    check(p->status >= 100 && p->status <= 999 && p->field_count <= SBOX_HEAD_FIELDS_MAX);
    check(!p->until_close || (p->body == SBOX_BODY_NONE && !p->keep_alive));
    check(!to_head || (p->body == SBOX_BODY_NONE && !p->until_close));
    check(p->body == SBOX_BODY_LENGTH ? p->length > 0 : p->length == 0);
    for (size_t i = 0; i < p->field_count; i++) {
        const struct sbox_text v = p->fields[i].value;
        check(v.at >= data && v.at + v.size <= data + p->size);
        check(!memchr(v.at, '\n', v.size) && !memchr(v.at, '\0', v.size));
        (void)sbox_response_is_hop(p, &p->fields[i]);
    }
}

static void check_prefix(const char *data, size_t cut, bool to_head, int whole, const char *why)
{
    struct sbox_response p;
    const char *cut_why = NULL;
    char *copy = malloc(cut ? cut : 1); /* a read past the end is seen */
    check(copy);
    memcpy(copy, data, cut);
    int r = sbox_response_parse(copy, cut, to_head, &p, &cut_why);
    check(r == 0 || r == whole);
    check(r >= 0 || cut_why == why);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    bool to_head = data[0] & 1;
    const char *text = (const char *)data + 1;
    const char *why = NULL;
    struct sbox_response p;
    size--;
    int r = sbox_response_parse(text, size, to_head, &p, &why);
    check(r == 1 || r == 0 || ((r == -EINVAL || r == -E2BIG) && why));
    for (size_t cut = 0; cut <= size; cut += size / 64 + 1)
        check_prefix(text, cut, to_head, r, why);
    if (r == 1)
        check_parts(&p, text, to_head);
    size_t body = r == 1 ? p.size : 0;
    check_chunked(text + body, size - body, (size - body) * data[0] / 256);
    return 0;
}
