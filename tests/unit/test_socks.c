/* SOCKS 5 as curl, ssh's and git's helpers send it; every message also byte by byte. */
#include "proxy/socks.h"

#include "base/error.h"
#include "unit/cmocka_all.h"

struct row {
    const char *bytes;
    size_t size;
    int result;
    const char *host;
    uint16_t port;
};
#define BYTES(s) (s), sizeof(s) - 1

static void test_greeting(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {.bytes = BYTES("\5\1\0"), .result = 3},
        {.bytes = BYTES("\5\2\2\0"), .result = 4},
        {.bytes = BYTES("\5\2\0\2\5\1\0"), .result = 4},
        {.bytes = BYTES("\5\1\2"), .result = -EACCES},
        {.bytes = BYTES("\5\2\1\2\0"), .result = -EACCES},
        {.bytes = BYTES("\5\0\0"), .result = -EACCES},
        {.bytes = BYTES("\4\1\0"), .result = -EINVAL},
        {.bytes = BYTES("\0"), .result = -EINVAL},
        {.bytes = BYTES("GET"), .result = -EINVAL},
        {.bytes = BYTES("\5"), .result = 0},
        {.bytes = BYTES("\5\3\0\1"), .result = 0},
        {.bytes = BYTES(""), .result = 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint8_t *data = (const uint8_t *)rows[i].bytes;
        assert_int_equal(sbox_socks_greeting(data, rows[i].size), rows[i].result);
        for (size_t cut = 0; cut < rows[i].size; cut++) {
            int r = sbox_socks_greeting(data, cut);
            assert_true(r == 0 || r == rows[i].result);
        }
    }
}

static void check_request(const struct row *row)
{
    const uint8_t *data = (const uint8_t *)row->bytes;
    struct sbox_host host = {0};
    uint16_t port = 7;
    char text[SBOX_HOST_SIZE];
    int whole = sbox_socks_request(data, row->size, &host, &port);
    assert_int_equal(whole, row->result);
    if (whole > 0) {
        assert_string_equal(sbox_host_format(&host, text), row->host);
        assert_int_equal(port, row->port);
    } else {
        assert_int_equal(port, 7);
        assert_int_equal(host.address.family, 0);
        assert_string_equal(host.name, "");
    }
    for (size_t cut = 0; cut < row->size; cut++) {
        int r = sbox_socks_request(data, cut, &host, &port);
        assert_true(r == 0 || r == whole);
        if (whole > 0 && cut < (size_t)whole)
            assert_int_equal(r, 0);
    }
}

static void test_request(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {BYTES("\5\1\0\1\12\0\0\5\25\70"), 10, "10.0.0.5", 5432},
        {BYTES("\5\1\0\3\6a.test\1\273"), 13, "a.test", 443},
        {BYTES("\5\1\0\3\7A.Test.\0\26rest"), 14, "a.test", 22},
        {BYTES("\5\1\0\3\0110.0.0.127\0\1"), 16, "0.0.0.127", 1},
        {BYTES("\5\1\0\3\3::1\0\1"), 10, "::1", 1},
        {BYTES("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\377\377"), 22, "::1", 65535},
        {BYTES("\5\1\0\4\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1\0\120"), 22, "2001:db8::1", 80},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_request(&rows[i]);
}

static void test_requests_that_are_refused(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {BYTES("\5\2\0\1\12\0\0\5\0\120"), -(1000 + SBOX_SOCKS_COMMAND), "", 0},
        {BYTES("\5\3\0\1\12\0\0\5\0\120"), -(1000 + SBOX_SOCKS_COMMAND), "", 0},
        {BYTES("\5\0\0\1\12\0\0\5\0\120"), -(1000 + SBOX_SOCKS_COMMAND), "", 0},
        {BYTES("\5\1\0\2\12\0\0\5\0\120"), -(1000 + SBOX_SOCKS_ADDRESS_TYPE), "", 0},
        {BYTES("\5\1\0\0\12\0\0\5\0\120"), -(1000 + SBOX_SOCKS_ADDRESS_TYPE), "", 0},
        {BYTES("\5\1\0\1\12\0\0\5\0\0"), -(1000 + SBOX_SOCKS_FAILURE), "", 0},
        {BYTES("\5\1\0\3\0\0\120"), -(1000 + SBOX_SOCKS_FAILURE), "", 0},
        {BYTES("\5\1\0\3\6a\0test\0\120"), -(1000 + SBOX_SOCKS_FAILURE), "", 0},
        {BYTES("\5\1\0\3\6a@test\0\120"), -(1000 + SBOX_SOCKS_FAILURE), "", 0},
        {BYTES("\5\1\0\3\6a..est\0\120"), -(1000 + SBOX_SOCKS_FAILURE), "", 0},
        {BYTES("\5\1\0\3\6a:80.x\0\120"), -(1000 + SBOX_SOCKS_FAILURE), "", 0},
        {BYTES("\5\1\0\3\6a.test\0\0"), -(1000 + SBOX_SOCKS_FAILURE), "", 0},
        {BYTES("\5\1\1\1\12\0\0\5\0\120"), -EINVAL, "", 0},
        {BYTES("\4\1\0\1\12\0\0\5\0\120"), -EINVAL, "", 0},
        {BYTES("\5\1\0\1\12\0\0\5\0"), 0, "", 0},
        {BYTES("\5\1\0\3\6a.test\0"), 0, "", 0},
        {BYTES("\5\1\0\3\377a.test\0\120"), 0, "", 0},
        {BYTES("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0"), 0, "", 0},
        {BYTES("\5\1\0"), 0, "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_request(&rows[i]);
}

static void test_a_name_of_255_bytes(void **state)
{
    (void)state;
    uint8_t data[4 + 1 + 255 + 2] = {5, 1, 0, 3, 255};
    struct sbox_host host;
    uint16_t port = 0;
    for (size_t i = 0; i < 255; i++)
        data[5 + i] = i % 50 == 49 ? '.' : 'a';
    data[sizeof data - 1] = 80;
    assert_int_equal(sbox_socks_request(data, sizeof data, &host, &port),
                     -(1000 + SBOX_SOCKS_FAILURE));
    data[4] = 253;
    data[5 + 253] = 0;
    assert_int_equal(sbox_socks_request(data, 5 + 253 + 2, &host, &port), 5 + 253 + 2);
    assert_int_equal(strlen(host.name), 253);
}

static void test_reply(void **state)
{
    (void)state;
    uint8_t reply[10];
    assert_int_equal(sbox_socks_reply(SBOX_SOCKS_REFUSED, reply), 10);
    assert_memory_equal(reply, "\5\5\0\1\0\0\0\0\0\0", 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greeting),
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_requests_that_are_refused),
        cmocka_unit_test(test_a_name_of_255_bytes),
        cmocka_unit_test(test_reply),
    };
    return cmocka_run_group_tests_name("socks", tests, NULL, NULL);
}
