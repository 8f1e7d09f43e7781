#include "base/error.h"
#include "net/layout.h"
#include "proxy/names.h"
#include "unit/cmocka_all.h"

static struct sbox_address address(struct sbox_names *n, const char *name, uint8_t family)
{
    struct sbox_address a;
    sbox_names_address(n, name, family, &a);
    return a;
}

static void test_same_name_same_address(void **state)
{
    (void)state;
    char text[SBOX_ADDRESS_TEXT];
    struct sbox_names *n = sbox_names_new();
    struct sbox_address a = address(n, "a.test", 4);
    struct sbox_address b = address(n, "b.test", 4);
    struct sbox_address six = address(n, "a.test", 6);
    struct sbox_address again = address(n, "a.test", 4);
    assert_string_equal(sbox_address_format(&a, text), "198.18.1.0");
    assert_string_equal(sbox_address_format(&b, text), "198.18.1.1");
    assert_string_equal(sbox_address_format(&six, text), "2001:2:0:1::100");
    assert_true(sbox_address_equal(&a, &again));
    assert_string_equal(sbox_names_find(n, &a), "a.test");
    assert_string_equal(sbox_names_find(n, &six), "a.test");
    assert_string_equal(sbox_names_find(n, &b), "b.test");
    sbox_names_free(n);
}

static void test_nobody_there(void **state)
{
    (void)state;
    static const char *const rows[] = {"198.18.0.1",      "198.18.0.2",    "198.18.1.1",
                                       "198.19.1.0",      "8.8.8.8",       "2001:2::1",
                                       "2001:2:0:2::100", "2001:2:0:1::1", "::ffff:198.18.1.0"};
    struct sbox_names *n = sbox_names_new();
    (void)address(n, "a.test", 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_address a;
        assert_int_equal(sbox_address_parse(rows[i], &a), 0);
        assert_null(sbox_names_find(n, &a));
    }
    sbox_names_free(n);
}

/* All places taken: who was used least recently goes, and nobody else's address changes. */
static void test_least_recent_goes(void **state)
{
    (void)state;
    struct sbox_names *n = sbox_names_new();
    struct sbox_address first = address(n, "first.test", 4);
    struct sbox_address second = address(n, "second.test", 4);
    for (int i = 2; i < SBOX_NET_NAMES_MAX; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "n%d.test", i);
        (void)address(n, name, 4);
    }
    (void)address(n, "first.test", 4); /* used again */
    struct sbox_address late = address(n, "late.test", 4);
    assert_true(sbox_address_equal(&late, &second));
    assert_string_equal(sbox_names_find(n, &first), "first.test");
    assert_string_equal(sbox_names_find(n, &second), "late.test");
    struct sbox_address moved = address(n, "second.test", 4);
    assert_false(sbox_address_equal(&moved, &second));
    for (int round = 0; round < 3 * SBOX_NET_NAMES_MAX; round++) {
        char name[32];
        (void)snprintf(name, sizeof name, "r%d.test", round * 7919 % 9000);
        struct sbox_address a = address(n, name, 4);
        assert_string_equal(sbox_names_find(n, &a), name);
    }
    sbox_names_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_name_same_address),
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_least_recent_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
