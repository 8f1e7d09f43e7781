#include "base/cleanup.h"
#include "sandbox/quarantine.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>

/* What the "command" did is done between the scan and sbox_quarantine_run. */
struct world {
    struct scratch *s;
    struct sbox_root root;
    struct sbox_scan before;
    struct sbox_protect protect;
    int project;
    struct sbox_strv moved;
};

static const char harmful[] = "[core]\n\tfsmonitor = touch x\n";

static int setup(void **state)
{
    int r = scratch_setup(state);
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->s = *state;
    scratch_write(w->s, "w/.git/HEAD", "ref: refs/heads/main\n");
    scratch_write(w->s, "w/.git/config", "");
    scratch_mkdir(w->s, "project");
    w->root.path = strdup(scratch_path(w->s, "w"));
    w->root.cwd = strdup(w->root.path);
    w->root.fd = openat(w->s->fd, "w", O_PATH | O_DIRECTORY | O_CLOEXEC);
    w->project = openat(w->s->fd, "project", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(w->root.fd >= 0 && w->project >= 0);
    *state = w;
    return r;
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *scratch = w->s;
    sbox_scan_release(&w->before);
    sbox_root_release(&w->root);
    sbox_strv_release(&w->moved);
    sbox_close(w->project);
    free(w);
    return scratch_teardown(&scratch);
}

static void scan_before(struct world *w)
{
    struct sbox_scan_request request = {.root_fd = w->root.fd, .project_dirfd = -1};
    assert_int_equal(sbox_scan_run(&request, &w->before, NULL), 0);
}

static size_t judge(struct world *w)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    if (sbox_quarantine_run(&w->root, &w->before, &w->protect, w->protect.path ? 1 : 0, w->project,
                            &w->moved, &err) < 0)
        fail_msg("%s", err.message);
    return w->moved.count;
}

static void assert_only_moved(struct world *w, const char *path)
{
    assert_int_equal(judge(w), 1);
    assert_string_equal(w->moved.items[0], path);
    struct stat st;
    assert_int_equal(fstatat(w->root.fd, path, &st, AT_SYMLINK_NOFOLLOW), -1);
}

static void write_git_file(const struct world *w, const char *name, const char *target)
{
    char text[512];
    (void)snprintf(text, sizeof text, "gitdir: %s\n", target);
    scratch_write(w->s, name, text);
}

static void new_repositories_are_judged_by_their_config(void **state)
{
    struct world *w = *state;
    scan_before(w);
    scratch_write(w->s, "w/good/.git/HEAD", "");
    scratch_write(w->s, "w/good/.git/config", "[core]\n\tbare = false\n");
    scratch_write(w->s, "w/good/.git/hooks/pre-commit.sample", "");
    scratch_write(w->s, "w/bad/.git/config", harmful);
    assert_only_moved(w, "bad/.git");
}

static void a_work_tree_as_git_makes_it_stays(void **state)
{
    struct world *w = *state;
    scan_before(w);
    scratch_write(w->s, "w/.git/worktrees/t/commondir", "../..\n");
    write_git_file(w, "w/t/.git", scratch_path(w->s, "w/.git/worktrees/t"));
    scratch_write(w->s, "w/.git/worktrees/u/commondir", "../..\n");
    write_git_file(w, "w/a/u/.git", "../../.git/worktrees/u");
    assert_int_equal(judge(w), 0);
}

static void a_work_tree_that_borrows_another_config_leaves(void **state)
{
    struct world *w = *state;
    scan_before(w);
    scratch_write(w->s, "w/evil/config", harmful);
    scratch_write(w->s, "w/.git/worktrees/t/commondir", scratch_path(w->s, "w/evil"));
    write_git_file(w, "w/t/.git", scratch_path(w->s, "w/.git/worktrees/t"));
    assert_only_moved(w, "t/.git");
}

static void a_work_tree_with_its_own_config_leaves(void **state)
{
    struct world *w = *state;
    scan_before(w);
    scratch_write(w->s, "w/.git/worktrees/t/commondir", "../..\n");
    scratch_write(w->s, "w/.git/worktrees/t/config.worktree", harmful);
    write_git_file(w, "w/t/.git", scratch_path(w->s, "w/.git/worktrees/t"));
    assert_only_moved(w, "t/.git");
}

static void a_git_file_into_any_place_of_git_is_judged(void **state)
{
    struct world *w = *state;
    scan_before(w);
    scratch_write(w->s, "w/.git/elsewhere/config", harmful);
    write_git_file(w, "w/sub/.git", scratch_path(w->s, "w/.git/elsewhere"));
    assert_only_moved(w, "sub/.git");
}

static void a_submodule_that_is_a_link_leaves(void **state)
{
    struct world *w = *state;
    scan_before(w);
    scratch_write(w->s, "w/evil/config", harmful);
    scratch_mkdir(w->s, "w/.git/modules");
    scratch_link(w->s, "w/.git/modules/x", "../../evil");
    write_git_file(w, "w/sub/.git", "../.git/modules/x");
    assert_only_moved(w, "sub/.git");
}

static void dots_and_outside_are_refused(void **state)
{
    struct world *w = *state;
    scan_before(w);
    scratch_write(w->s, "evil/config", "");
    write_git_file(w, "w/a/.git", "../.git/modules/../../../evil");
    assert_only_moved(w, "a/.git");
    sbox_strv_release(&w->moved);
    write_git_file(w, "w/b/.git", scratch_path(w->s, "evil"));
    assert_only_moved(w, "b/.git");
}

/* It was there, and led nowhere: the command made what it leads to. */
static void a_stale_git_file_that_leads_somewhere_now_leaves(void **state)
{
    struct world *w = *state;
    write_git_file(w, "w/sub/.git", "../.git/modules/x");
    write_git_file(w, "w/stale/.git", "../.git/worktrees/stale");
    write_git_file(w, "w/own/.git", "../arrangement");
    scratch_write(w->s, "w/arrangement/config", harmful);
    scan_before(w);
    scratch_write(w->s, "w/evil/config", harmful);
    scratch_mkdir(w->s, "w/.git/modules");
    scratch_link(w->s, "w/.git/modules/x", "../../evil");
    assert_only_moved(w, "sub/.git");
}

static void what_was_protected_is_not_judged(void **state)
{
    struct world *w = *state;
    char config[] = ".git/modules/x/config";
    scratch_write(w->s, "w/.git/modules/x/HEAD", "");
    scratch_write(w->s, "w/.git/modules/x/config", harmful);
    write_git_file(w, "w/sub/.git", "../.git/modules/x");
    scan_before(w);
    w->protect = (struct sbox_protect){.kind = SBOX_PROTECT_RO, .path = config};
    assert_int_equal(judge(w), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(new_repositories_are_judged_by_their_config, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_work_tree_as_git_makes_it_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(a_work_tree_that_borrows_another_config_leaves, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_work_tree_with_its_own_config_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(a_git_file_into_any_place_of_git_is_judged, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_submodule_that_is_a_link_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(dots_and_outside_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stale_git_file_that_leads_somewhere_now_leaves, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_was_protected_is_not_judged, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
