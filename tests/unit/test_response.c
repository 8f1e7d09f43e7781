/* Response heads, and the chunked bodies of both directions. */
#include "proxy/head.h"

#include "base/buf.h"
#include "base/error.h"
#include "unit/cmocka_all.h"

static int parse_for(const char *text, bool to_head, struct sbox_response *ret)
{
    const char *why = NULL;
    size_t size = strlen(text);
    int whole = sbox_response_parse(text, size, to_head, ret, &why);
    for (size_t i = 0; i < size; i++) {
        struct sbox_response p;
        const char *cut_why = NULL;
        int r = sbox_response_parse(text, i, to_head, &p, &cut_why);
        if (r == 0)
            continue;
        assert_int_equal(r, whole);
        if (r == 1)
            assert_int_equal(p.size, ret->size);
        else
            assert_ptr_equal(cut_why, why);
    }
    if (whole < 0)
        assert_non_null(why);
    return whole;
}

static int parse(const char *text, struct sbox_response *ret)
{
    return parse_for(text, false, ret);
}

static void expect_refused(const char *text)
{
    struct sbox_response p;
    if (parse(text, &p) != -EINVAL)
        fail_msg("not refused: %s", text);
}

static void test_status_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int status;
        const char *reason;
    } rows[] = {
        {"HTTP/1.1 200 OK", 200, "OK"},
        {"HTTP/1.0 404 Not  Found ", 404, "Not  Found "},
        {"HTTP/1.1 200 ", 200, ""},
        {"HTTP/1.1 200", 200, ""},
        {"HTTP/1.1 999 \xc3\xbc\t", 999, "\xc3\xbc\t"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[128];
        struct sbox_response p;
        (void)snprintf(text, sizeof text, "%s\r\nX: y\r\n\r\nbody", rows[i].line);
        if (parse(text, &p) != 1)
            fail_msg("refused: %s", text);
        assert_int_equal(p.status, rows[i].status);
        assert_int_equal(p.reason.size, strlen(rows[i].reason));
        assert_memory_equal(p.reason.at, rows[i].reason, p.reason.size);
        assert_int_equal(p.size, strlen(text) - 4);
        assert_int_equal(p.field_count, 1);
    }
}

static void test_status_lines_that_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "HTTP/1.1",          "HTTP/1.1 ",         "HTTP/1.1 20",      "HTTP/1.1 2000",
        "HTTP/1.1 2x0 OK",   "HTTP/1.1 -20 OK",   "HTTP/1.1 099 OK",  "HTTP/1.1  200 OK",
        "HTTP/1.1\t200 OK",  "HTTP/1.1 200\tOK",  "HTTP/2.0 200 OK",  "HTTP/2 200 OK",
        "http/1.1 200 OK",   "ICY 200 OK",        " HTTP/1.1 200 OK", "HTTP/1.1 200 O\x01K",
        "HTTP/1.1 200 O\rK", "HTTP/1.1 200 OK\r", "SSH-2.0-OpenSSH",  "HTTP/1.1 200OK",
        "HTTP/1.1 20 0 OK",  "HTTP/1.1 200 \x7f", "<html>",           "\x15\x03\x01",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "%s\r\n\r\n", lines[i]);
        expect_refused(text);
    }
    expect_refused("HTTP/1.1 200 OK\n\n");
    expect_refused("\r\nHTTP/1.1 200 OK\r\n\r\n");
    expect_refused("HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n");
}

#define OK  "HTTP/1.1 200 OK\r\n"
#define OLD "HTTP/1.0 200 OK\r\n"

static void test_framing(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool to_head;
        bool until_close;
        bool keep_alive;
        enum sbox_body body;
        uint64_t length;
    } rows[] = {
        {OK "Content-Length: 5\r\n", false, false, true, SBOX_BODY_LENGTH, 5},
        {OK "Content-Length: 0\r\n", false, false, true, SBOX_BODY_NONE, 0},
        {OK "Transfer-Encoding: chunked\r\n", false, false, true, SBOX_BODY_CHUNKED, 0},
        {OK, false, true, false, SBOX_BODY_NONE, 0},
        {OK "Connection: keep-alive\r\n", false, true, false, SBOX_BODY_NONE, 0},
        {OK "Content-Length: 5\r\nConnection: close\r\n", false, false, false, SBOX_BODY_LENGTH, 5},
        {OLD "Content-Length: 5\r\n", false, false, false, SBOX_BODY_LENGTH, 5},
        {OLD "Content-Length: 5\r\nConnection: Keep-Alive\r\n", false, false, true,
         SBOX_BODY_LENGTH, 5},
        {OLD "Content-Length: 5\r\nConnection: close, keep-alive\r\n", false, false, false,
         SBOX_BODY_LENGTH, 5},
        {OLD, false, true, false, SBOX_BODY_NONE, 0},
        {OK "Content-Length: 5\r\n", true, false, true, SBOX_BODY_NONE, 0},
        {OK "Transfer-Encoding: chunked\r\n", true, false, true, SBOX_BODY_NONE, 0},
        {OK, true, false, true, SBOX_BODY_NONE, 0},
        {"HTTP/1.1 304 x\r\nContent-Length: 5\r\n", false, false, true, SBOX_BODY_NONE, 0},
        {"HTTP/1.1 204 x\r\n", false, false, true, SBOX_BODY_NONE, 0},
        {"HTTP/1.1 204 x\r\nContent-Length: 0\r\n", false, false, true, SBOX_BODY_NONE, 0},
        {"HTTP/1.1 100 Continue\r\n", false, false, true, SBOX_BODY_NONE, 0},
        {"HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n", false, false, true,
         SBOX_BODY_NONE, 0},
        {"HTTP/1.1 205 x\r\n", false, true, false, SBOX_BODY_NONE, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[128];
        struct sbox_response p;
        (void)snprintf(text, sizeof text, "%s\r\n", rows[i].text);
        if (parse_for(text, rows[i].to_head, &p) != 1)
            fail_msg("refused: %s", text);
        if (p.until_close != rows[i].until_close || p.keep_alive != rows[i].keep_alive ||
            p.body != rows[i].body || p.length != rows[i].length)
            fail_msg("row %zu: %s", i, text);
    }
}

static void test_framing_that_is_refused(void **state)
{
    (void)state;
    expect_refused(OK "Content-Length: 5\r\nContent-Length: 5\r\n\r\n");
    expect_refused(OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
    expect_refused(OK "Transfer-Encoding: gzip\r\n\r\n");
    expect_refused(OLD "Transfer-Encoding: chunked\r\n\r\n");
    expect_refused(OK "Content-Length: 5,5\r\n\r\n");
    expect_refused("HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n");
    expect_refused("HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n");
    expect_refused("HTTP/1.1 101 x\r\nContent-Length: 5\r\n\r\n");
    expect_refused(OK "Connection: content-length\r\nContent-Length: 5\r\n\r\n");
}

static void test_hop_by_hop(void **state)
{
    (void)state;
    struct sbox_response p;
    assert_int_equal(parse(OK "Connection: x-a\r\nX-A: 1\r\nX-B: 2\r\nProxy-Authenticate: x\r\n"
                              "Content-Length: 0\r\n\r\n",
                           &p),
                     1);
    static const bool hop[] = {true, true, false, true, false};
    for (size_t i = 0; i < p.field_count; i++)
        assert_int_equal(sbox_response_is_hop(&p, &p.fields[i]), hop[i]);
}

/* Fed whole and byte by byte; the bytes that belong to the body, or an error. */
static int64_t feed(const char *data, size_t size, bool *ret_done)
{
    struct sbox_chunked whole = {0};
    struct sbox_chunked cut = {0};
    int64_t used = sbox_chunked_feed(&whole, data, size, ret_done);
    int64_t sum = 0;
    bool done = false;
    for (size_t i = 0; i < size && sum >= 0; i++) {
        int64_t r = sbox_chunked_feed(&cut, data + i, 1, &done);
        sum = r < 0 ? r : sum + r;
    }
    assert_int_equal(sum, used);
    if (used >= 0)
        assert_int_equal(done, *ret_done);
    else
        assert_int_equal(sbox_chunked_feed(&cut, "", 0, &done), -EINVAL);
    return used;
}

static void test_chunked(void **state)
{
    (void)state;
    static const char *const good[] = {
        "0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\n",
        "5\r\n\r\n\r\n\n\r\n0\r\n\r\n",
        "1\r\na\r\n1\r\nb\r\n000\r\n\r\n",
        "0000a\r\n0123456789\r\n0\r\n\r\n",
        "A\r\n0123456789\r\n0\r\n\r\n",
        "5;x=y; z=\"a b\"\r\nhello\r\n0;last\r\n\r\n",
        "0\r\nX: y\r\nZ:\r\n\r\n",
        "0\r\nX: \xff\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[256];
        bool done = false;
        (void)snprintf(text, sizeof text, "%sGET http://", good[i]);
        if (feed(text, strlen(text), &done) != (int64_t)strlen(good[i]) || !done)
            fail_msg("%s", good[i]);
        for (size_t cut = 0; cut < strlen(good[i]); cut++) {
            assert_int_equal(feed(good[i], cut, &done), cut);
            assert_false(done);
        }
    }
}

static void test_chunked_that_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\r\n",
        ";x\r\n",
        "g\r\n",
        "0x5\r\nhello\r\n",
        "-5\r\n",
        "+5\r\n",
        " 5\r\n",
        "5 \r\nhello\r\n",
        "5 ;x\r\nhello\r\n",
        "5\nhello\r\n",
        "5\r\r\nhello",
        "5\rhello",
        "5\r\nhello\n0\r\n\r\n",
        "5\r\nhellox\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhello\r0",
        "5;\nhello\r\n",
        "5;x\n0\r\n\r\n",
        "5;x\n\nhello\r\n0\r\n\r\n",
        "0\r\nX: y\n\n\r\n",
        "5\r\nhellox\n0\r\n\r\n",
        "5;x\rhello",
        "5;\x01\r\n",
        "5;\x7f\r\n",
        "0\n\r\n",
        "0\r\n\n",
        "0\r\n\rx",
        "0\r\nX\r\n\r\n",
        "0\r\n: y\r\n\r\n",
        "0\r\nX : y\r\n\r\n",
        "0\r\n X: y\r\n\r\n",
        "0\r\nX: y\r\n z\r\n\r\n",
        "0\r\nX: y\n\r\n",
        "0\r\nX: y\rz\r\n",
        "0\r\nX: \x01\r\n\r\n",
        "0\r\nGET http://b.test/ HTTP/1.1\r\nHost",
        "4000000000000000\r\n",
        "ffffffffffffffff\r\n",
        "10000000000000005\r\nhello\r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool done = false;
        if (feed(bad[i], strlen(bad[i]), &done) != -EINVAL)
            fail_msg("not refused: %s", bad[i]);
    }
    bool done = false;
    assert_int_equal(feed("5;\0\r\n", 5, &done), -EINVAL);
    assert_int_equal(feed("0\r\nX\0:y\r\n", 9, &done), -EINVAL);
}

static int64_t feed_filled(const char *before, size_t fill, const char *after)
{
    _cleanup_buf_ struct sbox_buf b = {0};
    bool done = false;
    sbox_buf_add_str(&b, before);
    for (size_t i = 0; i < fill; i++)
        sbox_buf_add_byte(&b, '0');
    sbox_buf_add_str(&b, after);
    int64_t r = feed(b.data, b.size, &done);
    return r == (int64_t)b.size && done ? 1 : r;
}

static void test_chunked_limits(void **state)
{
    (void)state;
    const char *end = "1\r\na\r\n0\r\n\r\n";
    assert_int_equal(feed_filled("", 1024 - 2, end), 1);
    assert_int_equal(feed_filled("", 1024 - 1, end), -EINVAL);
    assert_int_equal(feed_filled("0;", 1024 - 3, "\r\n\r\n"), 1);
    assert_int_equal(feed_filled("0;", 1024 - 2, "\r\n\r\n"), -EINVAL);
    assert_int_equal(feed_filled("1\r\na\r\n0\r\nA: b\r\nX: ", 16384 - 13, "\r\n\r\n"), 1);
    assert_int_equal(feed_filled("1\r\na\r\n0\r\nA: b\r\nX: ", 16384 - 12, "\r\n\r\n"), -EINVAL);
}

/* The largest chunk is counted, never stored. */
static void test_chunked_is_counted(void **state)
{
    (void)state;
    struct sbox_chunked c = {0};
    bool done = true;
    const char *line = "3fffffffffffffff\r\n";
    assert_int_equal(sbox_chunked_feed(&c, line, strlen(line), &done), strlen(line));
    assert_int_equal(c.left, 0x3fffffffffffffffULL);
    assert_int_equal(sbox_chunked_feed(&c, "\r\n0\r\n\r\n", 7, &done), 7);
    assert_int_equal(c.left, 0x3fffffffffffffffULL - 7);
    assert_false(done);
    c.left = 1;
    assert_int_equal(sbox_chunked_feed(&c, "x\r\n0\r\n\r\nyz", 10, &done), 8);
    assert_true(done);
    assert_int_equal(sbox_chunked_feed(&c, "yz", 2, &done), 0);
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_lines),
        cmocka_unit_test(test_status_lines_that_are_refused),
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_framing_that_is_refused),
        cmocka_unit_test(test_hop_by_hop),
        cmocka_unit_test(test_chunked),
        cmocka_unit_test(test_chunked_that_is_refused),
        cmocka_unit_test(test_chunked_limits),
        cmocka_unit_test(test_chunked_is_counted),
    };
    return cmocka_run_group_tests_name("response", tests, NULL, NULL);
}
