#include "cli/progress.h"
#include "cli/text.h"
#include "unit/cmocka_all.h"

static void test_numbers(void **state)
{
    (void)state;
    char t[SBOX_TEXT_SIZE];
    assert_string_equal(sbox_text_count(0, t), "0");
    assert_string_equal(sbox_text_count(999, t), "999");
    assert_string_equal(sbox_text_count(82868, t), "82,868");
    assert_string_equal(sbox_text_count(1000000, t), "1,000,000");
    assert_string_equal(sbox_text_count(UINT64_MAX, t), "18,446,744,073,709,551,615");
    assert_string_equal(sbox_text_bytes(0, t), "0 bytes");
    assert_string_equal(sbox_text_bytes(999, t), "999 bytes");
    assert_string_equal(sbox_text_bytes(1000, t), "1.0 kB");
    assert_string_equal(sbox_text_bytes(9960, t), "10 kB");
    assert_string_equal(sbox_text_bytes(999600, t), "1.0 MB");
    assert_string_equal(sbox_text_bytes(1100000000, t), "1.1 GB");
    assert_string_equal(sbox_text_bytes(UINT64_MAX, t), "18 EB");
}

static void test_times(void **state)
{
    (void)state;
    char t[SBOX_TEXT_SIZE];
    assert_string_equal(sbox_text_duration(0, t), "0.0 s");
    assert_string_equal(sbox_text_duration(940, t), "0.9 s");
    assert_string_equal(sbox_text_duration(9960, t), "10 s");
    assert_string_equal(sbox_text_duration(59400, t), "59 s");
    assert_string_equal(sbox_text_duration(59600, t), "1 min 0 s");
    assert_string_equal(sbox_text_duration(200000, t), "3 min 20 s");
    assert_string_equal(sbox_text_utc(0, t), "1970-01-01T00:00:00Z");
    (void)sbox_text_utc(INT64_MAX, t); /* a year that tm_year cannot hold */
    assert_true(strlen(t) < SBOX_TEXT_SIZE);
}

static void test_width_is_that_of_what_is_shown(void **state)
{
    (void)state;
    assert_int_equal(sbox_text_width("abc"), 3);
    assert_int_equal(sbox_text_width("\xc3\xa9"), 1);
    assert_int_equal(sbox_text_width("\n"), 2);
    assert_int_equal(sbox_text_width("\xff"), 4);
}

static void assert_progress(const struct sbox_progress *p, uint64_t ms, const char *expected)
{
    struct sbox_buf out = {0};
    sbox_progress_text(&out, "locking", p, ms);
    char *text = sbox_buf_take_str(&out);
    assert_string_equal(text, expected);
    free(text);
}

static void test_progress_line(void **state)
{
    (void)state;
    const struct sbox_progress known = {
        .entries = 12345, .bytes = 400000000, .total_entries = 82868, .total_bytes = 1000000000};
    assert_progress(&known, 1000,
                    "locking: 12,345 of 82,868 entries, 400 MB of 1.0 GB, 400 MB/s, 2 s left");
    const struct sbox_progress slow = {.bytes = 1, .total_bytes = 100, .total_entries = 1};
    assert_progress(&slow, 1000,
                    "locking: 0 of 1 entries, 1 bytes of 100 bytes, 1 bytes/s, 1 min 40 s left");
    const struct sbox_progress unknown = {.entries = 5, .bytes = 2000};
    assert_progress(&unknown, 2000, "locking: 5 entries, 2.0 kB, 1.0 kB/s");
    const struct sbox_progress passed = {
        .entries = 9, .bytes = 9, .total_entries = 8, .total_bytes = 8};
    assert_progress(&passed, 1000, "locking: 9 entries, 9 bytes, 9 bytes/s");
    const struct sbox_progress nothing = {.total_bytes = 8, .total_entries = 1};
    assert_progress(&nothing, 0, "locking: 0 of 1 entries, 0 bytes of 8 bytes, 0 bytes/s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_width_is_that_of_what_is_shown),
        cmocka_unit_test(test_progress_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
