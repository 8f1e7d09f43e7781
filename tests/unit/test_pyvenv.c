/* pyvenv.cfg as site.py reads it: the last of a key wins, case and blanks do not count. */
#include "project/pyvenv.h"

#include "base/buf.h"
#include "base/error.h"
#include "unit/cmocka_all.h"

static void expect(const char *text, const char *home, const char *version)
{
    struct sbox_pyvenv v = {NULL, NULL};
    assert_int_equal(sbox_pyvenv_parse(text, strlen(text), &v), 0);
    assert_string_equal(v.home ? v.home : "(none)", home);
    assert_string_equal(v.version ? v.version : "(none)", version);
    sbox_pyvenv_release(&v);
}

static void test_keys(void **state)
{
    (void)state;
    expect("", "(none)", "(none)");
    expect("home = /usr/bin\nversion = 3.11.2\n", "/usr/bin", "3.11.2");
    expect("home=/usr/bin", "/usr/bin", "(none)"); /* the last line need not end */
    expect("\tHOME\t=  /a b \r\n", "/a b", "(none)");
    expect("home = /a\nhome = /b\n", "/b", "(none)");
    expect("home = /a=b\n", "/a=b", "(none)");
    expect("home =\n", "", "(none)");
    expect("homes = /a\nhom = /b\n= /c\nhome\n", "(none)", "(none)");
    expect("version_info = 3.11\n", "(none)", "(none)");
}

static void test_nul_and_long_lines_are_refused(void **state)
{
    (void)state;
    struct sbox_pyvenv v = {NULL, NULL};
    static const char nul[] = "home = /a\0b\n";
    assert_int_equal(sbox_pyvenv_parse(nul, sizeof nul - 1, &v), -EBADMSG);
    for (size_t size = 4096; size <= 4097; size++) {
        _cleanup_buf_ struct sbox_buf b = {0};
        sbox_buf_add_str(&b, "home = /a\nhome =");
        for (size_t i = 6; i < size; i++)
            sbox_buf_add_byte(&b, 'x');
        assert_int_equal(sbox_pyvenv_parse(b.data, b.size, &v), size > 4096 ? -EBADMSG : 0);
        sbox_pyvenv_release(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_nul_and_long_lines_are_refused),
    };
    return cmocka_run_group_tests_name("pyvenv", tests, NULL, NULL);
}
