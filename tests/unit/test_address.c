/* Addresses: spellings, classes, what hides in IPv6. A row that fails shows its text: both sides of
 * the comparison begin with it. */
#include "net/address.h"

#include "base/error.h"
#include "unit/cmocka_all.h"

#include <arpa/inet.h>

struct row {
    const char *text;
    const char *expected;
};

static void check(const struct row *row, const char *got)
{
    char left[256];
    char right[256];
    (void)snprintf(left, sizeof left, "%s -> %s", row->text, got);
    (void)snprintf(right, sizeof right, "%s -> %s", row->text, row->expected);
    assert_string_equal(left, right);
}

static struct sbox_address address(const char *text)
{
    struct sbox_address a = {0};
    if (sbox_address_parse(text, &a) < 0)
        fail_msg("%s is no address", text);
    return a;
}

static void spell(int (*parse)(const char *, struct sbox_address *), const struct row *row)
{
    static const struct sbox_address untouched = {9, {1, 2, 3}};
    char text[SBOX_ADDRESS_TEXT];
    struct sbox_address a = untouched;
    int r = parse(row->text, &a);
    if (r < 0)
        assert_memory_equal(&a, &untouched, sizeof a);
    check(row, r == -EINVAL   ? "none"
               : r == -ERANGE ? "range"
               : r == 0       ? sbox_address_format(&a, text)
                              : "?");
}

static void test_strict(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"0.0.0.0", "0.0.0.0"},
        {"255.255.255.255", "255.255.255.255"},
        {"192.0.2.1", "192.0.2.1"},
        {"::", "::"},
        {"::1", "::1"},
        {"2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
        {"2001:db8:0:1:0:0:0:1", "2001:db8:0:1::1"},
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},    /* RFC 5952 4.2.3: the first run */
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"}, /* 4.2.2: never one group */
        {"2001:0db8::0001", "2001:db8::1"},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
        {"::ffff:c000:201", "::ffff:192.0.2.1"},
        {"64:ff9b::169.254.169.254", "64:ff9b::a9fe:a9fe"},
        {"", "none"},
        {"1.2.3", "none"},
        {"1.2.3.4.", "none"},
        {"1.2.3.4.5", "none"},
        {"01.2.3.4", "none"},
        {"1.2.3.04", "none"},
        {"1.2.3.256", "none"},
        {"1.2.3.-4", "none"},
        {"+1.2.3.4", "none"},
        {" 1.2.3.4", "none"},
        {"1.2.3.4 ", "none"},
        {"0x1.2.3.4", "none"},
        {"2130706433", "none"},
        {"[::1]", "none"},
        {"::1%lo", "none"},
        {"1::2::3", "none"},
        {":::", "none"},
        {"1:2:3:4:5:6:7", "none"},
        {"1:2:3:4:5:6:7:8:9", "none"},
        {"12345::", "none"},
        {"::g", "none"},
        {"::1.2.3", "none"},
        {"::1.2.3.4:5", "none"},
        {"::01.2.3.4", "none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        spell(sbox_address_parse, &rows[i]);
}

static void test_every_spelling(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"127.0.0.1", "127.0.0.1"},
        {"127.0.0.1.", "127.0.0.1"},
        {"2130706433", "127.0.0.1"},
        {"2130706433.", "127.0.0.1"},
        {"0x7f000001", "127.0.0.1"},
        {"0X7F000001", "127.0.0.1"},
        {"017700000001", "127.0.0.1"},
        {"0177.0.0.1", "127.0.0.1"},
        {"0000177.0.0.01", "127.0.0.1"},
        {"0x7f.0.0.1", "127.0.0.1"},
        {"0x7f.1", "127.0.0.1"},
        {"127.1", "127.0.0.1"},
        {"127.0.1", "127.0.0.1"},
        {"127.0x0.01", "127.0.0.1"},
        {"127.65535", "127.0.255.255"},
        {"127.16777215", "127.255.255.255"},
        {"1.2.3", "1.2.0.3"},
        {"1.2.65535", "1.2.255.255"},
        {"0", "0.0.0.0"},
        {"1", "0.0.0.1"},
        {"4294967295", "255.255.255.255"},
        {"0xffffffff", "255.255.255.255"},
        {"037777777777", "255.255.255.255"},
        {"0000000000000000000000000000000000000000000001", "0.0.0.1"},
        {"0xa9fea9fe", "169.254.169.254"},
        {"::1", "::1"},
        {"[::1]", "::1"},
        {"[::FFFF:7f00:1]", "::ffff:127.0.0.1"},
        {"fe80::1%lo", "fe80::1"},
        {"[fe80::1%lo]", "fe80::1"},
        {"[fe80::1%25eth0.1]", "fe80::1"},
        {"fe80::1%25lo", "fe80::1"},
        {"::1%veth-a_b.0~", "::1"},

        {"4294967296", "range"},
        {"0x100000000", "range"},
        {"040000000000", "range"},
        {"99999999999999999999999999999999999", "range"},
        {"256.0.0.1", "range"},
        {"1.256.1", "range"},
        {"1.2.65536", "range"},
        {"1.16777216", "range"},
        {"1.2.3.256", "range"},
        {"1.2.3.4.5", "range"},
        {"1.2.3.4.5.", "range"},
        {"08", "range"},
        {"1.2.3.08", "range"},
        {"0x", "range"},
        {"1.0x", "range"},
        {"foo.1", "range"},
        {"foo.0x1", "range"},
        {"foo.0x", "range"},
        {"foo.007.", "range"},
        {"1..2", "range"},
        {".1", "range"},
        {"-.1", "range"},
        {" 1", "none"},

        {"", "none"},
        {".", "none"},
        {"..", "none"},
        {"1..", "none"},
        {"-1", "none"},
        {"+1", "none"},
        {"1 ", "none"},
        {"1e3", "none"},
        {"0x7g", "none"},
        {"1.2.3.4a", "none"},
        {"0x1.example", "none"},
        {"127.0.0.1.example", "none"},
        {"deadbeef", "none"},
        {"x0", "none"},
        {"127.0.0.1%lo", "none"},
        {"[127.0.0.1]", "none"},
        {"[]", "none"},
        {"[", "none"},
        {"]", "none"},
        {"[::1", "none"},
        {"::1]", "none"},
        {"[::1].", "none"},
        {"::1.", "none"},
        {"[[::1]]", "none"},
        {"::1%", "none"},
        {"%lo", "none"},
        {"[%a:b]", "none"},
        {"::1%a/b", "none"},
        {"::1%@evil.example", "none"},
        {"::1%a b", "none"},
        {"::1%a%b", "none"},
        {"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:"
         "0000:"
         "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:"
         "0000:"
         ":1",
         "none"},

        {"127.0.0.1:80", "none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        spell(sbox_address_parse_any, &rows[i]);
}

/* Each range: before it, its first, its last, behind it. */
static void test_classes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"0.0.0.0", "unspecified"},
        {"0.0.0.1", "reserved"},
        {"0.255.255.255", "reserved"},
        {"1.0.0.0", "public"},
        {"9.255.255.255", "public"},
        {"10.0.0.0", "private"},
        {"10.255.255.255", "private"},
        {"11.0.0.0", "public"},
        {"100.63.255.255", "public"},
        {"100.64.0.0", "CGNAT"},
        {"100.64.0.1", "CGNAT"},
        {"100.100.100.199", "CGNAT"},
        {"100.100.100.200", "metadata"},
        {"100.100.100.201", "CGNAT"},
        {"100.127.255.255", "CGNAT"},
        {"100.128.0.0", "public"},
        {"126.255.255.255", "public"},
        {"127.0.0.0", "loopback"},
        {"127.0.0.1", "loopback"},
        {"127.255.255.255", "loopback"},
        {"128.0.0.0", "public"},
        {"168.63.129.15", "public"},
        {"168.63.129.16", "metadata"},
        {"168.63.129.17", "public"},
        {"169.253.255.255", "public"},
        {"169.254.0.0", "link-local"},
        {"169.254.0.23", "metadata"},
        {"169.254.42.42", "metadata"},
        {"169.254.168.255", "link-local"},
        {"169.254.169.253", "metadata"},
        {"169.254.169.254", "metadata"},
        {"169.254.170.2", "metadata"},
        {"169.254.170.23", "metadata"},
        {"169.254.171.0", "link-local"},
        {"169.254.255.255", "link-local"},
        {"169.255.0.0", "public"},
        {"172.15.255.255", "public"},
        {"172.16.0.0", "private"},
        {"172.31.255.255", "private"},
        {"172.32.0.0", "public"},
        {"191.255.255.255", "public"},
        {"192.0.0.0", "reserved"},
        {"192.0.0.192", "metadata"},
        {"192.0.0.255", "reserved"},
        {"192.0.1.0", "public"},
        {"192.0.2.0", "public"},
        {"192.0.2.255", "public"},
        {"192.88.98.255", "public"},
        {"192.88.99.0", "reserved"},
        {"192.88.99.255", "reserved"},
        {"192.88.100.0", "public"},
        {"192.167.255.255", "public"},
        {"192.168.0.0", "private"},
        {"192.168.255.255", "private"},
        {"192.169.0.0", "public"},
        {"198.17.255.255", "public"},
        {"198.18.0.0", "reserved"},
        {"198.19.255.255", "reserved"},
        {"198.20.0.0", "public"},
        {"198.51.100.7", "public"},
        {"203.0.113.7", "public"},
        {"223.255.255.255", "public"},
        {"224.0.0.0", "multicast"},
        {"239.255.255.255", "multicast"},
        {"240.0.0.0", "reserved"},
        {"255.255.255.255", "reserved"},

        {"::", "unspecified"},
        {"::1", "loopback"},
        {"::2", "reserved"},
        {"100::1", "reserved"},
        {"100:0:0:1::1", "reserved"},
        {"64:ff9a::808:808", "reserved"},
        {"64:ff9b:0:0:0:1::", "reserved"},
        {"1fff:ffff::1", "reserved"},
        {"2000::", "public"},
        {"2001:1::1", "reserved"},
        {"2001:2::1", "reserved"},
        {"2001:2:0:ffff::1", "reserved"},
        {"2001:3::1", "public"},
        {"2001:4:112::1", "public"},
        {"2001:4:113::1", "reserved"},
        {"2001:20::1", "reserved"},
        {"2001:1ff:ffff::1", "reserved"},
        {"2001:200::1", "public"},
        {"2001:db8::1", "public"},
        {"2606:4700::1111", "public"},
        {"3fff::1", "public"},
        {"3fff:ffff:ffff::1", "public"},
        {"4000::1", "reserved"},
        {"5f00::1", "reserved"},
        {"fbff::1", "reserved"},
        {"fc00::", "private"},
        {"fd00:ec2::254", "metadata"},
        {"fd00:ec2::253", "metadata"},
        {"fd00:ec3::254", "private"},
        {"fd00:c1::a9fe:a9fe", "metadata"},
        {"fd20:ce::254", "metadata"},
        {"fd20:ce::255", "private"},
        {"fdff:ffff::1", "private"},
        {"fe00::1", "reserved"},
        {"fe7f:ffff::1", "reserved"},
        {"fe80::1", "link-local"},
        {"fe80::a9fe:a9fe", "metadata"},
        {"febf:ffff::1", "link-local"},
        {"fec0::1", "private"},
        {"feff:ffff::1", "private"},
        {"ff00::", "multicast"},
        {"ff02::1", "multicast"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_address a = address(rows[i].text);
        check(&rows[i], sbox_address_class_text(sbox_address_classify(&a)));
    }
}

/* The address that is in it, and the class of the whole: the less public of the two. */
static void test_embedded(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"::ffff:192.0.2.1", "192.0.2.1 public"},
        {"::ffff:127.0.0.1", "127.0.0.1 loopback"},
        {"::ffff:10.0.0.1", "10.0.0.1 private"},
        {"::ffff:169.254.169.254", "169.254.169.254 metadata"},
        {"::ffff:0.0.0.0", "0.0.0.0 unspecified"},
        {"::169.254.169.254", "169.254.169.254 metadata"},
        {"::127.0.0.1", "127.0.0.1 reserved"},
        {"::8.8.8.8", "8.8.8.8 reserved"},
        {"64:ff9b::8.8.8.8", "8.8.8.8 public"},
        {"64:ff9b::a9fe:a9fe", "169.254.169.254 metadata"},
        {"64:ff9b::7f00:1", "127.0.0.1 loopback"},
        {"64:ff9b::10.1.2.3", "10.1.2.3 private"},
        {"64:ff9b:1::8.8.8.8", "8.8.8.8 private"},
        {"64:ff9b:1::169.254.169.254", "169.254.169.254 metadata"},
        {"64:ff9b:1:a9fe:a9:fe00::",
         "169.254.169.254 metadata"}, /* RFC 6052: bits 64 to 71 are 0 */
        {"64:ff9b:1:7f00:0:100::", "127.0.0.1 loopback"},
        {"2002:808:808::1", "8.8.8.8 public"},
        {"2002:7f00:1::1", "127.0.0.1 loopback"},
        {"2002:a9fe:a9fe::1", "169.254.169.254 metadata"},
        {"2002:c0a8:101::1", "192.168.1.1 private"},
        {"2001:0:808:808::f7f7:f7f7", "8.8.8.8 public"},
        {"2001:0:808:808::80ff:fffe", "127.0.0.1 loopback"},
        {"2001:0:808:808::5601:5601", "169.254.169.254 metadata"},
        {"2001:0:a9fe:a9fe::f7f7:f7f7", "8.8.8.8 public"},
        {"::", "- unspecified"},
        {"::1", "- loopback"},
        {"2001:db8::7f00:1", "- public"},
        {"2001:1::7f00:1", "- reserved"},
        {"127.0.0.1", "- loopback"},
        {"0.0.0.0", "- unspecified"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char inner[SBOX_ADDRESS_TEXT] = "-";
        char got[80];
        struct sbox_address four = {0};
        struct sbox_address a = address(rows[i].text);
        if (sbox_address_embedded(&a, &four))
            (void)sbox_address_format(&four, inner);
        (void)snprintf(got, sizeof got, "%s %s", inner,
                       sbox_address_class_text(sbox_address_classify(&a)));
        check(&rows[i], got);
    }
}

static void test_no_family(void **state)
{
    (void)state;
    char text[SBOX_ADDRESS_TEXT] = "x";
    struct sockaddr_storage s;
    const struct sbox_address none = {0};
    const struct sbox_address zero4 = {.family = 4};
    const struct sbox_address zero6 = {.family = 6};
    assert_string_equal(sbox_address_format(&none, text), "");
    assert_int_equal(sbox_address_classify(&none), SBOX_ADDRESS_RESERVED);
    assert_int_equal(sbox_address_to_sockaddr(&none, 80, &s), 0);
    assert_true(sbox_address_equal(&none, &none));
    assert_false(sbox_address_equal(&none, &zero4));
    assert_false(sbox_address_equal(&zero4, &zero6));
    assert_false(sbox_address_within(&zero4, &zero6, 0));
}

static void test_equal(void **state)
{
    (void)state;
    struct sbox_address a = address("192.0.2.1");
    struct sbox_address b = a;
    b.bytes[15] = 1; /* behind an IPv4 address nothing counts */
    assert_true(sbox_address_equal(&a, &b));
    b = address("192.0.2.2");
    assert_false(sbox_address_equal(&a, &b));
    a = address("2001:db8::1");
    b = address("2001:db8::2");
    assert_false(sbox_address_equal(&a, &b));
    b = address("2001:db8:0::1");
    assert_true(sbox_address_equal(&a, &b));
    a = address("::ffff:192.0.2.1");
    b = address("192.0.2.1");
    assert_false(sbox_address_equal(&a, &b));
    a = sbox_address_unmap(&a);
    assert_true(sbox_address_equal(&a, &b));
    a = address("::192.0.2.1");
    b = sbox_address_unmap(&a);
    assert_true(sbox_address_equal(&a, &b));
}

static void test_within(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        const char *net;
        int prefix;
        bool expected;
    } rows[] = {
        {"198.18.0.0", "198.18.0.0", 15, true},    {"198.19.255.255", "198.18.0.0", 15, true},
        {"198.20.0.0", "198.18.0.0", 15, false},   {"198.17.255.255", "198.18.0.0", 15, false},
        {"192.0.2.1", "192.0.2.1", 32, true},      {"192.0.2.0", "192.0.2.1", 32, false},
        {"192.0.2.1", "0.0.0.0", 0, true},         {"2001:2::1", "2001:2::", 48, true},
        {"2001:2:1::1", "2001:2::", 48, false},    {"2001:db8::1", "2001:db8::1", 128, true},
        {"2001:db8::", "2001:db8::1", 128, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_address a = address(rows[i].address);
        struct sbox_address net = address(rows[i].net);
        if (sbox_address_within(&a, &net, rows[i].prefix) != rows[i].expected)
            fail_msg("%s in %s/%d", rows[i].address, rows[i].net, rows[i].prefix);
    }
}

static void test_sockaddr(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"192.0.2.1", "192.0.2.1"},
        {"2001:db8::1", "2001:db8::1"},
        {"::ffff:192.0.2.1", "192.0.2.1"}, /* what an accepted socket of [::] tells */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[SBOX_ADDRESS_TEXT];
        struct sockaddr_storage s;
        struct sbox_address back;
        uint16_t port = 0;
        struct sbox_address a = address(rows[i].text);
        socklen_t size = sbox_address_to_sockaddr(&a, 0x1234, &s);
        assert_int_equal(size,
                         a.family == 4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
        assert_int_equal(s.ss_family, a.family == 4 ? AF_INET : AF_INET6);
        assert_int_equal(sbox_address_from_sockaddr(&s, &back, &port), 0);
        assert_int_equal(port, 0x1234);
        check(&rows[i], sbox_address_format(&back, text));
    }
}

static void test_sockaddr_is_the_kernels(void **state)
{
    (void)state;
    struct sockaddr_storage s;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sbox_address a = address("192.0.2.1");
    uint16_t port = 7;
    (void)sbox_address_to_sockaddr(&a, 80, &s);
    memcpy(&four, &s, sizeof four);
    assert_int_equal(four.sin_addr.s_addr, htonl(0xc0000201));
    assert_int_equal(four.sin_port, htons(80));
    struct sbox_address b = address("2001:db8::1");
    (void)sbox_address_to_sockaddr(&b, 80, &s);
    memcpy(&six, &s, sizeof six);
    assert_memory_equal(&six.sin6_addr, b.bytes, 16);
    assert_int_equal(six.sin6_scope_id, 0);
    s = (struct sockaddr_storage){.ss_family = AF_UNIX};
    assert_int_equal(sbox_address_from_sockaddr(&s, &a, &port), -EAFNOSUPPORT);
    assert_int_equal(port, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_every_spelling),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_embedded),
        cmocka_unit_test(test_no_family),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_within),
        cmocka_unit_test(test_sockaddr),
        cmocka_unit_test(test_sockaddr_is_the_kernels),
    };
    return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
