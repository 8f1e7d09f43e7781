/* The scan: names, what it finds, and that its cache cannot be fooled by a forged mtime. */
#include "project/scan.h"

#include "base/cleanup.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* A name alone makes no tree of vendor, venv or .yarn. */
static void test_trees(void **state)
{
    struct scratch *s = *state;
    scratch_mkdir(s, "plain/vendor/lib");
    scratch_mkdir(s, "plain/venv/lib");
    scratch_mkdir(s, "plain/.yarn/cache");
    scratch_write(s, "plain/node_modules", "a file");
    scratch_write(s, "go/vendor/modules.txt", "");
    scratch_write(s, "php/composer.json", "{}");
    scratch_mkdir(s, "php/vendor");
    scratch_write(s, "py/.env/pyvenv.cfg", "");
    scratch_write(s, "py/venv/pyvenv.cfg", "");
    scratch_link(s, "js/node_modules", "../store");
    scratch_write(s, "yarn/.pnp.cjs", "");
    scratch_mkdir(s, "yarn/.yarn/cache");
    scratch_mkdir(s, "yarn/.yarn/versions");
    static const struct {
        const char *path;
        enum sbox_tree_kind kind;
    } wanted[] = {
        {"go/vendor", SBOX_TREE_VENDOR},  {"js/node_modules", SBOX_TREE_NODE_MODULES},
        {"php/vendor", SBOX_TREE_VENDOR}, {"py/.env", SBOX_TREE_VENV},
        {"py/venv", SBOX_TREE_VENV},      {"yarn/.yarn/cache", SBOX_TREE_YARN},
    };
    struct sbox_scan found = scan(s, -1);
    assert_int_equal(found.count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < found.count; i++) {
        assert_string_equal(found.entries[i].path, wanted[i].path);
        assert_int_equal(found.entries[i].kind, SBOX_SCAN_TREE);
        assert_int_equal(found.entries[i].tree, wanted[i].kind);
    }
    assert_string_equal(found.entries[1].link, "../store");
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

/* Two looks: whoever moves a secret from a directory not yet seen into one already seen gets a
 * refusal or is found, never overlooked. He rests longer than the coarsest clock that stamps files,
 * so that each of his moves has a time of its own. Where he moves to and fro is spread widely, as a
 * directory's order is the file system's. */
enum { PLACES = 3000, STRIDE = 1237, SCANS = 100 };

static void move_around(int root)
{
    const struct timespec rest = {.tv_nsec = 25000000};
    for (int at = 0;; at = (at + STRIDE) % PLACES) {
        char from[32];
        char to[32];
        (void)snprintf(from, sizeof from, "%d/moves", at);
        (void)snprintf(to, sizeof to, "%d/moves", (at + STRIDE) % PLACES);
        if (renameat(root, from, root, to) < 0)
            _exit(1);
        (void)nanosleep(&rest, NULL);
    }
}

/* Scans that saw the workspace without the secret, or with two. */
static size_t count_overlooked(const struct scratch *s)
{
    size_t overlooked = 0;
    for (int i = 0; i < SCANS; i++) {
        struct sbox_scan found = {0};
        struct sbox_scan_request request = {.root_fd = s->fd, .project_dirfd = -1};
        int r = sbox_scan_run(&request, &found, NULL);
        overlooked += r != -ESTALE && (r != 0 || found.count != 1);
        sbox_scan_release(&found);
    }
    return overlooked;
}

static void test_what_moves_is_not_overlooked(void **state)
{
    struct scratch *s = *state;
    scratch_write(s, "0/moves/.env", "SECRET=1");
    for (int i = 1; i < PLACES; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%d", i);
        scratch_mkdir(s, name);
    }
    pid_t mover = fork();
    assert_true(mover >= 0);
    if (mover == 0)
        move_around(s->fd);
    size_t overlooked = count_overlooked(s);
    int status = 0;
    assert_int_equal(kill(mover, SIGKILL), 0);
    assert_int_equal(waitpid(mover, &status, 0), mover);
    assert_true(WIFSIGNALED(status)); /* it moved until the end */
    assert_int_equal(overlooked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secret_names),
        cmocka_unit_test_setup_teardown(test_what_is_found, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_trees, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_cache_is_used_and_not_fooled, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_damaged_cache_is_ignored, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_a_thousand_levels, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_what_moves_is_not_overlooked, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
