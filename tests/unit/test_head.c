/* Request lines: E2, E3 of cases/egress. */
#include "unit/head_parse.h"

static void test_absolute_form(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        const char *host;
        uint16_t port;
        const char *path;
    } rows[] = {
        {"http://a.test/", "a.test", 80, "/"},
        {"http://a.test", "a.test", 80, "/"},
        {"http://a.test:80/x", "a.test", 80, "/x"},
        {"http://a.test:8080/x?y=z", "a.test", 8080, "/x?y=z"},
        {"HTTP://A.TEST/X", "a.test", 80, "/X"},
        {"http://a.test./", "a.test", 80, "/"},
        {"http://a.test?q=/@b.test", "a.test", 80, "?q=/@b.test"},
        {"http://a.test/@b.test", "a.test", 80, "/@b.test"},
        {"http://a.test/\\@b.test", "a.test", 80, "/\\@b.test"},
        {"http://a.test//b.test/", "a.test", 80, "//b.test/"},
        {"http://a.test/http://b.test/", "a.test", 80, "/http://b.test/"},
        {"http://a.test/%0d%0a|\"{}", "a.test", 80, "/%0d%0a|\"{}"},
        {"http://a_b.test/", "a_b.test", 80, "/"},
        {"http://127.0.0.1:3000/", "127.0.0.1", 3000, "/"},
        {"http://[::1]/", "::1", 80, "/"},
        {"http://[::1]:8080/", "::1", 8080, "/"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        char host[SBOX_HOST_SIZE];
        struct sbox_head h;
        (void)snprintf(text, sizeof text, "GET %s HTTP/1.0\r\n\r\n", rows[i].target);
        if (parse(text, &h) != 1)
            fail_msg("refused: %s", text);
        assert_string_equal(sbox_host_format(&h.host, host), rows[i].host);
        assert_int_equal(h.port, rows[i].port);
        expect_text(h.path, rows[i].path);
        expect_text(h.method, "GET");
        assert_false(h.connect);
        assert_int_equal(h.size, strlen(text));
    }
}

static void test_targets_that_are_refused(void **state)
{
    (void)state;
    static const char *const targets[] = {
        "/",
        "*",
        "a.test",
        "a.test:80",
        "//a.test/",
        "http:a.test/",
        "http:/a.test/",
        "http:\\\\a.test/",
        "http:///",
        "http://",
        "http:///a.test",
        "http://?a.test",
        "http://:80/",
        "http://a.test:/",
        "http://a.test:0/",
        "http://a.test:080/",
        "http://a.test:+80/",
        "http://a.test:65536/",
        "http://a.test:99999999999/",
        "http://a.test:80:80/",
        "http://a.test:80a/",
        "http://a@a.test/",
        "http://a:b@a.test/",
        "http://@a.test/",
        "http://a.test@b.test/",
        "http://a.test%40b.test/",
        "http://a.test\\@b.test/",
        "http://a.test\\/",
        "http://a.test;b.test/",
        "http://a.test,b.test/",
        "http://%61.test/",
        "http://a.test%00/",
        "http://a.test%2f/",
        "http://a..test/",
        "http://.a.test/",
        "http://a.test../",
        "http://::1/",
        "http://::1:80/",
        "http://[::1/",
        "http://::1]/",
        "http://[::1]80/",
        "http://[::1]:/",
        "http://[a.test]/",
        "http://a.test/#f",
        "http://a.test#@b.test/",
        "http://a.test/\xc3\xbc",
        "http://a.test/\t",
        "http://a.test/\x7f",
        "http://a.test/\x01",
        "https:/a.test/",
        "ftp://a.test/",
        "ws://a.test/",
        "xhttp://a.test/",
        "http://http://a.test/",
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "GET %s HTTP/1.0\r\n\r\n", targets[i]);
        expect_refused(text);
    }
}

/* No proxy of TLS: told apart, since clients of the world ask for it. */
static void test_https_without_connect(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        "POST HTTPS://a.test:8443/x HTTP/1.0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sbox_head h;
        assert_int_equal(parse(texts[i], &h), -EPROTONOSUPPORT);
    }
}

static void test_connect(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        const char *host;
        uint16_t port;
    } rows[] = {
        {"a.test:443", "a.test", 443},       {"A.Test.:22", "a.test", 22},
        {"10.0.0.5:5432", "10.0.0.5", 5432}, {"[2001:db8::1]:443", "2001:db8::1", 443},
        {"a.test:65535", "a.test", 65535},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        char host[SBOX_HOST_SIZE];
        struct sbox_head h;
        (void)snprintf(text, sizeof text, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\nrest",
                       rows[i].target, rows[i].target);
        assert_int_equal(parse(text, &h), 1);
        assert_true(h.connect);
        assert_string_equal(sbox_host_format(&h.host, host), rows[i].host);
        assert_int_equal(h.port, rows[i].port);
        assert_int_equal(h.body, SBOX_BODY_NONE);
        assert_int_equal(h.size, strlen(text) - 4);
    }
}

static void test_connects_that_are_refused(void **state)
{
    (void)state;
    static const char *const targets[] = {
        "a.test",
        "a.test:",
        ":443",
        "a.test:0",
        "a.test:443/",
        "a.test:443?",
        "a:443:443",
        "::1:443",
        "http://a.test:443",
        "x@a.test:443",
        "a.test:0443",
        "a.test:-1",
        "a.test:65536",
        "[::1]",
        "/",
        "*",
        "a\\b:443",
        "a.test:443#",
        "a.test: 443",
        "",
        "a.test:4 43",
        "[::1]]:443",
        "a%2etest:443",
        "a.test%00.b:443",
        "a.test:443\\",
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "CONNECT %s HTTP/1.0\r\n\r\n", targets[i]);
        expect_refused(text);
    }
    expect_refused("CONNECT a.test:443 HTTP/1.0\r\nContent-Length: 1\r\n\r\n");
    expect_refused("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n");
    expect_refused("connect a.test:443 HTTP/1.0\r\n\r\n");
    expect_refused("Connect http://a.test/ HTTP/1.0\r\n\r\n");
    struct sbox_head h;
    assert_int_equal(parse("CONNECT a.test:443 HTTP/1.0\r\nContent-Length: 0\r\n\r\n", &h), 1);
}

static void test_request_lines_that_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "GET",
        "GET ",
        "GET http://a.test/",
        "GET http://a.test/ ",
        "GET  http://a.test/ HTTP/1.0",
        "GET http://a.test/  HTTP/1.0",
        "GET http://a.test/ HTTP/1.0 ",
        "GET http://a.test/ x HTTP/1.0",
        " GET http://a.test/ HTTP/1.0",
        "GET\thttp://a.test/ HTTP/1.0",
        "GET http://a.test/\tHTTP/1.0",
        "GET http://a.test/ HTTP/1.2",
        "GET http://a.test/ HTTP/2.0",
        "GET http://a.test/ HTTP/0.9",
        "GET http://a.test/ HTTP/1.",
        "GET http://a.test/ HTTP/1.00",
        "GET http://a.test/ HTTP/01.0",
        "GET http://a.test/ http/1.0",
        "GET http://a.test/ ICY/1.0",
        "G@T http://a.test/ HTTP/1.0",
        "G\xc3T http://a.test/ HTTP/1.0",
        "G:T http://a.test/ HTTP/1.0",
        "GET http://a.test/\r HTTP/1.0",
        "GET http://a.test/ HTTP/1.0\r",
        "OPTIONS http://a.test HTTP/1.0",
        "PRI * HTTP/2.0",
        "\x16\x03\x01",
        "\x05\x01",
        "\x80",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s\r\n\r\n", lines[i]);
        expect_refused(text);
    }
    expect_refused("\r\nGET http://a.test/ HTTP/1.0\r\n\r\n");
    expect_refused("\nGET http://a.test/ HTTP/1.0\r\n\r\n");
    expect_refused("GET http://a.test/ HTTP/1.0\n\n");
    expect_refused("GET http://a.test/ HTTP/1.0\r\n\n");
    expect_refused("GET http://a.test/ HTTP/1.0\n\r\n");
    expect_refused("\x16\x03\x01"); /* without an end of line */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absolute_form),
        cmocka_unit_test(test_targets_that_are_refused),
        cmocka_unit_test(test_https_without_connect),
        cmocka_unit_test(test_connect),
        cmocka_unit_test(test_connects_that_are_refused),
        cmocka_unit_test(test_request_lines_that_are_refused),
    };
    return cmocka_run_group_tests_name("head", tests, NULL, NULL);
}
