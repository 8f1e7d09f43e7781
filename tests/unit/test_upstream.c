#include "proxy/reach.h"
#include "unit/cmocka_all.h"

static void test_urls(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        const char *host; /* NULL: refused */
        uint16_t port;
        const char *authorization;
    } rows[] = {
        {"http://proxy.test:3128", "proxy.test", 3128, ""},
        {"http://proxy.test:3128/", "proxy.test", 3128, ""},
        {"HTTP://proxy.test", "proxy.test", 80, ""},
        {"proxy.test:8080", "proxy.test", 8080, ""},
        {"http://[::1]:3128", "::1", 3128, ""},
        {"http://Aladdin:open%20sesame@proxy.test:1", "proxy.test", 1,
         "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="},
        {"http://u:p%40x@proxy.test:1", "proxy.test", 1, "Basic dTpwQHg="},
        {"http://u@v:p@proxy.test:1", "proxy.test", 1, "Basic dUB2OnA="},
        {"https://proxy.test:3128", NULL, 0, NULL},
        {"socks5://proxy.test:1080", NULL, 0, NULL},
        {"http://", NULL, 0, NULL},
        {"http://u:p@", NULL, 0, NULL},
        {"http://u:%zz@proxy.test", NULL, 0, NULL},
        {"http://u:%0d%0ax@proxy.test", NULL, 0, NULL},
        {"http://proxy.test:99999", NULL, 0, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_upstream u;
        struct sbox_error err = SBOX_ERROR_INIT;
        char text[SBOX_HOST_SIZE];
        print_message("%s\n", rows[i].url);
        int r = sbox_upstream_parse(rows[i].url, &u, &err);
        assert_int_equal(r, rows[i].host ? 0 : -EINVAL);
        if (r < 0)
            continue;
        assert_string_equal(sbox_host_format(&u.host, text), rows[i].host);
        assert_int_equal(u.port, rows[i].port);
        assert_string_equal(u.authorization, rows[i].authorization);
    }
}

static void test_no_secret_in_messages(void **state)
{
    (void)state;
    static const char *const rows[] = {"http://u:hunter2@", "http://u:hunter2%@x.test",
                                       "socks5://u:hunter2@x.test", "http://u:hunter2@x.test:0"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_upstream u;
        struct sbox_error err = SBOX_ERROR_INIT;
        assert_int_equal(sbox_upstream_parse(rows[i], &u, &err), -EINVAL);
        assert_null(strstr(err.message, "hunter2"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_no_secret_in_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
