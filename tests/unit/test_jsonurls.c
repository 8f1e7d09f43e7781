/* Texts under one key of a JSON document. */
#include "store/jsonurls.h"

#include "base/buf.h"
#include "unit/cmocka_all.h"

static int add(const char *text, size_t size, void *context)
{
    struct sbox_buf *out = context;
    sbox_buf_addf(out, "%.*s ", (int)size, text);
    return 0;
}

static void expect(const char *json, const char *texts)
{
    struct sbox_buf out = {0};
    assert_int_equal(sbox_jsonurls_walk(json, strlen(json), "resolved", add, &out, NULL), 0);
    sbox_buf_add_byte(&out, 0);
    assert_string_equal(out.data, texts);
    sbox_buf_release(&out);
}

static void refuse(const char *json, size_t size, int code)
{
    struct sbox_buf out = {0};
    assert_int_equal(sbox_jsonurls_walk(json, size, "resolved", add, &out, NULL), code);
    sbox_buf_release(&out);
}

static void test_key_at_any_depth(void **state)
{
    (void)state;
    expect("{\"packages\":{\"a\":{\"resolved\":\"x\",\"url\":\"no\"},\"b\":[{\"resolved\":\"y\"}]},"
           "\"resolved\":7,\"z\":{\"resolved\":{\"resolved\":\"deep\"}}}",
           "x y deep ");
    expect("{}", "");
    expect("\xef\xbb\xbf{\"resolved\":\"x\"}", "x ");
    expect("{\"resolved\":\"x\",\"resolved\":\"y\"}", "x y "); /* npm takes the last */
    expect("{\"resolved\":\"https:\\/\\/a.example\"}", "https://a.example ");
}

static void test_what_is_no_json(void **state)
{
    (void)state;
    refuse("", 0, -EBADMSG);
    refuse("{", 1, -EBADMSG);
    refuse("{\"resolved\":\"x\"", 15, -EBADMSG);
    refuse("{\"a\":\"\xff\"}", 9, -EBADMSG);
    refuse("{}\0", 3, -EBADMSG);
}

static int stop(const char *text, size_t size, void *context)
{
    (void)text;
    (void)size;
    (void)context;
    return -ECANCELED;
}

static void test_a_callback_ends_the_walk(void **state)
{
    (void)state;
    static const char json[] = "[{\"resolved\":\"x\"},{\"resolved\":\"y\"}]";
    assert_int_equal(sbox_jsonurls_walk(json, sizeof json - 1, "resolved", stop, NULL, NULL),
                     -ECANCELED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_at_any_depth),
        cmocka_unit_test(test_what_is_no_json),
        cmocka_unit_test(test_a_callback_ends_the_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
