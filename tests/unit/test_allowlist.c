/* The allowlist: what a rule means, what it covers, and what a name may lead to. */
#include "proxy/allowlist.h"

#include "base/strv.h"
#include "net/layout.h"
#include "unit/cmocka_all.h"

static void release(struct sbox_allowlist **a)
{
    sbox_allowlist_free(*a);
}
#define _cleanup_list_ __attribute__((cleanup(release)))

/* `rules` with commas between. */
static struct sbox_allowlist *list_of(const char *rules)
{
    struct sbox_allowlist *a = sbox_allowlist_new();
    assert_non_null(a);
    while (*rules) {
        char rule[512];
        struct sbox_error err = SBOX_ERROR_INIT;
        int size = (int)strcspn(rules, ",");
        (void)snprintf(rule, sizeof rule, "%.*s", size, rules);
        if (sbox_allowlist_add(a, rule, &err) < 0)
            fail_msg("%s", err.message);
        rules += size + (rules[size] == ',');
    }
    return a;
}

static struct sbox_host host_of(const char *text)
{
    struct sbox_host h = {0};
    if (sbox_host_parse(text, strlen(text), &h) < 0)
        fail_msg("%s is no host", text);
    return h;
}

static struct sbox_address address_of(const char *text)
{
    struct sbox_address a = {0};
    if (sbox_address_parse(text, &a) < 0)
        fail_msg("%s is no address", text);
    return a;
}

/* -- rules ------------------------------------------------------------------------------------- */

static void test_canonical_text(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        const char *text;
    } rows[] = {
        {"example.com", "example.com:80,443"},
        {"example.com:443", "example.com:443"},
        {"EXAMPLE.com.:8443", "example.com:8443"},
        {"*.example.com", "*.example.com:80,443"},
        {"*.Example.com:1", "*.example.com:1"},
        {"bücher.example:443", "xn--bcher-kva.example:443"},
        {"*.bücher.example", "*.xn--bcher-kva.example:80,443"},
        {"my_registry.example", "my_registry.example:80,443"},
        {"localhost:3000", "localhost:3000"},
        {"db:5432", "db:5432"},
        {"test:80", "test:80"},
        {"registry.test", "registry.test:80,443"},
        {"*.registry.test:4873", "*.registry.test:4873"},
        {"registry.example", "registry.example:80,443"},
        {"svc.internal:8080", "svc.internal:8080"},
        {"foo.github.io", "foo.github.io:80,443"},
        {"*.foo.github.io", "*.foo.github.io:80,443"},
        {"www.ck", "www.ck:80,443"}, /* an exception in the list */
        {"10.0.0.5:5432", "10.0.0.5:5432"},
        {"192.0.2.1", "192.0.2.1:80,443"},
        {"2130706433:80", "127.0.0.1:80"},
        {"0x7f.1:80", "127.0.0.1:80"},
        {"1.2.3:80", "1.2.0.3:80"},
        {"[::1]:8080", "[::1]:8080"},
        {"[2001:DB8:0::1]", "[2001:db8::1]:80,443"},
        {"[::ffff:10.0.0.5]:80", "10.0.0.5:80"},
        {"169.254.169.254:80", "169.254.169.254:80"},
        {"[64:ff9b::a9fe:a9fe]:80", "[64:ff9b::a9fe:a9fe]:80"},
        {"100.64.0.1:80", "100.64.0.1:80"},
        {"0.0.0.1:80", "0.0.0.1:80"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        _cleanup_list_ struct sbox_allowlist *a = list_of(rows[i].rule);
        assert_int_equal(sbox_allowlist_count(a), 1);
        assert_int_equal(sbox_allowlist_text(a, 0, text, sizeof text), 0);
        assert_string_equal(text, rows[i].text);
        size_t size = strlen(text);
        assert_int_equal(sbox_allowlist_text(a, 0, text, size), -ENAMETOOLONG);
        assert_int_equal(sbox_allowlist_text(a, 0, text, size + 1), 0);
    }
}

/* Rows E1 and E19: nothing of this may become a rule, and the sentence shows what is right. */
static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        const char *says[2];
    } rows[] = {
        {"", {"is empty", "example.com:8443"}},
        {"*", {"every host", "like example.com"}},
        {"*:443", {"every host", "like example.com"}},
        {"*.", {"'*'", "*.example.com"}},
        {"*.*", {"'*'", "*.example.com"}},
        {"*.*.example.com", {"'*'", "*.example.com"}},
        {"**.example.com", {"'*'", "*.example.com"}},
        {"*example.com", {"'*'", "*.example.com"}},
        {"a.*.example.com", {"'*'", "*.example.com"}},
        {"example.*", {"'*'", "*.example.com"}},
        {"*.10.0.0.1", {"'*'", "*.example.com"}},
        {"*.1", {"'*'", "*.example.com"}},
        {"*.[::1]", {"'*'", "*.example.com"}},
        {",", {"no host name", "example.com"}},
        {".", {"no host name", "example.com"}},
        {".example.com", {"no host name", "*.example.com"}},
        {"example..com", {"no host name", "example.com"}},
        {"-o", {"no host name", "example.com"}},
        {"@npm", {"no host name", "example.com"}},
        {"user@example.com", {"no host name", "example.com"}},
        {"example.com/path", {"no host name", "example.com"}},
        {"exam ple.com", {"no host name", "example.com"}},
        {"256.1.1.1", {"no host name", "192.0.2.1:5432"}},
        {"1.2.3.4.5", {"no host name", "192.0.2.1:5432"}},
        {"example.1", {"no host name", "192.0.2.1:5432"}},
        {"10.0.0.0/8", {"no host name", "192.0.2.1:5432"}},
        {"https://example.com", {"is a URL", "example.com:8443"}},
        {"http://example.com:80/x", {"is a URL", "example.com:8443"}},
        {"example.com:", {"a port that", "example.com:8443"}},
        {"example.com:0", {"a port that", "example.com:8443"}},
        {"example.com:0443", {"a port that", "example.com:8443"}},
        {"example.com:65536", {"a port that", "example.com:8443"}},
        {"example.com:https", {"a port that", "example.com:8443"}},
        {"example.com:80-90", {"a port that", "example.com:8443"}},
        {"example.com:*", {"'*'", "example.com:8443"}},
        {"::1", {"needs brackets", "[2001:db8::1]:8080"}},
        {"::1:8080", {"needs brackets", "[2001:db8::1]:8080"}},
        {"2001:db8::1", {"needs brackets", "[2001:db8::1]:8080"}},
        {"localhost", {"needs a port", "localhost:443"}},
        {"npm", {"needs a port", "command"}},
        {"test", {"needs a port", "test:443"}},
        {"*.test", {"too wide", "*.example.test"}},
        {"*.localhost:80", {"too wide", "*.example.localhost"}},
        {"com", {"public suffix", "example.com"}},
        {"com:443", {"public suffix", "example.com"}},
        {"COM.:443", {"public suffix", "example.com"}},
        {"*.com", {"public suffix", "example.com"}},
        {"co.uk", {"public suffix", "example.co.uk"}},
        {"*.co.uk:443", {"public suffix", "example.co.uk"}},
        {"github.io", {"public suffix", "example.github.io"}},
        {"GitHub.io.", {"public suffix", "example.github.io"}},
        {"*.github.io", {"public suffix", "example.github.io"}},
        {"foo.ck", {"public suffix", "example.foo.ck"}}, /* the list says *.ck */
        {"公司.cn", {"public suffix", "example.xn--55qx5d.cn"}},
        {"xn--55qx5d.cn", {"public suffix", "example.xn--55qx5d.cn"}},
        {"arpa:53", {"public suffix", "example.arpa"}},
        {"0.0.0.0:80", {"unspecified", "127.0.0.1:5432"}},
        {"0:80", {"unspecified", "127.0.0.1:5432"}},
        {"[::]:80", {"unspecified", "127.0.0.1:5432"}},
        {"[::ffff:0.0.0.0]:80", {"unspecified", "127.0.0.1:5432"}},
        {"224.0.0.1:80", {"multicast", "127.0.0.1:5432"}},
        {"[ff02::1]:80", {"multicast", "127.0.0.1:5432"}},
        {"198.18.0.1:80", {"sbox uses inside", "db.example.com:5432"}},
        {"198.19.255.255", {"sbox uses inside", "db.example.com:5432"}},
        {"[2001:2::1]:80", {"sbox uses inside", "db.example.com:5432"}},
        {"[::ffff:198.18.0.1]:80", {"sbox uses inside", "db.example.com:5432"}},
    };
    _cleanup_list_ struct sbox_allowlist *a = sbox_allowlist_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_error err = SBOX_ERROR_INIT;
        int r = sbox_allowlist_add(a, rows[i].rule, &err);
        if (r != -EINVAL)
            fail_msg("%s: %d", rows[i].rule, r);
        for (size_t k = 0; k < 2; k++)
            if (!strstr(err.message, rows[i].says[k]))
                fail_msg("%s: '%s' is not in: %s", rows[i].rule, rows[i].says[k], err.message);
        assert_int_equal(sbox_allowlist_add(a, rows[i].rule, NULL), -EINVAL);
    }
    assert_int_equal(sbox_allowlist_count(a), 0);
    struct sbox_host any = host_of("example.com");
    assert_int_equal(sbox_allowlist_decide(a, &any, 443), SBOX_VERDICT_NAME);
}

/* The advice stays whole, whatever it is that the user wrote. */
static void test_hostile_rule_in_the_sentence(void **state)
{
    (void)state;
    static const char bytes[] = {'\x1b', 'a', '\xff'};
    for (size_t i = 0; i < sizeof bytes; i++) {
        char rule[512];
        struct sbox_error err = SBOX_ERROR_INIT;
        memset(rule, bytes[i], sizeof rule - 1);
        rule[sizeof rule - 1] = '\0';
        _cleanup_list_ struct sbox_allowlist *a = sbox_allowlist_new();
        assert_int_equal(sbox_allowlist_add(a, rule, &err), -EINVAL);
        assert_null(strchr(err.message, '\x1b'));
        assert_true(sbox_str_ends(err.message, "[2001:db8::1]:8080"));
    }
}

static void test_duplicates_are_merged(void **state)
{
    (void)state;
    static const struct {
        const char *rules;
        size_t count;
    } rows[] = {
        {"example.com,example.com", 1},
        {"example.com,EXAMPLE.com.", 1},
        {"bücher.example,xn--bcher-kva.example", 1},
        {"127.0.0.1:80,127.1:80,[::ffff:127.0.0.1]:80,2130706433:80", 1},
        {"[::1]:80,[0::1]:80", 1},
        {"example.com,example.com:443", 2},
        {"example.com,*.example.com", 2},
        {"example.com:80,example.com:443", 2},
        {"127.0.0.1:80,[::1]:80", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        _cleanup_list_ struct sbox_allowlist *a = list_of(rows[i].rules);
        if (sbox_allowlist_count(a) != rows[i].count)
            fail_msg("%s: %zu", rows[i].rules, sbox_allowlist_count(a));
    }
}

static void test_limit(void **state)
{
    (void)state;
    _cleanup_list_ struct sbox_allowlist *a = sbox_allowlist_new();
    struct sbox_error err = SBOX_ERROR_INIT;
    char rule[64];
    for (int i = 0; i < SBOX_NET_RULES_MAX; i++) {
        (void)snprintf(rule, sizeof rule, "h%d.example.com", i);
        assert_int_equal(sbox_allowlist_add(a, rule, NULL), 0);
    }
    assert_int_equal(sbox_allowlist_add(a, "one-more.example.com", &err), -E2BIG);
    assert_non_null(strstr(err.message, "1024"));
    assert_int_equal(sbox_allowlist_add(a, "h0.example.com", NULL), 0); /* known already */
    assert_int_equal(sbox_allowlist_count(a), SBOX_NET_RULES_MAX);
    struct sbox_host last = host_of("h1023.example.com");
    assert_int_equal(sbox_allowlist_decide(a, &last, 443), SBOX_VERDICT_ALLOWED);
    sbox_allowlist_free(NULL);
}

/* -- decisions --------------------------------------------------------------------------------- */

struct decision {
    const char *rules;
    const char *host;
    uint16_t port;
    enum sbox_wire_verdict expected;
};

static void decide(const struct decision *d)
{
    _cleanup_list_ struct sbox_allowlist *a = list_of(d->rules);
    struct sbox_host host = host_of(d->host);
    enum sbox_wire_verdict verdict = sbox_allowlist_decide(a, &host, d->port);
    if (verdict != d->expected)
        fail_msg("[%s] %s %u: %d", d->rules, d->host, d->port, verdict);
    if (sbox_allowlist_knows(a, &host) != (d->expected != SBOX_VERDICT_NAME))
        fail_msg("[%s] knows %s", d->rules, d->host);
}

#define DECIDE_ALL(rows)                                        \
    do {                                                        \
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) \
            decide(&(rows)[i]);                                 \
    } while (0)

#define YES  SBOX_VERDICT_ALLOWED
#define NO   SBOX_VERDICT_NAME
#define PORT SBOX_VERDICT_PORT

/* Rows E1, E3 and E6. */
static void test_names(void **state)
{
    (void)state;
    static const struct decision rows[] = {
        {"", "example.com", 443, NO},
        {"", "127.0.0.1", 80, NO},
        {"example.com", "example.com", 443, YES},
        {"example.com", "example.com", 80, YES},
        {"example.com", "Example.COM.", 443, YES},
        {"example.com", "www.example.com", 443, YES},
        {"example.com", "a.b.c.example.com", 443, YES},
        {"example.com", "_x.example.com", 443, YES},
        {"example.com", "evilexample.com", 443, NO},
        {"example.com", "evil-example.com", 443, NO},
        {"example.com", "example.com.evil.test", 443, NO},
        {"example.com", "example.co", 443, NO},
        {"example.com", "xample.com", 443, NO},
        {"example.com", "com", 443, NO},
        {"example.com", "example.comm", 443, NO},
        {"a.example.com", "example.com", 443, NO},
        {"a.example.com", "b.example.com", 443, NO},
        {"*.example.com", "example.com", 443, NO},
        {"*.example.com", "a.example.com", 443, YES},
        {"*.example.com", "a.b.example.com", 443, YES},
        {"*.example.com", "evilexample.com", 443, NO},
        {"bücher.example", "xn--bcher-kva.example", 443, YES},
        {"xn--bcher-kva.example", "BÜCHER.example", 443, YES},
        {"bücher.example", "bucher.example", 443, NO},
        {"straße.example", "strasse.example", 443, NO},
        {"apple.example", "\u0430pple.example", 443, NO},
        {"foo.github.io", "foo.github.io", 443, YES},
        {"foo.github.io", "bar.github.io", 443, NO},
        {"localhost:3000", "localhost", 3000, YES},
        {"localhost:3000", "a.localhost", 3000, NO}, /* one label stands for itself alone */
        {"test:80", "registry.test", 80, NO},

        {"example.com", "example.com", 22, PORT},
        {"example.com", "example.com", 25, PORT},
        {"example.com", "example.com", 6379, PORT},
        {"example.com", "a.example.com", 8443, PORT},
        {"example.com", "example.com", 0, PORT},
        {"example.com", "evilexample.com", 22, NO},
        {"example.com:8443", "example.com", 8443, YES},
        {"example.com:8443", "example.com", 443, PORT},
        {"example.com:8443", "example.com", 80, PORT},
        {"example.com:22,example.com", "example.com", 443, YES},
        {"example.com,example.com:22", "example.com", 22, YES},
        {"example.com,*.example.com:22", "example.com", 22, PORT},
        {"example.com,*.example.com:22", "a.example.com", 22, YES},
        {"example.com:1,a.example.com:2", "a.example.com", 1, YES},
        {"example.com:1,a.example.com:2", "example.com", 2, PORT},
        {"example.com:65535", "example.com", 65535, YES},
    };
    DECIDE_ALL(rows);
}

/* Row E4: refused unless listed as that very address. */
static void test_addresses(void **state)
{
    (void)state;
    static const char *const hosts[] = {
        "2130706433",         "0177.0.0.1", "127.1", "::ffff:127.0.0.1", "::169.254.169.254",
        "64:ff9b::a9fe:a9fe", "0.0.0.0",    "::",    "100.64.0.1",       "fe80::1%lo",
        "192.0.2.1",          "8.8.8.8",    "[::1]", "2001:db8::1",
    };
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        decide(&(struct decision){"example.com,localhost:80,10.0.0.1", hosts[i], 80, NO});
    static const struct decision rows[] = {
        {"127.0.0.1:80", "2130706433", 80, YES},
        {"127.0.0.1:80", "0177.0.0.1", 80, YES},
        {"127.0.0.1:80", "127.1", 80, YES},
        {"127.0.0.1:80", "::ffff:127.0.0.1", 80, YES},
        {"127.0.0.1:80", "127.0.0.1", 81, PORT},
        {"127.0.0.1:80", "127.0.0.2", 80, NO},
        {"127.0.0.1:80", "::127.0.0.1", 80, NO},
        {"127.0.0.1:80", "64:ff9b::7f00:1", 80, NO},
        {"127.0.0.1:80", "2002:7f00:1::", 80, NO},
        {"127.0.0.1:80", "::1", 80, NO},
        {"[::1]:80", "127.0.0.1", 80, NO},
        {"127.0.0.1:80", "localhost", 80, NO},
        {"localhost:80", "127.0.0.1", 80, NO},
        {"127.0.0.1:80", "a.127.0.0.1.example", 80, NO},
        {"[::169.254.169.254]:80", "::169.254.169.254", 80, YES},
        {"[::169.254.169.254]:80", "169.254.169.254", 80, NO},
        {"169.254.169.254:80", "::169.254.169.254", 80, NO},
        {"169.254.169.254:80", "169.254.169.254", 80, YES},
        {"169.254.169.254:80", "0xa9fea9fe", 80, YES},
        {"[64:ff9b::a9fe:a9fe]:80", "64:ff9b::a9fe:a9fe", 80, YES},
        {"100.64.0.1:80", "100.64.0.1", 80, YES},
        {"[fe80::1]:80", "fe80::1%lo", 80, YES},
        {"192.0.2.1", "192.0.2.1", 443, YES},
        {"192.0.2.1", "192.0.2.1", 5432, PORT},
        {"10.0.0.5:5432", "10.0.0.5", 5432, YES},
        {"10.0.0.5:5432", "10.0.0.50", 5432, NO},
    };
    DECIDE_ALL(rows);
}

/* Row E5: what a name leads to. */
static void test_vet(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        bool usual;
        bool with_private;
    } rows[] = {
        {"8.8.8.8", true, true},
        {"192.0.2.1", true, true},
        {"2001:db8::1", true, true},
        {"64:ff9b::8.8.8.8", true, true},
        {"127.0.0.1", false, true},
        {"::1", false, true},
        {"::ffff:127.0.0.1", false, true},
        {"10.0.0.1", false, true},
        {"172.16.0.1", false, true},
        {"192.168.0.1", false, true},
        {"fd00::1", false, true},
        {"100.64.0.1", false, true},
        {"169.254.1.1", false, true},
        {"fe80::1", false, true},
        {"64:ff9b::10.0.0.1", false, true},
        {"2002:a00:1::", false, true},
        {"169.254.169.254", false, false},
        {"169.254.170.2", false, false},
        {"100.100.100.200", false, false},
        {"168.63.129.16", false, false},
        {"fd00:ec2::254", false, false},
        {"::ffff:169.254.169.254", false, false},
        {"::169.254.169.254", false, false},
        {"64:ff9b::a9fe:a9fe", false, false},
        {"64:ff9b:1::a9fe:a9fe", false, false},
        {"2002:a9fe:a9fe::", false, false},
        {"2001:0:808:808::5601:5601", false, false},
        {"0.0.0.0", false, false},
        {"::", false, false},
        {"0.1.2.3", false, false},
        {"198.18.0.1", false, false},
        {"2001:2::1", false, false},
        {"224.0.0.1", false, false},
        {"ff02::1", false, false},
        {"255.255.255.255", false, false},
        {"240.0.0.1", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_address a = address_of(rows[i].address);
        if (sbox_allowlist_vet(&a, false) != rows[i].usual)
            fail_msg("%s", rows[i].address);
        if (sbox_allowlist_vet(&a, true) != rows[i].with_private)
            fail_msg("%s with --allow-private", rows[i].address);
    }
}

/* -- what the gateway needs -------------------------------------------------------------------- */

static void test_ports(void **state)
{
    (void)state;
    uint16_t ports[4] = {0};
    _cleanup_list_ struct sbox_allowlist *none = list_of("");
    assert_int_equal(sbox_allowlist_ports(none, ports, 4), 0);
    _cleanup_list_ struct sbox_allowlist *usual = list_of("example.com,192.0.2.1");
    assert_int_equal(sbox_allowlist_ports(usual, ports, 4), 2);
    assert_int_equal(ports[0], 80);
    assert_int_equal(ports[1], 443);
    _cleanup_list_ struct sbox_allowlist *many =
        list_of("a.example:65535,b.example:1,c.example:443,d.example:1,e.example:99,example.com");
    assert_int_equal(sbox_allowlist_ports(many, ports, 4), 5);
    static const uint16_t expected[] = {1, 80, 99, 443};
    assert_memory_equal(ports, expected, sizeof expected);
    assert_int_equal(sbox_allowlist_ports(many, NULL, 0), 5);
}

static void test_literals(void **state)
{
    (void)state;
    struct sbox_address got[2] = {0};
    _cleanup_list_ struct sbox_allowlist *names = list_of("example.com,localhost:80");
    assert_int_equal(sbox_allowlist_literals(names, got, 2), 0);
    _cleanup_list_ struct sbox_allowlist *a =
        list_of("192.0.2.1:80,example.com,192.0.2.1:443,[2001:db8::1]:80,[::1]:80");
    assert_int_equal(sbox_allowlist_literals(a, got, 2), 3);
    struct sbox_address first = address_of("192.0.2.1");
    struct sbox_address second = address_of("2001:db8::1");
    assert_true(sbox_address_equal(&got[0], &first));
    assert_true(sbox_address_equal(&got[1], &second));
    assert_int_equal(sbox_allowlist_literals(a, NULL, 0), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_text),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_hostile_rule_in_the_sentence),
        cmocka_unit_test(test_duplicates_are_merged),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_vet),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_literals),
    };
    return cmocka_run_group_tests_name("allowlist", tests, NULL, NULL);
}
