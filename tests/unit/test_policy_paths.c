#include "sandbox/policy_paths.h"
#include "unit/child.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

/* The workspace is scratch/w, the data directory scratch/data/sbox. */
struct world {
    struct scratch *s;
    struct sbox_root root;
    char *data;
    struct sbox_policy_path path;
    struct sbox_error err;
};

static int setup(void **state)
{
    struct stat st;
    int r = scratch_setup(state);
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->s = *state;
    scratch_mkdir(w->s, "w/sub");
    scratch_mkdir(w->s, "data/sbox/projects");
    scratch_write(w->s, "w/file", "");
    scratch_write(w->s, "outside/file", "");
    w->data = strdup(scratch_path(w->s, "data/sbox"));
    w->root.path = strdup(scratch_path(w->s, "w"));
    w->root.cwd = strdup(scratch_path(w->s, "w/sub"));
    w->root.fd = open(w->root.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(fstat(w->root.fd, &st), 0);
    w->root.id = sbox_fileid_of(&st);
    *state = w;
    return r;
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *scratch = w->s;
    free(w->path.path);
    free(w->data);
    sbox_root_release(&w->root);
    free(w);
    return scratch_teardown(&scratch);
}

static int resolve(struct world *w, enum sbox_path_rule rule, const char *typed)
{
    free(w->path.path);
    w->path = (struct sbox_policy_path){0};
    w->err = SBOX_ERROR_INIT;
    return sbox_policy_path_resolve(&w->root, w->data, typed, rule, &w->path, &w->err);
}

static void assert_leads_to(struct world *w, enum sbox_path_rule rule, const char *typed,
                            const char *name)
{
    struct stat st;
    if (resolve(w, rule, typed) != 0)
        fail_msg("%s", w->err.message);
    assert_string_equal(w->path.path, scratch_path(w->s, name));
    assert_int_equal(lstat(w->path.path, &st), 0);
    assert_true(sbox_fileid_equal(w->path.id, sbox_fileid_of(&st)));
    assert_int_equal(w->path.mode, st.st_mode);
    assert_int_equal(w->path.rule, rule);
}

static void assert_refused(struct world *w, enum sbox_path_rule rule, const char *typed, int code,
                           const char *why)
{
    int r = resolve(w, rule, typed);
    if (r != -code || !strstr(w->err.message, why))
        fail_msg("'%s': %d, %s", typed, r, w->err.message);
    assert_null(w->path.path);
}

static void paths_are_made_absolute_and_canonical(void **state)
{
    struct world *w = *state;
    assert_leads_to(w, SBOX_PATH_RO, "../file", "w/file");
    assert_leads_to(w, SBOX_PATH_MASK, ".//../sub/", "w/sub");
    assert_leads_to(w, SBOX_PATH_RW, "../../outside/./file", "outside/file");
    assert_leads_to(w, SBOX_PATH_RO, scratch_path(w->s, "w/../outside"), "outside");
    assert_leads_to(w, SBOX_PATH_UNMASK, "../file", "w/file");
}

static void what_does_not_exist_is_named(void **state)
{
    struct world *w = *state;
    assert_refused(w, SBOX_PATH_MASK, "nothing", ENOENT, "--mask 'nothing': No such file");
    assert_refused(w, SBOX_PATH_RO, "/nothing/x", ENOENT, "--ro '/nothing/x'");
    assert_refused(w, SBOX_PATH_RW, "", EINVAL, "--rw");
    assert_refused(w, SBOX_PATH_RO, "../file/x", ENOTDIR, "--ro");
}

static void a_users_link_is_followed(void **state)
{
    struct world *w = *state;
    scratch_link(w->s, "link", "outside");
    scratch_link(w->s, "to-workspace", "w");
    scratch_link(w->s, "loop", "loop");
    assert_leads_to(w, SBOX_PATH_RO, scratch_path(w->s, "link/file"), "outside/file");
    assert_leads_to(w, SBOX_PATH_MASK, scratch_path(w->s, "to-workspace/file"), "w/file");
    /* As the kernel takes "..": from where the link leads. */
    scratch_link(w->s, "other/deep", "../outside");
    assert_leads_to(w, SBOX_PATH_RO, scratch_path(w->s, "other/deep/../outside"), "outside");
    assert_refused(w, SBOX_PATH_RO, scratch_path(w->s, "loop"), ELOOP, "--ro");
}

static void a_planted_link_is_not_followed(void **state)
{
    struct world *w = *state;
    scratch_link(w->s, "w/planted", scratch_path(w->s, "outside"));
    scratch_link(w->s, "to-workspace", "w");
    scratch_link(w->s, "to-planted", "w/planted");
    assert_refused(w, SBOX_PATH_RO, "../planted", ELOOP, "not followed");
    assert_refused(w, SBOX_PATH_RW, "../planted/file", ELOOP, "not followed");
    assert_refused(w, SBOX_PATH_MASK, "../planted/file", ELOOP, "not followed");
    /* Neither by a way that begins outside. */
    assert_refused(w, SBOX_PATH_RO, scratch_path(w->s, "to-workspace/planted"), ELOOP, "followed");
    assert_refused(w, SBOX_PATH_RO, scratch_path(w->s, "to-planted"), ELOOP, "not followed");
    assert_refused(w, SBOX_PATH_RO, scratch_path(w->s, "w/planted/../outside"), ELOOP, "followed");
}

static void a_link_in_the_workspace_can_be_masked(void **state)
{
    struct world *w = *state;
    scratch_link(w->s, "w/link", "file");
    assert_leads_to(w, SBOX_PATH_MASK, "../link", "w/link");
    assert_true(S_ISLNK(w->path.mode));
    assert_leads_to(w, SBOX_PATH_UNMASK, "../link", "w/link");
}

static void the_workspace_itself(void **state)
{
    struct world *w = *state;
    assert_leads_to(w, SBOX_PATH_RO, "..", "w");
    assert_leads_to(w, SBOX_PATH_RW, "..", "w");
    assert_refused(w, SBOX_PATH_MASK, "..", EINVAL, "workspace itself");
    assert_refused(w, SBOX_PATH_UNMASK, "..", EINVAL, "workspace itself");
    assert_refused(w, SBOX_PATH_MASK, "../..", EINVAL, "holds the workspace");
    assert_leads_to(w, SBOX_PATH_RO, "../..", "");
}

static void the_root_and_kernel_directories_are_refused(void **state)
{
    struct world *w = *state;
    static const enum sbox_path_rule rules[] = {SBOX_PATH_RO, SBOX_PATH_RW, SBOX_PATH_MASK};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        assert_refused(w, rules[i], "/", EPERM, "root directory");
        assert_refused(w, rules[i], "/proc", EPERM, "its own /proc");
        assert_refused(w, rules[i], "/proc/sys", EPERM, "its own /proc");
        assert_refused(w, rules[i], "/dev/null", EPERM, "its own /dev");
        assert_refused(w, rules[i], "/sys", EPERM, "its own /sys");
    }
    scratch_link(w->s, "hidden", "/proc");
    assert_refused(w, SBOX_PATH_RO, scratch_path(w->s, "hidden"), EPERM, "its own /proc");
    assert_refused(w, SBOX_PATH_UNMASK, "../../outside", EINVAL, "outside the workspace");
}

static void the_data_directory_is_refused(void **state)
{
    struct world *w = *state;
    assert_refused(w, SBOX_PATH_RO, "../../data/sbox", EPERM, "never visible");
    assert_refused(w, SBOX_PATH_RO, "../../data/sbox/projects", EPERM, "never visible");
    assert_refused(w, SBOX_PATH_RW, "../../data/sbox", EPERM, "never visible");
    assert_refused(w, SBOX_PATH_RW, "../../data", EPERM, "holds sbox's own data");
    scratch_mkdir(w->s, "data/sbox-2");
    assert_leads_to(w, SBOX_PATH_RW, "../../data/sbox-2", "data/sbox-2");
    /* Read-only: the plan hides the data directory in it. */
    assert_leads_to(w, SBOX_PATH_RO, "../../data", "data");
}

/* --- the workspace through another mount ------------------------------------------------------ */

static int bind_over(const struct world *w, const char *from, const char *to)
{
    return mount(scratch_path(w->s, from), scratch_path(w->s, to), NULL, MS_BIND, NULL);
}

/* The workspace is opened anew: a descriptor stays with the mounts of the namespace it is from. */
static int in_own_namespace(struct world *w)
{
    unsigned flags = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS;
    if (unshare((int)flags) < 0)
        return -1;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -1;
    (void)close(w->root.fd);
    w->root.fd = open(w->root.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return w->root.fd < 0 ? -1 : 0;
}

static bool second_name(struct world *w, enum sbox_path_rule rule, const char *name)
{
    return resolve(w, rule, scratch_path(w->s, name)) == -EPERM &&
           strstr(w->err.message, "a second time");
}

static int look_for_second_names(struct world *w)
{
    CHECK(in_own_namespace(w) == 0);
    CHECK(bind_over(w, "w", "alias") == 0);
    CHECK(bind_over(w, "w/sub", "mnt/part") == 0);
    CHECK(bind_over(w, ".", "whole") == 0);
    CHECK(second_name(w, SBOX_PATH_RO, "alias"));
    CHECK(second_name(w, SBOX_PATH_RW, "alias"));
    CHECK(second_name(w, SBOX_PATH_RO, "alias/sub"));
    CHECK(second_name(w, SBOX_PATH_RO, "whole"));
    CHECK(second_name(w, SBOX_PATH_RO, "whole/w/sub"));
    CHECK(second_name(w, SBOX_PATH_RO, "mnt/part"));
    /* Not the workspace itself, but it comes with what is mounted below. */
    CHECK(second_name(w, SBOX_PATH_RO, "mnt"));
    CHECK(second_name(w, SBOX_PATH_RO, "."));
    CHECK(resolve(w, SBOX_PATH_RO, scratch_path(w->s, "whole/outside")) == 0);
    CHECK(resolve(w, SBOX_PATH_MASK, scratch_path(w->s, "alias")) == 0);
    return 0;
}

static void a_second_name_of_the_workspace_is_refused(void **state)
{
    struct world *w = *state;
    scratch_mkdir(w->s, "alias");
    scratch_mkdir(w->s, "mnt/part");
    scratch_mkdir(w->s, "whole");
    assert_leads_to(w, SBOX_PATH_RO, scratch_path(w->s, "alias"), "alias");
    assert_leads_to(w, SBOX_PATH_RO, w->s->path, "");
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(look_for_second_names(w));
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int look_at_own_mounts(struct world *w)
{
    CHECK(in_own_namespace(w) == 0);
    CHECK(bind_over(w, "outside", "w/sub") == 0);
    CHECK(bind_over(w, "w/sub", "w/sub") == 0);
    CHECK(resolve(w, SBOX_PATH_RO, w->s->path) == 0);
    CHECK(resolve(w, SBOX_PATH_RO, scratch_path(w->s, "outside")) == 0);
    return 0;
}

/* What is mounted in the workspace is part of it, and not a second name. */
static void mounts_in_the_workspace_are_fine(void **state)
{
    struct world *w = *state;
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(look_at_own_mounts(w));
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paths_are_made_absolute_and_canonical, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_exist_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(a_users_link_is_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_planted_link_is_not_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_link_in_the_workspace_can_be_masked, setup, teardown),
        cmocka_unit_test_setup_teardown(the_workspace_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(the_root_and_kernel_directories_are_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_data_directory_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_name_of_the_workspace_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(mounts_in_the_workspace_are_fine, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
