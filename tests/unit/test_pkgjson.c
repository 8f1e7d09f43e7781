#include "store/pkgjson.h"
#include "unit/cmocka_all.h"

struct row {
    const char *json;
    size_t size; /* 0: strlen */
    const char *name;
    const char *version;
    const char *hooks; /* NUL written as '|' */
    unsigned doubts;
};

static const struct row rows[] = {
    {"{\"name\":\"a\",\"version\":\"1.2.3\"}", 0, "a", "1.2.3", "", 0},
    {"{}", 0, "", "", "", 0},
    {"{\"name\":7,\"version\":null}", 0, "", "", "", 0},
    {"{\"scripts\":{\"postinstall\":\"node x\",\"test\":\"jest\",\"install\":\"make\"}}", 0, "", "",
     "install|make|postinstall|node x|", 0},
    /* Escaped keys are the same keys. */
    {"{\"\\u0073cripts\":{\"pre\\u0069nstall\":\"evil\"}}", 0, "", "", "preinstall|evil|", 0},
    {"{\"name\":\"a\",\"name\":\"b\"}", 0, "b", "", "", SBOX_PKGJSON_DUPLICATE},
    {"{\"scripts\":{\"install\":\"a\"},\"scripts\":{}}", 0, "", "", "install|a|",
     SBOX_PKGJSON_DUPLICATE},
    {"{\"scripts\":{\"install\":\"a\",\"install\":\"b\"}}", 0, "", "", "install|a|install|b|",
     SBOX_PKGJSON_DUPLICATE},
    {"\xef\xbb\xbf{\"name\":\"a\"}", 0, "a", "", "", SBOX_PKGJSON_BOM},
    {"{\"name\":\"a\0b\"}", 14, "", "", "", SBOX_PKGJSON_NUL | SBOX_PKGJSON_INVALID},
    {"{\"name\":\"a\\u0000b\"}", 0, "a", "", "", SBOX_PKGJSON_NUL},
    {"", 0, "", "", "", SBOX_PKGJSON_INVALID},
    {"[]", 0, "", "", "", SBOX_PKGJSON_INVALID},
    {"{a:1}", 0, "", "", "", SBOX_PKGJSON_INVALID},
    {"{\"a\":1,}", 0, "", "", "", SBOX_PKGJSON_INVALID},
    {"{\"name\":\"\xff\"}", 0, "", "", "", SBOX_PKGJSON_INVALID},
    {"{\"name\":\"a\"} {", 0, "", "", "", SBOX_PKGJSON_INVALID},
};

static void test_table(void **state)
{
    (void)state;
    struct sbox_pkgjson_reader *r = NULL;
    assert_int_equal(sbox_pkgjson_reader_new(&r, NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        _cleanup_pkgjson_ struct sbox_pkgjson p = {0};
        size_t size = row->size ? row->size : strlen(row->json);
        assert_int_equal(sbox_pkgjson_read(r, row->json, size, &p, NULL), 0);
        assert_string_equal(p.name, row->name);
        assert_string_equal(p.version, row->version);
        assert_int_equal(p.doubts, row->doubts);
        assert_int_equal(p.hooks.size, strlen(row->hooks));
        for (size_t k = 0; k < p.hooks.size; k++)
            assert_int_equal(p.hooks.data[k] ? p.hooks.data[k] : '|', row->hooks[k]);
    }
    sbox_pkgjson_reader_free(r);
}

static void test_bounded(void **state)
{
    (void)state;
    struct sbox_pkgjson_reader *r = NULL;
    assert_int_equal(sbox_pkgjson_reader_new(&r, NULL), 0);
    size_t size = SBOX_PKGJSON_MAX + 1;
    char *big = malloc(size);
    assert_non_null(big);
    memset(big, ' ', size);
    struct sbox_pkgjson p = {0};
    assert_int_equal(sbox_pkgjson_read(r, big, size, &p, NULL), 0);
    assert_int_equal(p.doubts, SBOX_PKGJSON_TOO_BIG);
    sbox_pkgjson_release(&p);
    memset(big, '[', size); /* nesting without end */
    big[0] = '{';
    assert_int_equal(sbox_pkgjson_read(r, big, 100000, &p, NULL), 0);
    assert_int_equal(p.doubts, SBOX_PKGJSON_INVALID);
    sbox_pkgjson_release(&p);
    free(big);
    sbox_pkgjson_reader_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests_name("pkgjson", tests, NULL, NULL);
}
