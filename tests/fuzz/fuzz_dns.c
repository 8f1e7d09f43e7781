/* DNS: an error, or a query; every answer to it is well formed, repeats the question and fits. The
 * first byte chooses the answer. */
#include "proxy/dns.h"

#include "base/buf.h"
#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static unsigned be16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/* The size of one record that begins with the root or with a pointer to the question's name. */
static size_t record_size(const uint8_t *p, size_t left)
{
    size_t name = left > 0 && p[0] == 0 ? 1 : 2;
    check(left >= name + 10 && (name == 1 || be16(p) == 0xc00c));
    size_t size = name + 10 + be16(p + name + 8);
    check(size <= left);
    return size;
}

static void check_answer(const uint8_t *out, size_t size, const uint8_t *query,
                         const struct sbox_dns_query *q)
{
    check(size >= 12 && size <= 512);
    check(be16(out) == be16(query) && (out[2] & 0x80) && !(out[2] & 2));
    check(be16(out + 4) == (q->question_size > 0));
    check(memcmp(out + 12, query + 12, q->question_size) == 0);
    size_t at = 12 + q->question_size;
    unsigned records = be16(out + 6) + be16(out + 8) + be16(out + 10);
    for (unsigned i = 0; i < records; i++)
        at += record_size(out + at, size - at);
    check(at == size);
}

/* The question of an answer, asked again, is the same question. */
static void check_again(uint8_t *out, const struct sbox_dns_query *q)
{
    struct sbox_dns_query again;
    out[2] &= 0x7f;
    memset(out + 6, 0, 6);
    check(sbox_dns_parse(out, 12 + q->question_size, &again) == 0);
    check(again.type == q->type && again.id == q->id && again.recursion == q->recursion);
    check(again.question_size == q->question_size && sbox_host_equal(&again.host, &q->host));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const uint8_t *query = data + 1;
    struct sbox_dns_query q;
    uint8_t out[SBOX_DNS_MAX];
    const struct sbox_address address = {.family = data[0] & 8 ? 4 : 6, .bytes = {198, 18, 1}};
    int r = sbox_dns_parse(query, --size, &q);
    check(r == 0 || r == -EINVAL || r == -EBADMSG || r == -EOPNOTSUPP);
    if (r == -EBADMSG)
        return 0;
    check(12 + q.question_size <= size && q.host.address.family == 0);
    enum sbox_dns_answer answer = data[0] % (SBOX_DNS_REFUSED + 1);
    if (r < 0)
        answer = r == -EINVAL ? SBOX_DNS_FORMERR : SBOX_DNS_NOTIMP;
    size_t n = sbox_dns_write(query, size, &q, answer, data[0] & 16 ? NULL : &address, out);
    check_answer(out, n, query, &q);
    if (r == 0)
        check_again(out, &q);
    return 0;
}
