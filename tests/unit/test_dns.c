/* DNS messages: what is read of a query, and every byte of the answers. */
#include "proxy/dns.h"

#include "base/buf.h"
#include "base/error.h"
#include "unit/cmocka_all.h"

#define BYTES(s) (s), sizeof(s) - 1

/* id 0x1234, recursion desired; questions, answers, authorities, additional */
#define HEAD(q, an, au, ad) "\x12\x34\1\0\0" q "\0" an "\0" au "\0" ad
#define ONE                 HEAD("\1", "\0", "\0", "\0")
#define EDNS                HEAD("\1", "\0", "\0", "\1")
#define NAME                "\1a\4test\0"
#define IN_A                "\0\1\0\1"
#define OPT                 "\0\0\x29\4\xd0\0\0\0\0\0\0"

static int parse(const void *bytes, size_t size, struct sbox_dns_query *ret)
{
    uint8_t *copy = malloc(size ? size : 1); /* asan sees a read past the end */
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    int r = sbox_dns_parse(copy, size, ret);
    free(copy);
    return r;
}

static void test_queries(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *name;
        uint16_t type;
        bool edns;
    } rows[] = {
        {BYTES(ONE NAME IN_A), "a.test", SBOX_DNS_A, false},
        {BYTES(ONE "\1A\4TesT\0\0\x1c\0\1"), "a.test", SBOX_DNS_AAAA, false},
        {BYTES(EDNS NAME IN_A OPT), "a.test", SBOX_DNS_A, true},
        {BYTES(EDNS NAME "\0\x41\0\1\0\0\x29\4\xd0\0\0\x80\0\0\4\0\x0a\0\0"), "a.test", 65, true},
        {BYTES(ONE "\5_http\4_tcp\1a\4test\0\0\x21\0\1"), "_http._tcp.a.test", 33, false},
        {BYTES(ONE "\1"
                   "1\1"
                   "0\1"
                   "0\003127\7in-addr\4arpa\0\0\x0c\0\1"),
         "1.0.0.127.in-addr.arpa", SBOX_DNS_PTR, false},
        /* no host names: NXDOMAIN, but well formed */
        {BYTES(ONE "\0\0\2\0\1"), "", 2, false},
        {BYTES(ONE "\6a.test\0" IN_A), "", SBOX_DNS_A, false},
        {BYTES(ONE "\2a.\4test\0" IN_A), "", SBOX_DNS_A, false},
        {BYTES(ONE "\2a\0\4test\0" IN_A), "", SBOX_DNS_A, false},
        {BYTES(ONE "\2a \4test\0" IN_A), "", SBOX_DNS_A, false},
        {BYTES(ONE "\2\xc3\xbc\4test\0" IN_A), "", SBOX_DNS_A, false},
        {BYTES(ONE "\2a@\4test\0" IN_A), "", SBOX_DNS_A, false},
        {BYTES(ONE "\003127\1"
                   "0\1"
                   "0\1"
                   "1\0" IN_A),
         "", SBOX_DNS_A, false},
        {BYTES(ONE "\3::1\0" IN_A), "", SBOX_DNS_A, false},
        {BYTES(ONE "\5[::1]\0" IN_A), "", SBOX_DNS_A, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_dns_query q;
        if (parse(rows[i].bytes, rows[i].size, &q) != 0)
            fail_msg("row %zu", i);
        assert_int_equal(q.id, 0x1234);
        assert_string_equal(q.host.name, rows[i].name);
        assert_int_equal(q.host.address.family, 0);
        assert_int_equal(q.type, rows[i].type);
        assert_true(q.recursion);
        assert_int_equal(q.edns, rows[i].edns);
        for (size_t cut = 12; cut < rows[i].size; cut++)
            assert_int_equal(parse(rows[i].bytes, cut, &q), -EINVAL);
        for (size_t cut = 0; cut < 12; cut++)
            assert_int_equal(parse(rows[i].bytes, cut, &q), -EBADMSG);
    }
}

static void test_queries_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        int result;
    } rows[] = {
        {BYTES(HEAD("\0", "\0", "\0", "\0")), -EINVAL},
        {BYTES(HEAD("\2", "\0", "\0", "\0") NAME IN_A NAME IN_A), -EINVAL},
        {BYTES(HEAD("\1", "\1", "\0", "\0") NAME IN_A), -EINVAL},
        {BYTES(HEAD("\1", "\0", "\1", "\0") NAME IN_A), -EINVAL},
        {BYTES(HEAD("\1", "\0", "\0", "\2") NAME IN_A OPT OPT), -EINVAL},
        {BYTES(HEAD("\1", "\0", "\0", "\2") NAME IN_A), -EINVAL},
        {BYTES(EDNS NAME IN_A "\1\0\x29\4\xd0\0\0\0\0\0\0"), -EINVAL},
        {BYTES(HEAD("\1", "\0", "\0", "\2") NAME IN_A OPT), -EINVAL},
        {BYTES(HEAD("\1", "\0", "\0", "\0") NAME IN_A "x"), -EINVAL},
        {BYTES(EDNS NAME IN_A OPT "x"), -EINVAL},
        {BYTES(ONE "\xc0\x0c" IN_A), -EINVAL},    /* a pointer to itself */
        {BYTES(ONE "\1a\xc0\x0c" IN_A), -EINVAL}, /* a loop */
        {BYTES(ONE "\x40"
                   "a\0" IN_A),
         -EINVAL}, /* a label type of RFC 2673 */
        {BYTES(ONE "\x80\0" IN_A), -EINVAL},
        {BYTES(ONE "\4a\0" IN_A), -EINVAL},                            /* runs past the end */
        {BYTES(EDNS NAME IN_A "\0\0\x29\4\xd0\0\1\0\0\0\0"), -EINVAL}, /* EDNS version 1 */
        {BYTES(EDNS NAME IN_A "\1x\0\x29\4\xd0\0\0\0\0\0\0"), -EINVAL},
        {BYTES(EDNS NAME IN_A "\0\0\1\0\1\0\0\0\0\0\0"), -EINVAL},     /* not OPT */
        {BYTES(EDNS NAME IN_A "\0\0\x29\4\xd0\0\0\0\0\0\1"), -EINVAL}, /* options cut off */
        {BYTES(ONE NAME "\0\1\0\3"), -EOPNOTSUPP},                     /* class CH */
        {BYTES(ONE NAME "\0\1\0\xff"), -EOPNOTSUPP},
        {BYTES("\x12\x34\x09\0\0\1\0\0\0\0\0\0" NAME IN_A), -EOPNOTSUPP}, /* opcode 1 */
        {BYTES("\x12\x34\x28\0\0\0\0\0\0\0\0\0"), -EOPNOTSUPP},           /* UPDATE */
        {BYTES("\x12\x34\x81\0\0\1\0\0\0\0\0\0" NAME IN_A), -EBADMSG},    /* an answer */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_dns_query q;
        uint8_t out[SBOX_DNS_MAX];
        if (parse(rows[i].bytes, rows[i].size, &q) != rows[i].result)
            fail_msg("row %zu", i);
        if (rows[i].result == -EBADMSG)
            continue;
        assert_int_equal(q.id, 0x1234);
        bool format = rows[i].result == -EINVAL;
        size_t n = sbox_dns_write((const uint8_t *)rows[i].bytes, rows[i].size, &q,
                                  format ? SBOX_DNS_FORMERR : SBOX_DNS_NOTIMP, NULL, out);
        assert_true(n >= 12 + q.question_size);
        assert_int_equal(out[3] & 0xf, format ? 1 : 4);
        assert_int_equal(out[5], q.question_size > 0);
    }
}

static struct sbox_buf name_of(size_t wire)
{
    struct sbox_buf b = {0};
    sbox_buf_add(&b, BYTES(ONE));
    for (size_t left = wire - 1; left > 0;) {
        size_t label = left > 64 ? (left == 65 ? 62 : 63) : left - 1;
        sbox_buf_add_byte(&b, (uint8_t)label);
        for (size_t i = 0; i < label; i++)
            sbox_buf_add_byte(&b, 'a');
        left -= label + 1;
    }
    sbox_buf_add(&b, BYTES("\0" IN_A));
    return b;
}

static void test_the_longest_name(void **state)
{
    (void)state;
    struct sbox_dns_query q;
    _cleanup_buf_ struct sbox_buf b = name_of(255);
    assert_int_equal(parse(b.data, b.size, &q), 0);
    assert_int_equal(strlen(q.host.name), 253);
    assert_int_equal(q.question_size, 259);
    _cleanup_buf_ struct sbox_buf more = name_of(256);
    assert_int_equal(parse(more.data, more.size, &q), -EINVAL);
    b.data[12] = 64; /* a label of 64 bytes; the next one begins a byte later */
    b.data[12 + 65] = 62;
    assert_int_equal(parse(b.data, b.size, &q), -EINVAL);
}

static void expect_answer(const char *query, size_t query_size, enum sbox_dns_answer answer,
                          const struct sbox_address *a, const char *expected, size_t size)
{
    struct sbox_dns_query q;
    uint8_t out[SBOX_DNS_MAX];
    assert_int_equal(parse(query, query_size, &q), 0);
    size_t n = sbox_dns_write((const uint8_t *)query, query_size, &q, answer, a, out);
    assert_int_equal(n, size);
    assert_memory_equal(out, expected, size);
}

#define SOA "\0\0\6\0\1\0\0\0\5\0\x16\0\0\0\0\0\1\0\0\0\5\0\0\0\5\0\0\0\5\0\0\0\5"

static void test_answers(void **state)
{
    (void)state;
    static const struct sbox_address four = {.family = 4, .bytes = {198, 18, 1, 2}};
    static const struct sbox_address six = {.family = 6, .bytes = {0x20, 1, 0, 2, [15] = 9}};
    static const char aaaa[] = ONE "\1A\4tesT\0\0\x1c\0\1";
    expect_answer(BYTES(ONE NAME IN_A), SBOX_DNS_ADDRESS, &four,
                  BYTES("\x12\x34\x81\x80\0\1\0\1\0\0\0\0" NAME IN_A
                        "\xc0\x0c\0\1\0\1\0\0\0\5\0\4\xc6\x12\1\2"));
    expect_answer(aaaa, sizeof aaaa - 1, SBOX_DNS_ADDRESS, &six,
                  BYTES("\x12\x34\x81\x80\0\1\0\1\0\0\0\0\1A\4tesT\0\0\x1c\0\1"
                        "\xc0\x0c\0\x1c\0\1\0\0\0\5\0\x10\x20\1\0\2\0\0\0\0\0\0\0\0\0\0\0\x09"));
    expect_answer(BYTES(ONE NAME IN_A), SBOX_DNS_NXDOMAIN, NULL,
                  BYTES("\x12\x34\x81\x83\0\1\0\0\0\1\0\0" NAME IN_A SOA));
    expect_answer(BYTES(ONE NAME IN_A), SBOX_DNS_NODATA, NULL,
                  BYTES("\x12\x34\x81\x80\0\1\0\0\0\1\0\0" NAME IN_A SOA));
    /* the other family, or no address: nothing */
    expect_answer(aaaa, sizeof aaaa - 1, SBOX_DNS_ADDRESS, &four,
                  BYTES("\x12\x34\x81\x80\0\1\0\0\0\1\0\0\1A\4tesT\0\0\x1c\0\1" SOA));
    expect_answer(BYTES(ONE NAME IN_A), SBOX_DNS_ADDRESS, NULL,
                  BYTES("\x12\x34\x81\x80\0\1\0\0\0\1\0\0" NAME IN_A SOA));
    expect_answer(BYTES(ONE NAME IN_A), SBOX_DNS_REFUSED, NULL,
                  BYTES("\x12\x34\x81\x85\0\1\0\0\0\0\0\0" NAME IN_A));
    /* EDNS is answered with EDNS, its DO with DO; CD is copied, no RD stays none */
    expect_answer(BYTES(EDNS NAME IN_A OPT), SBOX_DNS_NODATA, NULL,
                  BYTES("\x12\x34\x81\x80\0\1\0\0\0\1\0\1" NAME IN_A SOA OPT));
    expect_answer(
        BYTES("\x12\x34\0\x10\0\1\0\0\0\0\0\1" NAME IN_A "\0\0\x29\x10\0\0\0\x80\0\0\0"),
        SBOX_DNS_REFUSED, NULL,
        BYTES("\x12\x34\x80\x95\0\1\0\0\0\0\0\1" NAME IN_A "\0\0\x29\4\xd0\0\0\x80\0\0\0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries),
        cmocka_unit_test(test_queries_that_are_refused),
        cmocka_unit_test(test_the_longest_name),
        cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests_name("dns", tests, NULL, NULL);
}
