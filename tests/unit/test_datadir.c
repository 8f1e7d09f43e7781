#include "base/cleanup.h"
#include "base/fd.h"
#include "base/strv.h"
#include "project/datadir.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <sys/stat.h>

static void test_nothing_is_made_unless_asked(void **state)
{
    struct scratch *s = *state;
    struct sbox_datadir d = {.fd = -1};
    assert_int_equal(sbox_datadir_open(s->path, NULL, false, &d, NULL), 0);
    assert_int_equal(d.fd, -1);
    assert_string_equal(d.path, scratch_path(s, ".local/share/sbox"));
    assert_int_equal(faccessat(s->fd, ".local", F_OK, 0), -1);
    assert_false(sbox_project_marked_locked(&d, "/x"));
    assert_int_equal(sbox_project_dir_open(&d, "/x", true, NULL), -ENOENT);
    sbox_datadir_release(&d);
}

static void test_made_private_and_canonical(void **state)
{
    struct scratch *s = *state;
    struct stat st;
    struct sbox_datadir d = {.fd = -1};
    scratch_mkdir(s, "disk");
    scratch_link(s, "home", "disk");
    assert_int_equal(sbox_datadir_open(scratch_path(s, "home"), "relative", true, &d, NULL), 0);
    assert_true(d.fd >= 0);
    assert_string_equal(d.path, scratch_path(s, "disk/.local/share/sbox"));
    assert_int_equal(fstat(d.fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    sbox_datadir_release(&d);
    assert_int_equal(sbox_datadir_open(NULL, scratch_path(s, "xdg"), true, &d, NULL), 0);
    assert_string_equal(d.path, scratch_path(s, "xdg/sbox"));
    sbox_datadir_release(&d);
}

static void test_refuses_what_others_can_write(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_datadir d = {.fd = -1};
    scratch_mkdir(s, "sbox");
    assert_int_equal(fchmodat(s->fd, "sbox", 0770, 0), 0);
    assert_int_equal(sbox_datadir_open(NULL, s->path, true, &d, &err), -EPERM);
    assert_non_null(strstr(err.message, "chmod 700"));
    if (geteuid() == 0) { /* only root can make a directory of somebody else's */
        assert_int_equal(fchmodat(s->fd, "sbox", 0700, 0), 0);
        assert_int_equal(fchownat(s->fd, "sbox", 1234, 1234, 0), 0);
        assert_int_equal(sbox_datadir_open(NULL, s->path, true, &d, &err), -EPERM);
        assert_non_null(strstr(err.message, "uid 1234"));
    }
}

static void test_no_home_is_said(void **state)
{
    (void)state;
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_datadir d = {.fd = -1};
    assert_int_equal(sbox_datadir_open(NULL, "", false, &d, &err), -EINVAL);
    assert_non_null(strstr(err.message, "HOME"));
    assert_int_equal(sbox_datadir_open("relative", NULL, false, &d, NULL), -EINVAL);
}

static void test_a_file_in_the_way(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_datadir d = {.fd = -1};
    scratch_write(s, "sbox", "");
    assert_int_equal(sbox_datadir_open(NULL, s->path, true, &d, &err), -ENOTDIR);
    assert_non_null(strstr(err.message, "/sbox'"));
}

static void test_project_directory_and_marker(void **state)
{
    struct scratch *s = *state;
    char id[SBOX_PROJECT_ID_SIZE];
    struct sbox_datadir d = {.fd = -1};
    assert_int_equal(sbox_datadir_open(NULL, s->path, true, &d, NULL), 0);
    sbox_project_id("abc", id); /* FIPS 180-2, B.1 */
    assert_string_equal(id, "ba7816bf8f01cfea414140de5dae2223");
    assert_int_equal(sbox_project_dir_open(&d, "abc", false, NULL), -ENOENT);
    _cleanup_close_ int dir = sbox_project_dir_open(&d, "abc", true, NULL);
    assert_true(dir >= 0);
    assert_int_equal(faccessat(s->fd, "sbox/projects/ba7816bf8f01cfea414140de5dae2223", F_OK, 0),
                     0);
    assert_false(sbox_project_marked_locked(&d, "abc"));
    assert_int_equal(sbox_project_mark_locked(dir, NULL), 0);
    assert_int_equal(sbox_project_mark_locked(dir, NULL), 0);
    assert_true(sbox_project_marked_locked(&d, "abc"));
    assert_false(sbox_project_marked_locked(&d, "abcd"));
    sbox_datadir_release(&d);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_made_unless_asked),
        TEST(test_made_private_and_canonical),
        TEST(test_refuses_what_others_can_write),
        TEST(test_no_home_is_said),
        TEST(test_a_file_in_the_way),
        TEST(test_project_directory_and_marker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
