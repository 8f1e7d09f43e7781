#include "cli/net_options.h"
#include "cli/net_text.h"
#include "unit/cmocka_all.h"

static void test_publish(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *address; /* NULL: refused */
        uint16_t outside;
        uint16_t inside;
    } rows[] = {
        {"3000", "127.0.0.1", 3000, 3000},
        {"8080:3000", "127.0.0.1", 8080, 3000},
        {"0.0.0.0:8080", "0.0.0.0", 8080, 8080},
        {"192.0.2.1:8080:3000", "192.0.2.1", 8080, 3000},
        {"[::1]:80", "::1", 80, 80},
        {"[2001:db8::1]:80:81", "2001:db8::1", 80, 81},
        {"", NULL, 0, 0},
        {"0", NULL, 0, 0},
        {"65536", NULL, 0, 0},
        {"080", NULL, 0, 0},
        {"+80", NULL, 0, 0},
        {"80 ", NULL, 0, 0},
        {"80:", NULL, 0, 0},
        {":80", NULL, 0, 0},
        {"80:81:82", NULL, 0, 0},
        {"127.1:80", NULL, 0, 0},
        {"::1:80", NULL, 0, 0},
        {"[::1]80", NULL, 0, 0},
        {"[::1", NULL, 0, 0},
        {"host:80", NULL, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_proxy_publish p = {0};
        struct sbox_error err = SBOX_ERROR_INIT;
        char text[SBOX_ADDRESS_TEXT];
        int r = sbox_net_publish_parse(rows[i].text, &p, &err);
        print_message("%s\n", rows[i].text);
        assert_int_equal(r, rows[i].address ? 0 : -EINVAL);
        if (r < 0) {
            assert_non_null(strstr(err.message, "[ADDR:]PORT[:PORT]"));
            continue;
        }
        assert_string_equal(sbox_address_format(&p.address, text), rows[i].address);
        assert_int_equal(p.outside, rows[i].outside);
        assert_int_equal(p.inside, rows[i].inside);
    }
}

static void test_rules(void **state)
{
    (void)state;
    static const struct {
        struct sbox_wire_connection c;
        const char *rule; /* NULL: none would help */
    } rows[] = {
        {{.verdict = SBOX_VERDICT_NAME, .port = 443, .host = "evil.test"}, "evil.test"},
        {{.verdict = SBOX_VERDICT_NAME, .port = 80, .host = "evil.test"}, "evil.test"},
        {{.verdict = SBOX_VERDICT_NAME, .port = 0, .host = "evil.test"}, "evil.test"},
        {{.verdict = SBOX_VERDICT_NAME, .port = 6379, .host = "db.test"}, "db.test:6379"},
        {{.verdict = SBOX_VERDICT_PORT, .port = 22, .host = "git.test"}, "git.test:22"},
        {{.verdict = SBOX_VERDICT_NAME, .port = 443, .host = "db"}, "db:443"},
        {{.verdict = SBOX_VERDICT_NAME, .port = 80, .host = "::1"}, "[::1]"},
        {{.verdict = SBOX_VERDICT_NAME, .port = 81, .host = "::1"}, "[::1]:81"},
        {{.verdict = SBOX_VERDICT_REQUEST, .port = 0, .host = ""}, NULL},
        /* what no canonical host holds, from a proxy that is no longer itself */
        {{.verdict = SBOX_VERDICT_NAME, .port = 80, .host = "a.test;id"}, NULL},
        {{.verdict = SBOX_VERDICT_NAME, .port = 80, .host = "$(id).test"}, NULL},
        {{.verdict = SBOX_VERDICT_NAME, .port = 80, .host = "a.test b.test"}, NULL},
        {{.verdict = SBOX_VERDICT_NAME, .port = 80, .host = "a.test,b.test"}, NULL},
        {{.verdict = SBOX_VERDICT_NAME, .port = 80, .host = "--allow-env"}, NULL},
        {{.verdict = SBOX_VERDICT_ADDRESS, .port = 80, .host = "a.test"}, NULL},
        {{.verdict = SBOX_VERDICT_ALLOWED, .port = 80, .host = "a.test"}, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300] = "";
        bool has = sbox_net_rule_for(&rows[i].c, text, sizeof text);
        assert_int_equal(has, rows[i].rule != NULL);
        if (has)
            assert_string_equal(text, rows[i].rule);
    }
}

/* A host is a stranger's text: it must reach the terminal escaped. */
static void test_escaped(void **state)
{
    (void)state;
    struct sbox_wire_connection c = {
        .verdict = SBOX_VERDICT_NAME, .port = 80, .host = "a\033[31m.test"};
    struct sbox_buf text = {0};
    sbox_net_refusal_text(&text, &c);
    assert_null(memchr(text.data, '\033', text.size));
    sbox_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_publish),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
