#include "base/cleanup.h"
#include "base/strv.h"
#include "project/root.h"
#include "project/root_rules.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>

/* Everything lies below scratch/home, which is $HOME; the data directory is scratch/data/sbox. */
struct world {
    struct scratch *s;
    struct sbox_datadir data;
    struct sbox_root_request request;
    struct sbox_root root;
    struct sbox_error err;
};

static int setup(void **state)
{
    int r = scratch_setup(state);
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->s = *state;
    scratch_mkdir(w->s, "home");
    scratch_mkdir(w->s, "data");
    assert_int_equal(sbox_datadir_open(NULL, scratch_path(w->s, "data"), true, &w->data, NULL), 0);
    w->request.home = strdup(scratch_path(w->s, "home"));
    w->request.datadir = &w->data;
    w->root.fd = -1;
    *state = w;
    return r;
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *scratch = w->s;
    sbox_root_release(&w->root);
    sbox_datadir_release(&w->data);
    free((void *)(uintptr_t)w->request.home);
    free(w);
    return scratch_teardown(&scratch);
}

static int find_from(struct world *w, const char *directory)
{
    sbox_root_release(&w->root);
    assert_int_equal(chdir(scratch_path(w->s, directory)), 0);
    return sbox_root_find(&w->request, &w->root, &w->err);
}

#define assert_root(w, name, wanted_kind)                                      \
    do {                                                                       \
        assert_string_equal((w)->root.path, scratch_path((w)->s, name));       \
        assert_string_equal(sbox_root_kind_text((w)->root.kind), wanted_kind); \
    } while (0)

static void mark(struct world *w, const char *name)
{
    _cleanup_close_ int fd = sbox_project_dir_open(&w->data, scratch_path(w->s, name), true, NULL);
    assert_true(fd >= 0);
    assert_int_equal(sbox_project_mark_locked(fd, NULL), 0);
}

static void test_locked_before_git_before_manifest_before_cwd(void **state)
{
    struct world *w = *state;
    scratch_mkdir(w->s, "home/p/q/r/s/t");
    assert_int_equal(find_from(w, "home/p/q/r/s/t"), 0);
    assert_root(w, "home/p/q/r/s/t", "current directory");
    scratch_write(w->s, "home/p/q/r/s/go.mod", "");
    scratch_write(w->s, "home/p/package.json", "{}");
    assert_int_equal(find_from(w, "home/p/q/r/s/t"), 0);
    assert_root(w, "home/p/q/r/s", "package manifest");
    scratch_mkdir(w->s, "home/p/q/r/.git");
    scratch_mkdir(w->s, "home/p/.git");
    assert_int_equal(find_from(w, "home/p/q/r/s/t"), 0);
    assert_root(w, "home/p/q/r", "git work tree");
    assert_false(w->root.locked);
    mark(w, "home/p/q");
    mark(w, "home/p");
    assert_int_equal(find_from(w, "home/p/q/r/s/t"), 0);
    assert_root(w, "home/p/q", "locked project");
    assert_true(w->root.locked);
    assert_string_equal(w->root.cwd, scratch_path(w->s, "home/p/q/r/s/t"));
    assert_true(w->root.fd >= 0);
}

static void test_home_and_above_are_refused(void **state)
{
    struct world *w = *state;
    scratch_mkdir(w->s, "home/p");
    scratch_write(w->s, "home/package.json", "{}"); /* by accident, or dotfiles in ~/.git */
    scratch_mkdir(w->s, "home/.git");
    scratch_write(w->s, "package.json", "{}");
    assert_int_equal(find_from(w, "home/p"), 0);
    assert_root(w, "home/p", "current directory");
    assert_int_equal(find_from(w, "home"), -EPERM);
    assert_non_null(strstr(w->err.message, "is your home directory"));
    assert_non_null(strstr(w->err.message, "-C DIR"));
    assert_int_equal(find_from(w, ""), -EPERM);
    assert_non_null(strstr(w->err.message, "holds your home directory"));
    w->request.workspace = "/";
    assert_int_equal(find_from(w, "home/p"), -EPERM);
    w->request.workspace = "/tmp";
    assert_int_equal(find_from(w, "home/p"), -EPERM);
    w->request.workspace = NULL;
    w->request.directory = "/usr/bin";
    assert_int_equal(find_from(w, "home/p"), -EPERM);
    assert_non_null(strstr(w->err.message, "is a system directory"));
}

/* $HOME that is itself a link is recognised behind it. */
static void test_home_behind_a_link(void **state)
{
    struct world *w = *state;
    scratch_mkdir(w->s, "disk");
    scratch_link(w->s, "linked", "disk");
    char *home = strdup(scratch_path(w->s, "linked"));
    const char *before = w->request.home;
    w->request.home = home;
    assert_int_equal(find_from(w, "disk"), -EPERM);
    w->request.home = before;
    free(home);
}

static void test_data_directory_and_root_are_apart(void **state)
{
    struct world *w = *state;
    char *workspace = strdup(scratch_path(w->s, "data"));
    scratch_mkdir(w->s, "home/p");
    w->request.workspace = workspace;
    assert_int_equal(find_from(w, "home/p"), -EPERM);
    assert_non_null(strstr(w->err.message, "holds sbox's own data directory"));
    free(workspace);
    w->request.workspace = NULL;
    scratch_mkdir(w->s, "data/sbox/projects/x");
    assert_int_equal(find_from(w, "data/sbox/projects/x"), -EPERM);
    assert_non_null(strstr(w->err.message, "lies in sbox's own data directory"));
}

static void test_workspace_option(void **state)
{
    struct world *w = *state;
    scratch_mkdir(w->s, "home/p/q/.git");
    scratch_mkdir(w->s, "home/other");
    char *workspace = strdup(scratch_path(w->s, "home/p"));
    char *outside = strdup(scratch_path(w->s, "home/other"));
    w->request.workspace = workspace;
    assert_int_equal(find_from(w, "home/p/q"), 0);
    assert_root(w, "home/p", "--workspace");
    assert_string_equal(w->root.cwd, scratch_path(w->s, "home/p/q"));
    assert_int_equal(find_from(w, "home/other"), 0);
    assert_string_equal(w->root.cwd, scratch_path(w->s, "home/p"));
    w->request.directory = outside;
    assert_int_equal(find_from(w, "home"), -EINVAL);
    assert_non_null(strstr(w->err.message, "outside the workspace"));
    w->request.directory = "no-such";
    assert_int_equal(find_from(w, "home"), -ENOENT);
    assert_non_null(strstr(w->err.message, "'no-such'"));
    free(workspace);
    free(outside);
}

/* C11 */
static void test_strange_current_directories(void **state)
{
    struct world *w = *state;
    char name[64];
    scratch_mkdir(w->s, "home/p/gone (deleted)");
    scratch_write(w->s, "home/p/package.json", "{}");
    scratch_link(w->s, "link", "home/p");
    assert_int_equal(find_from(w, "link"), 0);
    assert_root(w, "home/p", "package manifest");
    assert_string_equal(w->root.cwd, w->root.path);

    _cleanup_close_ int fd = openat(w->s->fd, "home/p", O_PATH | O_CLOEXEC);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    w->request.directory = name;
    assert_int_equal(find_from(w, "home"), 0);
    assert_root(w, "home/p", "package manifest");
    w->request.directory = NULL;

    assert_int_equal(find_from(w, "home/p/gone (deleted)"), 0); /* only its name says so */
    assert_int_equal(unlinkat(w->s->fd, "home/p/gone (deleted)", AT_REMOVEDIR), 0);
    sbox_root_release(&w->root);
    assert_int_equal(sbox_root_find(&w->request, &w->root, &w->err), -ENOENT);
    assert_non_null(strstr(w->err.message, "the current directory was deleted"));
    assert_non_null(strstr(w->err.message, "-C DIR"));
    char *workspace = strdup(scratch_path(w->s, "home/p"));
    w->request.workspace = workspace; /* enough to go on */
    assert_int_equal(sbox_root_find(&w->request, &w->root, &w->err), 0);
    assert_string_equal(w->root.cwd, workspace);
    free(workspace);
    w->request.workspace = NULL;

    sbox_root_release(&w->root);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(sbox_root_find(&w->request, &w->root, &w->err), -EPERM);
    assert_non_null(strstr(w->err.message, "'/' is the root of the whole file system"));
}

static void test_names_with_any_byte(void **state)
{
    struct world *w = *state;
    scratch_mkdir(w->s, "home/-a b\n\xff:\\");
    assert_int_equal(find_from(w, "home/-a b\n\xff:\\"), 0);
    assert_root(w, "home/-a b\n\xff:\\", "current directory");
}

/* C6 */
static void test_parents_that_cannot_be_read(void **state)
{
    struct world *w = *state;
    scratch_mkdir(w->s, "home/a/b/p/.git");
    assert_int_equal(fchmodat(w->s->fd, "home/a", 0711, 0), 0);
    assert_int_equal(fchmodat(w->s->fd, "home/a/b", 0311, 0), 0);
    assert_int_equal(find_from(w, "home/a/b/p"), 0);
    assert_root(w, "home/a/b/p", "git work tree");
}

static void test_git_of_somebody_else(void **state)
{
    struct world *w = *state;
    assert_true(sbox_root_owner_fine(1000, 1000, 5));
    assert_false(sbox_root_owner_fine(1000, 1001, 1001));
    assert_false(sbox_root_owner_fine(1000, 0, 1000));
    assert_true(sbox_root_owner_fine(0, 1000, 1000));
    assert_false(sbox_root_owner_fine(0, 1001, 1000));
    if (geteuid() != 0)
        return; /* the rule above is all that an ordinary user can stage */
    scratch_mkdir(w->s, "home/p/.git");
    assert_int_equal(fchownat(w->s->fd, "home/p/.git", 1234, 1234, 0), 0);
    assert_int_equal(find_from(w, "home/p"), -EPERM);
    assert_non_null(strstr(w->err.message, "uid 1234"));
    scratch_write(w->s, "home/q/package.json", ""); /* a planted manifest does not widen */
    scratch_mkdir(w->s, "home/q/r");
    assert_int_equal(fchownat(w->s->fd, "home/q/package.json", 1234, 1234, 0), 0);
    assert_int_equal(find_from(w, "home/q/r"), 0);
    assert_root(w, "home/q/r", "current directory");
}

static void test_rules(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "/",      "/home",    "/tmp",        "/var/tmp", "/usr",
        "/etc",   "/etc/x",   "/proc/1/cwd", "/dev",     "/dev/shm",
        "/sys/x", "/home/me", "/home",       "/boot",    "/usr/lib/node_modules",
        "/opt",
    };
    static const char *const fine[] = {
        "/home/me/p", "/home/me2",          "/tmp/x", "/usr/src/app", "/opt/app",   "/srv/www",
        "/dev/shm/x", "/var/lib/jenkins/w", "/app",   "/etcetera",    "/workspace", "/mnt/c/p",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_non_null(sbox_root_forbidden(refused[i], "/home/me"));
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        assert_null(sbox_root_forbidden(fine[i], "/home/me"));
    assert_non_null(sbox_root_forbidden("/home/me", NULL));
    assert_non_null(sbox_root_forbidden("/root", NULL));
    assert_null(sbox_root_forbidden("/home/me/p", NULL));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_locked_before_git_before_manifest_before_cwd),
        TEST(test_home_and_above_are_refused),
        TEST(test_home_behind_a_link),
        TEST(test_data_directory_and_root_are_apart),
        TEST(test_workspace_option),
        TEST(test_strange_current_directories),
        TEST(test_names_with_any_byte),
        TEST(test_parents_that_cannot_be_read),
        TEST(test_git_of_somebody_else),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
