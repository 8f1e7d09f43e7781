/* Hosts: every spelling a client has come up with, and the one form that is compared. */
#include "proxy/host.h"

#include "base/error.h"
#include "unit/cmocka_all.h"

struct row {
    const char *text;
    const char *expected; /* "name example.com", "address 127.0.0.1", "none" */
};

#define SIZED(literal) (literal), sizeof(literal) - 1

static const char *parse(const char *text, size_t size, char *got, size_t room)
{
    static const struct sbox_host untouched = {{9, {1}}, "untouched"};
    char canonical[SBOX_HOST_SIZE];
    struct sbox_host h = untouched;
    int r = sbox_host_parse(text, size, &h);
    if (r < 0) {
        assert_int_equal(r, -EINVAL);
        assert_memory_equal(&h, &untouched, sizeof h);
        (void)snprintf(got, room, "none");
        return got;
    }
    assert_true((h.address.family == 0) == (h.name[0] != '\0'));
    (void)snprintf(got, room, "%s %s", h.address.family ? "address" : "name",
                   sbox_host_format(&h, canonical));
    /* canonical once is canonical for ever */
    struct sbox_host again;
    assert_int_equal(sbox_host_parse(canonical, strlen(canonical), &again), 0);
    assert_true(sbox_host_equal(&again, &h));
    return got;
}

static void check(const struct row *row)
{
    char got[300];
    char left[1024];
    char right[1024];
    (void)snprintf(left, sizeof left, "%s -> %s", row->text,
                   parse(row->text, strlen(row->text), got, sizeof got));
    (void)snprintf(right, sizeof right, "%s -> %s", row->text, row->expected);
    assert_string_equal(left, right);
}

#define CHECK_ALL(rows)                                         \
    do {                                                        \
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) \
            check(&(rows)[i]);                                  \
    } while (0)

/* Row E3 of cases/egress. */
static void test_names(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"example.com", "name example.com"},
        {"example.com.", "name example.com"},
        {"EXAMPLE.Com", "name example.com"},
        {"evilexample.com", "name evilexample.com"},
        {"localhost", "name localhost"},
        {"a", "name a"},
        {"a1.b2.c3", "name a1.b2.c3"},
        {"3com.example", "name 3com.example"},
        {"_dmarc.example.com", "name _dmarc.example.com"},
        {"my_bucket.example.com", "name my_bucket.example.com"},
        {"r3---sn-abc.example.com", "name r3---sn-abc.example.com"},
        {"R3---SN-ABC.example.com", "name r3---sn-abc.example.com"},
        {"ab--cd.example.com", "name ab--cd.example.com"},
        {"127.0.0.1.example.com", "name 127.0.0.1.example.com"},
        {"0x7f.example", "name 0x7f.example"},
        {"1.2.3.4a", "name 1.2.3.4a"},

        {"", "none"},
        {".", "none"},
        {"..", "none"},
        {"example..com", "none"},
        {".example.com", "none"},
        {"example.com..", "none"},
        {"-example.com", "none"},
        {"example-.com", "none"},
        {"example.-", "none"},
        {"allowed@evil", "none"},
        {"user:pass@evil.example", "none"},
        {"example%2ecom", "none"},
        {"%65xample.com", "none"},
        {"example.com%00.evil.example", "none"},
        {"example.com/", "none"},
        {"/example.com", "none"},
        {"example.com\\", "none"},
        {"example.com:80", "none"},
        {"example.com?x", "none"},
        {"example.com#x", "none"},
        {"exa mple.com", "none"},
        {" example.com", "none"},
        {"example.com ", "none"},
        {"example.com\t", "none"},
        {"example.com\r\n", "none"},
        {"example\x7f.com", "none"},
        {"example\x01.com", "none"},
        {"*.example.com", "none"},
        {"*", "none"},
        {"exam+ple.com", "none"},
        {"exam!ple.com", "none"},
        {"exam,ple.com", "none"},
        {"exam\"ple.com", "none"},
        {"[example.com]", "none"},
        {"[example.com", "none"},
        {"example.com]", "none"},
        {"{example}.com", "none"},
        {"$(id).com", "none"},
    };
    CHECK_ALL(rows);
}

static void test_idna(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"bücher.example", "name xn--bcher-kva.example"},
        {"BÜCHER.EXAMPLE", "name xn--bcher-kva.example"},
        {"bu\u0308cher.example", "name xn--bcher-kva.example"}, /* decomposed */
        {"xn--bcher-kva.example", "name xn--bcher-kva.example"},
        {"XN--BCHER-KVA.EXAMPLE", "name xn--bcher-kva.example"},
        {"straße.example", "name xn--strae-oqa.example"}, /* transitional: strasse */
        {"例え.テスト", "name xn--r8jz45g.xn--zckzah"},
        {"bücher。example", "name xn--bcher-kva.example"},
        {"bücher.example。", "name xn--bcher-kva.example"},
        {"ｅｘａｍｐｌｅ．ｃｏｍ", "name example.com"},
        {"example\u3002com", "name example.com"},
        {"example\uff0ecom", "name example.com"},
        {"example\uff61com", "name example.com"},
        {"\u212aernel.example", "name kernel.example"}, /* the Kelvin sign */
        {"exam\u00adple.com", "name example.com"},      /* a soft hyphen */
        {"ex\u200bample.com", "name example.com"},      /* a zero-width space */
        {"a_b.bücher.example", "name a_b.xn--bcher-kva.example"},
        {"xn--ls8h.example", "name xn--ls8h.example"}, /* an emoji, as the DNS has it */
        {"xn--ls8h.bücher.example", "name xn--ls8h.xn--bcher-kva.example"},
        {"\u0430pple.example", "name xn--pple-43d.example"}, /* Cyrillic a: another name */

        {"\U0001f4a9.example", "none"},
        {"xn--.example", "none"},
        {"xn--a-.example", "none"},
        {"xn--zzzzzz999.example", "none"},
        {"a.xn--zzzzzz999", "none"},
        {"xn--bücher.example", "none"},
        {"\u00ad.example", "none"},
        {"\u200d.example", "none"},
        {"\u2100.example", "none"}, /* becomes a/c */
        {"\uff05"
         "2e.example",
         "none"}, /* becomes %2e */
        {"evil.example\uff0fexample.com", "none"},
        {"evil\uff20example.com", "none"},
        {"example.com\uff1a80", "none"},
        {"bücher..example", "none"},
        {"-bücher.example", "none"},
        {"\u0301a.example", "none"},
        {"\u05d0a.example", "none"}, /* two directions in a label */
        {"\xff\xfe.example", "none"},
        {"\xc0\xae.example", "none"}, /* an overlong dot */
        {"\xed\xa0\x80.example", "none"},
        {"b\xc3", "none"},
        {"１２７.０.０.１", "none"}, /* spelled like a number: never a name */
        {"①.②", "none"},
        {"127.0.0.1\u3002", "none"},
        {"０ｘ７ｆ.1", "none"},
        {"\uff1a\uff1a1", "none"},
    };
    CHECK_ALL(rows);
}

/* Row E4. */
static void test_addresses(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"127.0.0.1", "address 127.0.0.1"},
        {"127.0.0.1.", "address 127.0.0.1"},
        {"2130706433", "address 127.0.0.1"},
        {"0177.0.0.1", "address 127.0.0.1"},
        {"0x7f.1", "address 127.0.0.1"},
        {"0X7F.1", "address 127.0.0.1"},
        {"127.1", "address 127.0.0.1"},
        {"1.2.3", "address 1.2.0.3"},
        {"0.0.0.0", "address 0.0.0.0"},
        {"0", "address 0.0.0.0"},
        {"100.64.0.1", "address 100.64.0.1"},
        {"::", "address ::"},
        {"[::]", "address ::"},
        {"::1", "address ::1"},
        {"[0:0:0:0:0:0:0:1]", "address ::1"},
        {"[2001:DB8::1]", "address 2001:db8::1"},
        {"::ffff:127.0.0.1", "address 127.0.0.1"},
        {"[::FFFF:7F00:1]", "address 127.0.0.1"},
        {"::169.254.169.254", "address ::169.254.169.254"},
        {"64:ff9b::a9fe:a9fe", "address 64:ff9b::a9fe:a9fe"},
        {"fe80::1%lo", "address fe80::1"},
        {"[fe80::1%25lo]", "address fe80::1"},

        {"256.0.0.1", "none"},
        {"1.2.3.4.5", "none"},
        {"4294967296", "none"},
        {"0x100000000", "none"},
        {"08.0.0.1", "none"},
        {"example.1", "none"},
        {"example.0x7f", "none"},
        {"example.0x", "none"},
        {"1..1", "none"},
        {"[127.0.0.1]", "none"},
        {"[::1", "none"},
        {"::1]", "none"},
        {"[::1].", "none"},
        {"[]", "none"},
        {"::1%", "none"},
        {"::1%@evil.example", "none"},
        {"1:2", "none"},
        {":", "none"},
    };
    CHECK_ALL(rows);
}

static void test_nul(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
    } rows[] = {
        {SIZED("example.com\0.evil.example")},
        {SIZED("example.com\0")},
        {SIZED("\0example.com")},
        {SIZED("127.0.0.1\0")},
        {SIZED("[::1]\0")},
        {SIZED("\0")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char got[300];
        assert_string_equal(parse(rows[i].text, rows[i].size, got, sizeof got), "none");
    }
}

/* Only `size` bytes count: what stands behind them is somebody else's. */
static void test_size(void **state)
{
    (void)state;
    char got[300];
    assert_string_equal(parse("example.community", 11, got, sizeof got), "name example.com");
    assert_string_equal(parse("127.0.0.11", 9, got, sizeof got), "address 127.0.0.1");
}

/* labels of `label` bytes, together `size` */
static void long_name(char *text, size_t size, size_t label)
{
    for (size_t i = 0; i < size; i++)
        text[i] = (i + 1) % (label + 1) == 0 && i + 1 < size ? '.' : 'a';
    text[size] = '\0';
}

static void test_lengths(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        size_t label;
        const char *expected;
    } rows[] = {
        {63, 63, "name"},  {64, 64, "none"},  {253, 63, "name"}, {254, 63, "none"},
        {300, 50, "none"}, {511, 63, "none"}, {512, 63, "none"}, {900, 63, "none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024];
        char got[300];
        long_name(text, rows[i].size, rows[i].label);
        assert_memory_equal(parse(text, rows[i].size, got, sizeof got), rows[i].expected, 4);
        text[rows[i].size] = '.'; /* one dot at the end does not count */
        assert_memory_equal(parse(text, rows[i].size + 1, got, sizeof got), rows[i].expected, 4);
    }
}

static void test_long_labels_after_idna(void **state)
{
    (void)state;
    char text[256] = "";
    char got[300];
    for (size_t n = 1; n <= 64; n++) {
        (void)snprintf(text + 2 * (n - 1), 3, "ü");
        parse(text, 2 * n, got, sizeof got);
        if (n == 1)
            assert_string_equal(got, "name xn--tda");
    }
    assert_string_equal(got, "none"); /* xn-- and 64 of them are more than 63 bytes */
}

static void test_ports(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint16_t default_port;
        const char *expected; /* "host|port" */
    } rows[] = {
        {"example.com:443", 0, "example.com|443"},
        {"example.com.:443", 0, "example.com|443"},
        {"example.com:1", 0, "example.com|1"},
        {"example.com:65535", 0, "example.com|65535"},
        {"example.com:22", 80, "example.com|22"},
        {"example.com", 80, "example.com|80"},
        {"example.com", 65535, "example.com|65535"},
        {"127.1:80", 0, "127.0.0.1|80"},
        {"[::1]:8080", 0, "::1|8080"},
        {"[::1]", 80, "::1|80"},
        {"[::ffff:10.0.0.1]:80", 0, "10.0.0.1|80"},
        {"example.com", 0, "none"},
        {"[::1]", 0, "none"},
        {"example.com:", 80, "none"},
        {"example.com:0", 80, "none"},
        {"example.com:00", 80, "none"},
        {"example.com:080", 80, "none"},
        {"example.com:+80", 80, "none"},
        {"example.com:-80", 80, "none"},
        {"example.com: 80", 80, "none"},
        {"example.com:80 ", 80, "none"},
        {"example.com:0x50", 80, "none"},
        {"example.com:8e1", 80, "none"},
        {"example.com:80/", 80, "none"},
        {"example.com:65536", 80, "none"},
        {"example.com:99999", 80, "none"},
        {"example.com:100000", 80, "none"},
        {"example.com:4294967376", 80, "none"},
        {"example.com:80:443", 80, "none"},
        {"example.com:８０", 80, "none"},
        {"example.com:http", 80, "none"},
        {":80", 80, "none"},
        {":", 80, "none"},
        {"", 80, "none"},
        {"::1", 80, "none"},
        {"::1:80", 80, "none"},
        {"2001:db8::1", 80, "none"},
        {"[::1", 80, "none"},
        {"[::1:80", 80, "none"},
        {"[::1]x", 80, "none"},
        {"[::1]x:80", 80, "none"},
        {"[::1]80", 80, "none"},
        {"[::1]::80", 80, "none"},
        {"[::1]:80]", 80, "none"},
        {"[]:80", 80, "none"},
        {"[example.com]:80", 80, "none"},
        {"a@b:80", 80, "none"},
        {"example.com:80@evil.example:443", 80, "none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_host h;
        uint16_t port = 7;
        char host[SBOX_HOST_SIZE];
        char left[512] = "none";
        char right[512];
        int r = sbox_host_port_parse(rows[i].text, strlen(rows[i].text), rows[i].default_port, &h,
                                     &port);
        if (r == 0)
            (void)snprintf(left, sizeof left, "%s -> %s|%u", rows[i].text,
                           sbox_host_format(&h, host), port);
        else
            (void)snprintf(left, sizeof left, "%s -> none", rows[i].text);
        (void)snprintf(right, sizeof right, "%s -> %s", rows[i].text, rows[i].expected);
        assert_string_equal(left, right);
        assert_true(r == 0 || (r == -EINVAL && port == 7));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_idna),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_nul),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_long_labels_after_idna),
        cmocka_unit_test(test_ports),
    };
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
