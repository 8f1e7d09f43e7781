#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "unit/cmocka_all.h"

#include <fcntl.h>

static void test_error_wraps_outwards(void **state)
{
    (void)state;
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(sbox_error_set(&err, EACCES, "open '%s'", "x"), -EACCES);
    assert_int_equal(sbox_error_wrap(&err, EIO, "apply mask"), -EACCES);
    assert_string_equal(err.message, "apply mask: open 'x': Permission denied");
    assert_int_equal(sbox_error_set(NULL, EPERM, "nobody listens"), -EPERM);
}

static void test_escape_disarms_terminals(void **state)
{
    (void)state;
    assert_string_equal(sbox_esc("plain-\xc3\xa9"), "plain-\xc3\xa9");
    assert_string_equal(sbox_esc("a\nb\x1b[31m\\"), "a\\nb\\x1b[31m\\\\");
    assert_string_equal(sbox_esc("\xff\xc0\xaf"), "\\xff\\xc0\\xaf");
    assert_string_equal(sbox_esc("\xe2\x80\xae"
                                 "evil"),
                        "\\xe2\\x80\\xae"
                        "evil");
    assert_false(sbox_utf8_valid("\xed\xa0\x80", 3)); /* a surrogate */
    char longer[5000];
    memset(longer, 'x', sizeof longer);
    const char *cut = sbox_esc_n(longer, sizeof longer);
    assert_true(strlen(cut) < 1024);
    assert_true(sbox_str_ends(cut, "..."));
}

static void test_paths_end_at_separators(void **state)
{
    (void)state;
    assert_true(sbox_path_within("/repo/app", "/repo/app"));
    assert_true(sbox_path_within("/repo/app/x", "/repo/app/"));
    assert_false(sbox_path_within("/repo/app-tools", "/repo/app"));
    assert_true(sbox_path_within("/x", "/"));
    assert_string_equal(sbox_path_below("/repo/app/x/y", "/repo/app"), "x/y");
}

static void test_numbers_are_strict(void **state)
{
    (void)state;
    unsigned long long v = 0;
    assert_int_equal(sbox_parse_u64("65535", 65535, &v), 0);
    assert_int_equal(v, 65535);
    assert_int_equal(sbox_parse_u64("65536", 65535, &v), -ERANGE);
    assert_int_equal(sbox_parse_u64("", 10, &v), -EINVAL);
    assert_int_equal(sbox_parse_u64("-1", 10, &v), -EINVAL);
    assert_int_equal(sbox_parse_u64(" 1", 10, &v), -EINVAL);
    assert_int_equal(sbox_parse_u64("99999999999999999999999", ~0ULL, &v), -ERANGE);
}

static void test_reader_never_passes_the_end(void **state)
{
    (void)state;
    struct sbox_reader r = sbox_reader_of("\x01\x02\x03\x04\x05", 5);
    assert_int_equal(sbox_reader_le32(&r), 0x04030201);
    assert_int_equal(sbox_reader_le32(&r), 0);
    assert_true(r.failed);
    assert_null(sbox_reader_bytes(&r, 1));
}

static void test_buf_grows_and_formats(void **state)
{
    (void)state;
    _cleanup_buf_ struct sbox_buf b = {0};
    for (int i = 0; i < 1000; i++)
        sbox_buf_addf(&b, "%03d,", i);
    assert_false(sbox_buf_failed(&b));
    assert_int_equal(b.size, 4000);
    assert_memory_equal(b.data + 3996, "999,", 4);
}

static void test_sha256_known_answer(void **state)
{
    (void)state;
    _cleanup_sha256_ struct sbox_sha256 *h = sbox_sha256_new();
    assert_non_null(h);
    struct sbox_digest d;
    char hex[65];
    assert_int_equal(sbox_sha256_of(h, "abc", 3, &d), 0);
    sbox_hex(d.bytes, sizeof d.bytes, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    struct sbox_digest back;
    assert_int_equal(sbox_unhex(hex, back.bytes, sizeof back.bytes), 0);
    assert_memory_equal(back.bytes, d.bytes, sizeof d.bytes);
    assert_int_equal(sbox_unhex("abc", back.bytes, 1), -EINVAL);
}

static void test_open_beneath_refuses_links_and_escapes(void **state)
{
    (void)state;
    char dir[] = "/tmp/sbox-unit-XXXXXX";
    assert_non_null(mkdtemp(dir));
    _cleanup_close_ int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(sbox_mkdir_parents(fd, "a/b/c", 0755), 0);
    assert_int_equal(symlinkat("a", fd, "link"), 0);
    assert_int_equal(sbox_write_file_atomic(fd, "f", "hello", 5, 0600, false), 0);
    assert_int_equal(sbox_open_beneath(fd, "../tmp", O_PATH), -EXDEV);
    assert_int_equal(sbox_open_beneath(fd, "link/b", O_PATH), -ELOOP);
    _cleanup_close_ int deep = sbox_open_beneath(fd, "a/b/c", O_PATH | O_DIRECTORY);
    assert_true(deep >= 0);
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    assert_int_equal(sbox_read_file_at(fd, "f", 5, &data, &size), 0);
    assert_string_equal(data, "hello");
    char *none = NULL;
    assert_int_equal(sbox_read_file_at(fd, "f", 4, &none, &size), -EFBIG);
    assert_int_equal(sbox_read_file_at(fd, "link", 4, &none, &size), -ELOOP);
    (void)unlinkat(fd, "link", 0);
    (void)unlinkat(fd, "f", 0);
    (void)unlinkat(fd, "a/b/c", AT_REMOVEDIR);
    (void)unlinkat(fd, "a/b", AT_REMOVEDIR);
    (void)unlinkat(fd, "a", AT_REMOVEDIR);
    (void)rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_wraps_outwards),
        cmocka_unit_test(test_escape_disarms_terminals),
        cmocka_unit_test(test_paths_end_at_separators),
        cmocka_unit_test(test_numbers_are_strict),
        cmocka_unit_test(test_reader_never_passes_the_end),
        cmocka_unit_test(test_buf_grows_and_formats),
        cmocka_unit_test(test_sha256_known_answer),
        cmocka_unit_test(test_open_beneath_refuses_links_and_escapes),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
