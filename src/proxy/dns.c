#include "proxy/dns.h"

#include "base/buf.h"
#include "base/error.h"

enum {
    HEADER = 12,
    LABEL_MAX = 63,
    NAME_MAX_SIZE = 255, /* with the length bytes and the root's */
    CLASS_IN = 1,
    TYPE_SOA = 6,
    TYPE_OPT = 41,
    TTL = 5,
    /* byte 2 of the header */
    RESPONSE = 0x80,
    OPCODE = 0x78,
    RECURSION_DESIRED = 0x01,
    /* byte 3 */
    RECURSION_AVAILABLE = 0x80,
    CHECKING_DISABLED = 0x10,
    /* the third byte of OPT's TTL */
    DNSSEC_OK = 0x80,
    /* the root's SOA (41), OPT (11), and the larger of a question and an address */
    ANSWER_MAX = HEADER + NAME_MAX_SIZE + 4 + 28 + 33 + 11,
};
_Static_assert(ANSWER_MAX <= 512, "an answer fits a datagram without EDNS: it is never cut");

static uint16_t be16(struct sbox_reader *in)
{
    uint8_t high = sbox_reader_byte(in);
    return (uint16_t)(high << 8 | sbox_reader_byte(in));
}

struct name {
    char text[NAME_MAX_SIZE];
    size_t size;
    bool is_host; /* no dot in a label, no other alphabet: DNS has A-labels */
};

static void add_label(struct name *n, const uint8_t *label, size_t size)
{
    if (n->size > 0)
        n->text[n->size++] = '.';
    for (size_t i = 0; i < size; i++) {
        n->is_host &= label[i] < 0x80 && label[i] != '.';
        n->text[n->size++] = (char)label[i];
    }
}

/* Labels up to the root; a pointer (RFC 1035 section 4.1.4) has nothing to point to in a question.
 */
static int parse_name(struct sbox_reader *in, struct name *ret)
{
    const uint8_t *begin = in->at;
    ret->is_host = true;
    for (;;) {
        uint8_t length = sbox_reader_byte(in);
        if (in->failed || length > LABEL_MAX)
            return -EINVAL;
        if (in->at - begin + length > NAME_MAX_SIZE)
            return -EINVAL;
        if (length == 0)
            return 0;
        const uint8_t *label = sbox_reader_bytes(in, length);
        if (!label)
            return -EINVAL;
        add_label(ret, label, length);
    }
}

static int parse_question(struct sbox_reader *in, struct sbox_dns_query *q)
{
    struct name n = {.size = 0};
    const uint8_t *begin = in->at;
    int r = parse_name(in, &n);
    q->type = be16(in);
    uint16_t class = be16(in);
    if (r < 0 || in->failed)
        return -EINVAL;
    q->question_size = (size_t)(in->at - begin);
    struct sbox_host host;
    /* "10.0.0.1." is four labels and no address: only names are looked up. */
    if (n.is_host && sbox_host_parse(n.text, n.size, &host) == 0 && host.address.family == 0)
        q->host = host;
    return class == CLASS_IN ? 0 : -EOPNOTSUPP;
}

/* RFC 6891 section 6.1.2: root, OPT, size, extended code, version, flags, options. */
static int parse_opt(struct sbox_reader *in, struct sbox_dns_query *q)
{
    uint8_t root = sbox_reader_byte(in);
    uint16_t type = be16(in);
    (void)be16(in);
    (void)sbox_reader_byte(in);
    uint8_t version = sbox_reader_byte(in);
    uint16_t flags = be16(in);
    (void)sbox_reader_bytes(in, be16(in));
    if (in->failed || root != 0 || type != TYPE_OPT || version != 0)
        return -EINVAL;
    q->edns = true;
    q->dnssec_ok = flags >> 8 & DNSSEC_OK;
    return 0;
}

int sbox_dns_parse(const uint8_t *data, size_t size, struct sbox_dns_query *ret)
{
    if (size < HEADER || (data[2] & RESPONSE))
        return -EBADMSG;
    struct sbox_reader in = sbox_reader_of(data, size);
    *ret = (struct sbox_dns_query){.id = be16(&in), .recursion = data[2] & RECURSION_DESIRED};
    (void)be16(&in);
    uint16_t questions = be16(&in);
    uint16_t answers = be16(&in);
    uint16_t authorities = be16(&in);
    uint16_t additional = be16(&in);
    if (data[2] & OPCODE)
        return -EOPNOTSUPP;
    if (questions != 1 || answers != 0 || authorities != 0 || additional > 1)
        return -EINVAL;
    int class = parse_question(&in, ret);
    if (class == -EINVAL || (additional == 1 && parse_opt(&in, ret) < 0))
        return -EINVAL;
    return sbox_reader_left(&in) > 0 ? -EINVAL : class;
}

struct writer {
    uint8_t *at;
};

static void put8(struct writer *w, unsigned value)
{
    *w->at++ = (uint8_t)value;
}

static void put16(struct writer *w, unsigned value)
{
    put8(w, value >> 8);
    put8(w, value & 0xff);
}

static void put32(struct writer *w, unsigned value)
{
    put16(w, value >> 16);
    put16(w, value & 0xffff);
}

static void put_bytes(struct writer *w, const void *bytes, size_t size)
{
    memcpy(w->at, bytes, size);
    w->at += size;
}

static void put_address(struct writer *w, uint16_t type, const struct sbox_address *a)
{
    size_t size = type == SBOX_DNS_A ? 4 : 16;
    put16(w, 0xc000 | HEADER); /* a pointer to the question's name */
    put16(w, type);
    put16(w, CLASS_IN);
    put32(w, TTL);
    put16(w, (unsigned)size);
    put_bytes(w, a->bytes, size);
}

/* RFC 2308: without it no resolver remembers that there is nothing. */
static void put_soa(struct writer *w)
{
    put8(w, 0); /* the root */
    put16(w, TYPE_SOA);
    put16(w, CLASS_IN);
    put32(w, TTL);
    put16(w, 22);
    put16(w, 0); /* server and mailbox: the root, too */
    for (int i = 0; i < 5; i++)
        put32(w, i == 0 ? 1 : TTL); /* serial; refresh, retry, expire, minimum */
}

static void put_opt(struct writer *w, const struct sbox_dns_query *q)
{
    put8(w, 0);
    put16(w, TYPE_OPT);
    put16(w, SBOX_DNS_MAX);
    put16(w, 0); /* extended code, version */
    put16(w, q->dnssec_ok ? DNSSEC_OK << 8 : 0);
    put16(w, 0);
}

static unsigned code_of(enum sbox_dns_answer answer)
{
    switch (answer) {
    case SBOX_DNS_FORMERR:
        return 1;
    case SBOX_DNS_NXDOMAIN:
        return 3;
    case SBOX_DNS_NOTIMP:
        return 4;
    case SBOX_DNS_REFUSED:
        return 5;
    case SBOX_DNS_ADDRESS:
    case SBOX_DNS_NODATA:
        break;
    }
    return 0;
}

static bool fits(const struct sbox_dns_query *q, const struct sbox_address *a)
{
    return a && ((q->type == SBOX_DNS_A && a->family == 4) ||
                 (q->type == SBOX_DNS_AAAA && a->family == 6));
}

size_t sbox_dns_write(const uint8_t *query, size_t size, const struct sbox_dns_query *q,
                      enum sbox_dns_answer answer, const struct sbox_address *address,
                      uint8_t out[SBOX_DNS_MAX])
{
    struct writer w = {out};
    if (answer == SBOX_DNS_ADDRESS && !fits(q, address))
        answer = SBOX_DNS_NODATA;
    bool negative = answer == SBOX_DNS_NODATA || answer == SBOX_DNS_NXDOMAIN;
    bool question = q->question_size > 0 && HEADER + q->question_size <= size;
    put16(&w, q->id);
    put8(&w, RESPONSE | (query[2] & (OPCODE | RECURSION_DESIRED)));
    put8(&w, RECURSION_AVAILABLE | (query[3] & CHECKING_DISABLED) | code_of(answer));
    put16(&w, question);
    put16(&w, answer == SBOX_DNS_ADDRESS);
    put16(&w, negative);
    put16(&w, q->edns);
    if (question)
        put_bytes(&w, query + HEADER, q->question_size);
    if (answer == SBOX_DNS_ADDRESS)
        put_address(&w, q->type, address);
    if (negative)
        put_soa(&w);
    if (q->edns)
        put_opt(&w, q);
    return (size_t)(w.at - out);
}
