/* The header lines of a request and what requests are smuggled with: E2 of cases/egress. */
#include "unit/head_parse.h"

#define FIRST "GET http://a.test/ HTTP/1.1\r\n"

static void test_host_must_agree(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        const char *host;
        bool good;
    } rows[] = {
        {"GET http://a.test/", "a.test", true},
        {"GET http://a.test/", "a.test:80", true},
        {"GET http://a.test:80/", "a.test", true},
        {"GET http://a.test/", "A.TEST.", true},
        {"GET http://a.test/", "a.test:8080", false},
        {"GET http://a.test:8080/", "a.test", false},
        {"GET http://a.test/", "b.test", false},
        {"GET http://a.test/", "xa.test", false},
        {"GET http://a.test/", "", false},
        {"GET http://a.test/", "a.test:", false},
        {"GET http://a.test/", "a.test b.test", false},
        {"GET http://a.test/", "a.test,b.test", false},
        {"GET http://a.test/", "a.test/", false},
        {"GET http://a.test/", "x@a.test", false},
        {"GET http://a.test/", "http://a.test", false},
        {"GET http://a.test/", "a.test\\", false},
        {"GET http://[::1]/", "[::1]:80", true},
        {"GET http://[::1]/", "[0:0::1]", true},
        {"GET http://[::1]/", "::1", false},
        {"GET http://127.0.0.1/", "[::1]", false},
        {"GET http://127.0.0.1/", "localhost", false},
        {"CONNECT a.test:443", "a.test:443", true},
        {"CONNECT a.test:443", "a.test", true},
        {"CONNECT a.test:443", "a.test:80", false},
        {"CONNECT a.test:443", "b.test:443", false},
        {"CONNECT a.test:443", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        struct sbox_head h;
        (void)snprintf(text, sizeof text, "%s HTTP/1.1\r\nhOST:%s\r\n\r\n", rows[i].target,
                       rows[i].host);
        if (parse(text, &h) != (rows[i].good ? 1 : -EINVAL))
            fail_msg("%s", text);
    }
    expect_refused(FIRST END);
    expect_refused(FIRST HOST HOST END);
    expect_refused(FIRST HOST "X: y\r\nhost: b.test\r\n" END);
    expect_refused("GET http://a.test/ HTTP/1.0\r\nHost: b.test\r\n\r\n");
}

static void test_field_lines(void **state)
{
    (void)state;
    struct sbox_head h;
    assert_int_equal(
        parse(FIRST HOST "A:\r\nB: \t x \t \r\nc!#$%&'*+-.^_`|~9:\ty:\xff\x80 z\r\n" END "GET http",
              &h),
        1);
    assert_int_equal(h.field_count, 4);
    expect_text(h.fields[0].name, "Host");
    expect_text(h.fields[0].value, "a.test");
    expect_text(h.fields[1].name, "A");
    expect_text(h.fields[1].value, "");
    expect_text(h.fields[2].value, "x");
    expect_text(h.fields[3].name, "c!#$%&'*+-.^_`|~9");
    expect_text(h.fields[3].value, "y:\xff\x80 z");
}

static void test_field_lines_that_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "x\r\n",           ": y\r\n",     " x: y\r\n",         "\tx: y\r\n",
        "x : y\r\n",       "x\t: y\r\n",  "x y: z\r\n",        "x: y\r\n z\r\n",
        "x: y\r\n\tz\r\n", "x: y\rz\r\n", "x: y\r\r\n",        "x: y\nz: 1\r\n",
        "x: \x01\r\n",     "x: \x7f\r\n", "x: \x1b[m\r\n",     "\xc3\xbc: y\r\n",
        "x(y): z\r\n",     "x/y: z\r\n",  "x@y: z\r\n",        "\"x\": z\r\n",
        "x\\: y\r\n",      "x: y\n\r\n",  "Host : a.test\r\n", "x: y\r\n \r\n",
        "x\r: y\r\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s%s%s%s", FIRST, HOST, lines[i], END);
        expect_refused(text);
        (void)snprintf(text, sizeof text, "%s%s%s%s", FIRST, lines[i], HOST, END);
        expect_refused(text);
    }
}

static void test_a_nul_is_refused_everywhere(void **state)
{
    (void)state;
    static const char good[] = FIRST HOST "X: y\r\n" END;
    for (size_t i = 0; i < sizeof good - 1; i++) {
        char text[] = FIRST HOST "X: y\r\n" END "\r\n\r\n"; /* there is an end whatever goes */
        const char *why = NULL;
        struct sbox_head h;
        text[i] = '\0';
        assert_int_equal(parse_cut(text, sizeof text - 1, &h, &why), -EINVAL);
    }
}

static void test_body(void **state)
{
    (void)state;
    static const struct {
        const char *fields;
        int body; /* -1: refused */
        uint64_t length;
    } rows[] = {
        {"", SBOX_BODY_NONE, 0},
        {"Content-Length: 0\r\n", SBOX_BODY_NONE, 0},
        {"content-length:5\r\n", SBOX_BODY_LENGTH, 5},
        {"Content-Length: \t5 \r\n", SBOX_BODY_LENGTH, 5},
        {"Content-Length: 999999999999999999\r\n", SBOX_BODY_LENGTH, 999999999999999999},
        {"Transfer-Encoding: chunked\r\n", SBOX_BODY_CHUNKED, 0},
        {"TRANSFER-ENCODING:CHUNKED\r\n", SBOX_BODY_CHUNKED, 0},
        {"Content-Length: 5\r\nContent-Length: 5\r\n", -1, 0},
        {"Content-Length: 5\r\ncontent-length: 6\r\n", -1, 0},
        {"Content-Length: 0\r\nContent-Length: 0\r\n", -1, 0},
        {"Content-Length: 5, 5\r\n", -1, 0},
        {"Content-Length: 05\r\n", -1, 0},
        {"Content-Length: 00\r\n", -1, 0},
        {"Content-Length: +5\r\n", -1, 0},
        {"Content-Length: -5\r\n", -1, 0},
        {"Content-Length: -0\r\n", -1, 0},
        {"Content-Length: 0x5\r\n", -1, 0},
        {"Content-Length: 5.\r\n", -1, 0},
        {"Content-Length: 5 6\r\n", -1, 0},
        {"Content-Length: five\r\n", -1, 0},
        {"Content-Length: 1e3\r\n", -1, 0},
        {"Content-Length: \xb2\r\n", -1, 0},
        {"Content-Length:\r\n", -1, 0},
        {"Content-Length: 9999999999999999999\r\n", -1, 0},
        {"Content-Length: 18446744073709551621\r\n", -1, 0},
        {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", -1, 0},
        {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", -1, 0},
        {"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", -1, 0},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", -1, 0},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", -1, 0},
        {"Transfer-Encoding: gzip, chunked\r\n", -1, 0},
        {"Transfer-Encoding: chunked, chunked\r\n", -1, 0},
        {"Transfer-Encoding: chunked, identity\r\n", -1, 0},
        {"Transfer-Encoding: identity\r\n", -1, 0},
        {"Transfer-Encoding: xchunked\r\n", -1, 0},
        {"Transfer-Encoding: chunked;q=1\r\n", -1, 0},
        {"Transfer-Encoding: \"chunked\"\r\n", -1, 0},
        {"Transfer-Encoding: ,chunked\r\n", -1, 0},
        {"Transfer-Encoding: chunke\r\n", -1, 0},
        {"Transfer-Encoding:\r\n", -1, 0},
        {"Transfer-Encoding: \x0b"
         "chunked\r\n",
         -1, 0},
        {"Transfer-Encoding: \xa0"
         "chunked\r\n",
         -1, 0},
        {"Transfer-Encoding : chunked\r\n", -1, 0},
        {"X: y\r\n Transfer-Encoding: chunked\r\n", -1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        struct sbox_head h;
        (void)snprintf(text, sizeof text, "POST http://a.test/ HTTP/1.1\r\n%s%s\r\n", HOST,
                       rows[i].fields);
        int r = parse(text, &h);
        if (r != (rows[i].body < 0 ? -EINVAL : 1))
            fail_msg("%s", text);
        if (r == 1) {
            assert_int_equal(h.body, rows[i].body);
            assert_int_equal(h.length, rows[i].length);
        }
    }
    expect_refused("POST http://a.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n");
}

static void test_connection(void **state)
{
    (void)state;
    static const struct {
        const char *fields;
        bool good;
        bool keep_alive;
        bool upgrade;
    } rows[] = {
        {"", true, true, false},
        {"Connection: close\r\n", true, false, false},
        {"Connection: Close\r\n", true, false, false},
        {"Connection: x,close\r\n", true, false, false},
        {"Connection: x\r\nconnection: \tclose\t\r\n", true, false, false},
        {"Connection: keep-alive, close\r\n", true, false, false},
        {"Connection: , ,\tclose ,\r\n", true, false, false},
        {"Connection: closed\r\n", true, true, false},
        {"Connection:\r\n", true, true, false},
        {"Connection: keep-alive\r\n", true, true, false},
        {"Connection: Upgrade\r\nUpgrade: websocket\r\n", true, true, true},
        {"Upgrade: websocket\r\nConnection: keep-alive, upgrade\r\n", true, true, true},
        {"Upgrade: websocket\r\n", true, true, false},
        {"Connection: upgrade\r\n", true, true, false},
        {"Connection: upgrade\r\nUpgrade: x\r\nContent-Length: 1\r\n", true, true, false},
        {"Connection: content-length\r\nContent-Length: 5\r\n", false, false, false},
        {"Connection: close, Transfer-Encoding\r\n", false, false, false},
        {"Connection: HOST\r\n", false, false, false},
        {"Connection: a b\r\n", false, false, false},
        {"Connection: a;b\r\n", false, false, false},
        {"Connection: \"close\"\r\n", false, false, false},
        {"Connection: clos\xe9\r\n", false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        struct sbox_head h;
        (void)snprintf(text, sizeof text, "%s%s%s\r\n", FIRST, HOST, rows[i].fields);
        int r = parse(text, &h);
        if (r != (rows[i].good ? 1 : -EINVAL))
            fail_msg("%s", text);
        if (r == 1) {
            assert_int_equal(h.keep_alive, rows[i].keep_alive);
            assert_int_equal(h.upgrade, rows[i].upgrade);
        }
    }
    struct sbox_head h;
    assert_int_equal(parse("GET http://a.test/ HTTP/1.0\r\nConnection: keep-alive, upgrade\r\n"
                           "Upgrade: x\r\n\r\n",
                           &h),
                     1);
    assert_true(h.http_1_0);
    assert_false(h.keep_alive);
    assert_false(h.upgrade);
}

static void test_hop_by_hop(void **state)
{
    (void)state;
    static const char text[] = FIRST HOST "Connection: X-One , X\r\n"
                                          "Keep-Alive: timeout=5\r\n"
                                          "TE: trailers\r\n"
                                          "Upgrade: x\r\n"
                                          "Proxy-Authorization: Basic x\r\n"
                                          "proxy-connection: keep-alive\r\n"
                                          "x-one: 1\r\n"
                                          "x-two: 2\r\n"
                                          "CONNECTION: ,x-two\r\n"
                                          "x-on: 3\r\n"
                                          "x-one-: 3\r\n"
                                          "Proxy: 4\r\n"
                                          "Transfer-Encoding: chunked\r\n"
                                          "Trailer: x\r\n"
                                          "Cookie: a=b\r\n" END;
    static const bool hop[] = {false, true, true,  true,  true,  true,  true,  true,
                               true,  true, false, false, false, false, false, false};
    struct sbox_head h;
    assert_int_equal(parse(text, &h), 1);
    assert_int_equal(h.field_count, sizeof hop);
    for (size_t i = 0; i < h.field_count; i++)
        if (sbox_head_is_hop(&h, &h.fields[i]) != hop[i])
            fail_msg("field %zu", i);
}

/* The sizes on both sides of each limit; only the last bytes are cut off one by one. */
static int parse_end(const struct sbox_buf *b)
{
    struct sbox_head h;
    const char *why = NULL;
    assert_false(sbox_buf_failed(b));
    int whole = sbox_head_parse(b->data, b->size, &h, &why);
    for (size_t i = b->size - (b->size < 9 ? b->size : 9); i < b->size; i++) {
        int r = parse_copy(b->data, i, &h, &why);
        assert_true(r == 0 || r == whole);
    }
    return whole;
}

static void fill(struct sbox_buf *b, size_t size)
{
    while (b->size < size)
        sbox_buf_add_byte(b, 'x');
}

static int parse_line_of(size_t size)
{
    _cleanup_buf_ struct sbox_buf b = {0};
    sbox_buf_add_str(&b, "GET http://a.test/");
    fill(&b, size - strlen(" HTTP/1.0\r"));
    sbox_buf_add_str(&b, " HTTP/1.0\r\n\r\n");
    return parse_end(&b);
}

static int parse_head_of(size_t size)
{
    _cleanup_buf_ struct sbox_buf b = {0};
    sbox_buf_add_str(&b, FIRST HOST "X: ");
    fill(&b, size - 4);
    sbox_buf_add_str(&b, "\r\n\r\n");
    return parse_end(&b);
}

static int parse_name_of(size_t size)
{
    _cleanup_buf_ struct sbox_buf b = {0};
    sbox_buf_add_str(&b, FIRST HOST);
    fill(&b, b.size + size);
    sbox_buf_add_str(&b, ": y\r\n\r\n");
    return parse_end(&b);
}

static int parse_lines_of(size_t count, const char *end)
{
    _cleanup_buf_ struct sbox_buf b = {0};
    sbox_buf_add_str(&b, FIRST HOST);
    for (size_t i = 1; i < count; i++)
        sbox_buf_add_str(&b, "x:\r\n");
    sbox_buf_add_str(&b, end);
    return parse_end(&b);
}

static void test_limits(void **state)
{
    (void)state;
    assert_int_equal(parse_line_of(SBOX_HEAD_LINE_MAX), 1);
    assert_int_equal(parse_line_of(SBOX_HEAD_LINE_MAX + 1), -E2BIG);
    assert_int_equal(parse_head_of(SBOX_HEAD_MAX), 1);
    assert_int_equal(parse_head_of(SBOX_HEAD_MAX + 1), -E2BIG);
    assert_int_equal(parse_head_of(SBOX_HEAD_MAX + 9), -E2BIG);
    assert_int_equal(parse_name_of(256), 1);
    assert_int_equal(parse_name_of(257), -E2BIG);
    assert_int_equal(parse_lines_of(200, END), 1);
    assert_int_equal(parse_lines_of(201, END), -E2BIG);
    assert_int_equal(parse_lines_of(201, ""), -E2BIG); /* told at once */
    _cleanup_buf_ struct sbox_buf b = {0};
    fill(&b, SBOX_HEAD_LINE_MAX);
    assert_int_equal(parse_end(&b), 0);
    sbox_buf_add_byte(&b, 'x');
    assert_int_equal(parse_end(&b), -E2BIG);
}

/* E3: a host of 300 bytes, in the target and in Host. */
static void test_long_hosts(void **state)
{
    (void)state;
    for (size_t size = 253; size <= 300; size += 47) {
        char host[301] = "";
        char text[1024];
        struct sbox_head h;
        for (size_t i = 0; i < size; i++)
            host[i] = i % 50 == 49 ? '.' : 'a';
        (void)snprintf(text, sizeof text, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\n\r\n", host,
                       host);
        assert_int_equal(parse(text, &h), size == 253 ? 1 : -EINVAL);
    }
}

static void test_nothing_is_written_before_the_end(void **state)
{
    (void)state;
    struct sbox_head h;
    struct sbox_head untouched;
    const char *why = NULL;
    memset(&h, 0x5a, sizeof h);
    memset(&untouched, 0x5a, sizeof untouched);
    assert_int_equal(sbox_head_parse(FIRST HOST, strlen(FIRST HOST), &h, &why), 0);
    assert_int_equal(sbox_head_parse(FIRST HOST "x\r\n\r\n", strlen(FIRST HOST) + 5, &h, &why),
                     -EINVAL);
    assert_memory_equal(&h, &untouched, sizeof h);
    assert_int_equal(sbox_head_parse("", 0, &h, &why), 0);
}

/* Two requests in one buffer: the second is found where the first ends. */
static void test_pipelined(void **state)
{
    (void)state;
    static const char text[] = FIRST HOST END "POST http://b.test/2 HTTP/1.0\r\n\r\n";
    struct sbox_head h;
    const char *why = NULL;
    assert_int_equal(sbox_head_parse(text, sizeof text - 1, &h, &why), 1);
    size_t first = h.size;
    assert_int_equal(first, strlen(FIRST HOST END));
    assert_int_equal(sbox_head_parse(text + first, sizeof text - 1 - first, &h, &why), 1);
    assert_string_equal(h.host.name, "b.test");
    assert_int_equal(first + h.size, sizeof text - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_must_agree),
        cmocka_unit_test(test_field_lines),
        cmocka_unit_test(test_field_lines_that_are_refused),
        cmocka_unit_test(test_a_nul_is_refused_everywhere),
        cmocka_unit_test(test_body),
        cmocka_unit_test(test_connection),
        cmocka_unit_test(test_hop_by_hop),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_long_hosts),
        cmocka_unit_test(test_nothing_is_written_before_the_end),
        cmocka_unit_test(test_pipelined),
    };
    return cmocka_run_group_tests_name("head_fields", tests, NULL, NULL);
}
