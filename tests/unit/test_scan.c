/* The scan: names, what it finds, and that its cache cannot be fooled by a forged mtime. */
#include "project/scan.h"

#include "base/cleanup.h"
#include "project/mountinfo.h"
#include "project/pyvenv.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

static void test_secret_names(void **state)
{
    (void)state;
    static const char *const secret[] = {".env",     ".ENV",   ".env.local", ".env~",
                                         ".env.swp", ".envrc", ".env.d",     ".env-x",
                                         "#.env#",   ".#.env", ".envrc.bak"};
    static const char *const plain[] = {"env", ".environment", ".envoy", "x.env", ".en", ""};
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        assert_true(sbox_scan_is_secret_name(secret[i]));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_false(sbox_scan_is_secret_name(plain[i]));
    assert_true(sbox_scan_is_template_name(".env.example"));
    assert_false(sbox_scan_is_template_name(".env.local"));
}

static void touch(int dir, const char *name)
{
    assert_int_equal(sbox_write_file_atomic(dir, name, "x", 1, 0644, false), 0);
}

static struct sbox_scan scan(const struct scratch *s, int cache)
{
    struct sbox_scan result = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_scan_request request = {.root_fd = s->fd, .project_dirfd = cache};
    int r = sbox_scan_run(&request, &result, &err);
    if (r < 0)
        fail_msg("%s", err.message);
    return result;
}

static int make_dir(const struct scratch *s, const char *path)
{
    assert_int_equal(sbox_mkdir_parents(s->fd, path, 0755), 0);
    int fd = openat(s->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void test_what_is_found(void **state)
{
    struct scratch *s = *state;
    _cleanup_close_ int modules = make_dir(s, "p/node_modules/x/node_modules");
    _cleanup_close_ int venv = make_dir(s, ".venv");
    _cleanup_close_ int no_venv = make_dir(s, "venv");
    sbox_close(make_dir(s, "sub/.git"));
    touch(venv, "pyvenv.cfg");
    touch(no_venv, ".env");
    touch(modules, ".env");
    touch(s->fd, ".env.local");
    struct sbox_scan found = scan(s, -1);
    static const char *const wanted[] = {".env.local", ".venv", "p/node_modules", "sub/.git",
                                         "venv/.env"};
    assert_int_equal(found.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(found.entries[i].path, wanted[i]);
    assert_int_equal(found.entries[1].tree, SBOX_TREE_VENV);
    sbox_scan_release(&found);
}

static void age(int fd)
{
    (void)fd;
    struct timespec wait = {.tv_nsec = 60000000}; /* past "near now" */
    (void)nanosleep(&wait, NULL);
}

static void test_cache_is_used_and_not_fooled(void **state)
{
    struct scratch *s = *state;
    _cleanup_close_ int cache = make_dir(s, "node_modules/cache"); /* not looked into */
    _cleanup_close_ int deep = make_dir(s, "a/b/c");
    age(deep);
    struct sbox_scan found = scan(s, cache);
    assert_int_equal(found.reread, 4);
    sbox_scan_release(&found);
    found = scan(s, cache);
    assert_int_equal(found.reread, 0);
    sbox_scan_release(&found);
    struct stat before;
    assert_int_equal(fstat(deep, &before), 0);
    touch(deep, ".env");
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    assert_int_equal(futimens(deep, times), 0);
    found = scan(s, cache);
    assert_int_equal(found.reread, 1);
    assert_string_equal(found.entries[0].path, "a/b/c/.env");
    sbox_scan_release(&found);
}

static void test_damaged_cache_is_ignored(void **state)
{
    struct scratch *s = *state;
    _cleanup_close_ int cache = make_dir(s, "node_modules/cache");
    touch(s->fd, ".env");
    touch(cache, "scan");
    struct sbox_scan found = scan(s, cache);
    assert_int_equal(found.count, 2);
    sbox_scan_release(&found);
}

static void test_a_thousand_levels(void **state)
{
    struct scratch *s = *state;
    int at = dup(s->fd);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(mkdirat(at, "level", 0755), 0);
        int next = openat(at, "level", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        sbox_close(at);
        at = next;
    }
    touch(at, ".env");
    sbox_close(at);
    struct sbox_scan found = scan(s, -1);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.directories, 1001);
    sbox_scan_release(&found);
}

static int first_mount(const struct sbox_mount *m, void *context)
{
    assert_string_equal(m->point, "/a b");
    assert_string_equal(m->fstype, "tmpfs");
    *(unsigned *)context = m->id;
    return 1;
}

static void test_small_readers(void **state)
{
    (void)state;
    unsigned id = 0;
    char line[] = "36 35 98:0 / /a\\040b rw,noatime master:1 - tmpfs x rw\n";
    assert_int_equal(sbox_mountinfo_walk(line, sizeof line - 1, first_mount, &id), 1);
    assert_int_equal(id, 36);
    char broken[] = "36 35 98 / /a rw - tmpfs x rw\n";
    assert_int_equal(sbox_mountinfo_walk(broken, sizeof broken - 1, first_mount, &id), -EBADMSG);
    struct sbox_pyvenv v = {NULL, NULL};
    assert_int_equal(sbox_pyvenv_parse("home = /a\nHome=/b \n", 19, &v), 0);
    assert_string_equal(v.home, "/b");
    sbox_pyvenv_release(&v);
    assert_int_equal(sbox_pyvenv_parse("home\0", 5, &v), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secret_names),
        cmocka_unit_test_setup_teardown(test_what_is_found, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_cache_is_used_and_not_fooled, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_damaged_cache_is_ignored, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_a_thousand_levels, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_small_readers),
    };
    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
