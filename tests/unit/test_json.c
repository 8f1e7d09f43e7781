#include "cli/json.h"
#include "unit/cmocka_all.h"

static void assert_json(struct sbox_buf *out, const char *expected)
{
    char *text = sbox_buf_take_str(out);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void test_commas_and_nesting(void **state)
{
    (void)state;
    struct sbox_buf out = {0};
    struct sbox_json j = sbox_json_to(&out);
    sbox_json_object(&j, NULL);
    sbox_json_null(&j, "a");
    sbox_json_array(&j, "b");
    sbox_json_int(&j, NULL, -1);
    sbox_json_uint(&j, NULL, UINT64_MAX);
    sbox_json_array(&j, NULL);
    sbox_json_end_array(&j);
    sbox_json_object(&j, NULL);
    sbox_json_int(&j, "x", 1);
    sbox_json_end_object(&j);
    sbox_json_object(&j, NULL);
    sbox_json_int(&j, "y", 2);
    sbox_json_end_object(&j);
    sbox_json_end_array(&j);
    sbox_json_bool(&j, "c", true);
    sbox_json_string(&j, "d", NULL);
    sbox_json_raw(&j, "e", "[1]", 3);
    sbox_json_end_object(&j);
    assert_json(
        &out,
        "{\"a\":null,\"b\":[-1,18446744073709551615,[],{\"x\":1},{\"y\":2}],\"c\":true,\"d\":null,"
        "\"e\":[1]}");
}

struct string_row {
    const char *in;
    size_t size;
    const char *out;
};

#define ROW(in, out)            \
    {                           \
        in, sizeof(in) - 1, out \
    }

static void test_hostile_strings(void **state)
{
    (void)state;
    static const struct string_row rows[] = {
        ROW("", "\"\""),
        ROW("a\"b\\c/", "\"a\\\"b\\\\c/\""),
        ROW("\n\t\x01\x1b[31m", "\"\\u000a\\u0009\\u0001\\u001b[31m\""),
        ROW("a\0b", "\"a\\u0000b\""),
        ROW("\x7f\xc2\x9b", "\"\\u007f\\u009b\""),
        ROW("\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\""),
        ROW("\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\""),
        ROW("\xff\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""),
        ROW("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""), /* a surrogate */
        ROW("\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""),                 /* cut short */
        ROW("</script>", "\"</script>\""),
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_buf out = {0};
        struct sbox_json j = sbox_json_to(&out);
        sbox_json_string_n(&j, NULL, rows[i].in, rows[i].size);
        assert_json(&out, rows[i].out);
    }
}

static void test_paths_keep_their_bytes(void **state)
{
    (void)state;
    static const struct string_row rows[] = {
        ROW("plain", "{\"p\":\"plain\"}"),
        ROW("\xff", "{\"p\":\"\xef\xbf\xbd\",\"p_b64\":\"/w==\"}"),
        ROW("a\xff", "{\"p\":\"a\xef\xbf\xbd\",\"p_b64\":\"Yf8=\"}"),
        ROW("ab\xff", "{\"p\":\"ab\xef\xbf\xbd\",\"p_b64\":\"YWL/\"}"),
        ROW("ab\xff>", "{\"p\":\"ab\xef\xbf\xbd>\",\"p_b64\":\"YWL/Pg==\"}"),
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_buf out = {0};
        struct sbox_json j = sbox_json_to(&out);
        sbox_json_object(&j, NULL);
        sbox_json_path(&j, "p", rows[i].in, rows[i].size);
        sbox_json_end_object(&j);
        assert_json(&out, rows[i].out);
    }
}

static void test_too_deep_fails(void **state)
{
    (void)state;
    struct sbox_buf out = {0};
    struct sbox_json j = sbox_json_to(&out);
    for (int i = 0; i < 40; i++)
        sbox_json_array(&j, NULL);
    assert_true(sbox_buf_failed(&out));
    sbox_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commas_and_nesting),
        cmocka_unit_test(test_hostile_strings),
        cmocka_unit_test(test_paths_keep_their_bytes),
        cmocka_unit_test(test_too_deep_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
