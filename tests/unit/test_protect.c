#include "base/cleanup.h"
#include "base/strv.h"
#include "sandbox/protect.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* The workspace is scratch/w; what is gathered is shown as lines "KIND path", sorted. */
struct world {
    struct scratch *s;
    struct sbox_root root;
    struct sbox_scan scan;
    struct sbox_policy_path paths[4];
    size_t path_count;
    struct sbox_protects list;
    struct sbox_error err;
};

static int setup(void **state)
{
    struct stat st;
    int r = scratch_setup(state);
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->s = *state;
    scratch_mkdir(w->s, "w");
    w->root.path = strdup(scratch_path(w->s, "w"));
    w->root.cwd = strdup(w->root.path);
    w->root.fd = open(w->root.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(fstat(w->root.fd, &st), 0);
    w->root.id = sbox_fileid_of(&st);
    *state = w;
    return r;
}

static void forget(struct world *w)
{
    sbox_protects_release(&w->list);
    sbox_scan_release(&w->scan);
    w->scan = (struct sbox_scan){0};
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *scratch = w->s;
    forget(w);
    for (size_t i = 0; i < w->path_count; i++)
        free(w->paths[i].path);
    sbox_root_release(&w->root);
    free(w);
    return scratch_teardown(&scratch);
}

static void scan(struct world *w)
{
    struct sbox_scan_request request = {.root_fd = w->root.fd, .project_dirfd = -1};
    forget(w);
    assert_int_equal(sbox_scan_run(&request, &w->scan, &w->err), 0);
}

static int gather(struct world *w, bool allow_env)
{
    return sbox_protects_gather(&w->root, &w->scan, w->paths, w->path_count, allow_env, &w->list,
                                &w->err);
}

static void gather_all(struct world *w)
{
    scan(w);
    assert_int_equal(gather(w, false), 0);
}

static void add_rule(struct world *w, enum sbox_path_rule rule, const char *name)
{
    struct stat st;
    struct sbox_policy_path *p = &w->paths[w->path_count++];
    p->path = strdup(scratch_path(w->s, name));
    assert_int_equal(lstat(p->path, &st), 0);
    p->rule = rule;
    p->mode = st.st_mode;
    p->id = sbox_fileid_of(&st);
}

static const struct sbox_protect *find(const struct world *w, enum sbox_protect_kind kind,
                                       const char *path)
{
    for (size_t i = 0; i < w->list.count; i++)
        if (w->list.items[i].kind == kind && strcmp(w->list.items[i].path, path) == 0)
            return &w->list.items[i];
    return NULL;
}

#define assert_masked(w, path)     assert_non_null(find(w, SBOX_PROTECT_MASK, path))
#define assert_not_masked(w, path) assert_null(find(w, SBOX_PROTECT_MASK, path))
#define assert_ro(w, path)         assert_non_null(find(w, SBOX_PROTECT_RO, path))
#define assert_not_ro(w, path)     assert_null(find(w, SBOX_PROTECT_RO, path))
#define assert_pinned(w, path)     assert_non_null(find(w, SBOX_PROTECT_PIN, path))
#define assert_not_pinned(w, path) assert_null(find(w, SBOX_PROTECT_PIN, path))

/* --- secrets ---------------------------------------------------------------------------------- */

static void secrets_are_masked_with_their_identity(void **state)
{
    struct world *w = *state;
    struct stat st;
    scratch_write(w->s, "w/.env", "K=1");
    scratch_write(w->s, "w/a/.env.local", "K=1");
    scratch_write(w->s, "w/plain", "");
    gather_all(w);
    assert_int_equal(w->list.count, 2);
    assert_masked(w, "a/.env.local");
    const struct sbox_protect *mask = find(w, SBOX_PROTECT_MASK, ".env");
    assert_non_null(mask);
    assert_int_equal(lstat(scratch_path(w->s, "w/.env"), &st), 0);
    assert_true(sbox_fileid_equal(mask->id, sbox_fileid_of(&st)));
    assert_int_equal(mask->mode, st.st_mode);
    assert_false(w->list.secret_linked);
    assert_false(w->list.secret_tracked);
}

static void allow_env_and_unmask_show_secrets(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.env", "K=1");
    scratch_write(w->s, "w/a/.env", "K=1");
    scan(w);
    assert_int_equal(gather(w, true), 0);
    assert_int_equal(w->list.count, 0);
    add_rule(w, SBOX_PATH_UNMASK, "w/a/.env");
    gather_all(w);
    assert_masked(w, ".env");
    assert_not_masked(w, "a/.env");
}

static const char *text_of(const struct world *w, enum sbox_protect_kind kind, const char *path)
{
    const struct sbox_protect *p = find(w, kind, path);
    return p ? p->text : NULL;
}

#define NPMRC      "x=1\n_auth=abc\n"
#define NPMRC_LEFT "x=1\n# left out by sbox\n"

static void settings_are_filtered_at_any_depth(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.npmrc", NPMRC);
    scratch_write(w->s, "w/a/b/.npmrc", NPMRC);
    scratch_write(w->s, "w/clean/.npmrc", "x=1\n_authToken=${T}\n");
    scratch_write(w->s, "w/.netrc", "machine h login u password p");
    scratch_write(w->s, "w/empty/.netrc", "");
    scratch_write(w->s, "w/.yarnrc.yml", "just words\n");
    scratch_write(w->s, "w/.cargo/config.toml", "token = \"x\"\n");
    scratch_write(w->s, "w/src/config.toml", "token = \"x\"\n");
    scratch_mkdir(w->s, "w/dir/.npmrc");
    gather_all(w);
    assert_string_equal(text_of(w, SBOX_PROTECT_FILTER, ".npmrc"), NPMRC_LEFT);
    assert_string_equal(text_of(w, SBOX_PROTECT_FILTER, "a/b/.npmrc"), NPMRC_LEFT);
    assert_string_equal(text_of(w, SBOX_PROTECT_FILTER, ".cargo/config.toml"),
                        "# left out by sbox\n");
    assert_masked(w, ".netrc");
    assert_masked(w, ".yarnrc.yml");
    assert_int_equal(w->list.count, 5);
    assert_int_equal(w->list.conf_names.count, 1);
    assert_string_equal(w->list.conf_names.items[0], "T");
}

static void settings_too_large_or_closed_are_masked(void **state)
{
    struct world *w = *state;
    char *text = calloc(1, SBOX_CONF_MAX + 2);
    assert_non_null(text);
    memset(text, '\n', SBOX_CONF_MAX + 1);
    scratch_write(w->s, "w/a/.npmrc", text);
    scratch_write(w->s, "w/b/.npmrc", NPMRC);
    assert_int_equal(chmod(scratch_path(w->s, "w/b/.npmrc"), 0), 0);
    gather_all(w);
    assert_masked(w, "a/.npmrc");
    if (geteuid() != 0)
        assert_masked(w, "b/.npmrc");
    else
        assert_non_null(find(w, SBOX_PROTECT_FILTER, "b/.npmrc"));
    free(text);
}

/* What a link leads to is covered where it lies; a link that leaves the workspace shows nothing. */
static void settings_behind_links(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/real/rc", NPMRC);
    scratch_write(w->s, "outside/rc", NPMRC);
    scratch_link(w->s, "w/.npmrc", "real/rc");
    scratch_link(w->s, "w/a/.npmrc", "../../outside/rc");
    scratch_link(w->s, "w/b/.npmrc", "nowhere");
    gather_all(w);
    assert_string_equal(text_of(w, SBOX_PROTECT_FILTER, "real/rc"), NPMRC_LEFT);
    assert_int_equal(w->list.count, 1);
}

static void settings_are_shown_on_demand_and_a_mask_wins(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.npmrc", NPMRC);
    scratch_write(w->s, "w/a/.npmrc", NPMRC);
    scan(w);
    assert_int_equal(gather(w, true), 0);
    assert_int_equal(w->list.count, 0);
    add_rule(w, SBOX_PATH_UNMASK, "w/a/.npmrc");
    add_rule(w, SBOX_PATH_MASK, "w/.npmrc");
    gather_all(w);
    assert_int_equal(w->list.count, 1);
    assert_masked(w, ".npmrc");
}

static void gits_config_is_filtered_where_it_holds_a_login(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.git/HEAD", "ref: refs/heads/main\n");
    scratch_write(w->s, "w/.git/config", "[remote \"o\"]\n\turl = https://u:p@h.example/r\n");
    scratch_write(w->s, "w/.git/config.worktree", "[core]\n\tbare = false\n");
    scratch_write(w->s, "w/.git/modules/m/HEAD", "ref: refs/heads/main\n");
    scratch_write(w->s, "w/.git/modules/m/config", "not understood");
    gather_all(w);
    assert_string_equal(text_of(w, SBOX_PROTECT_FILTER_GIT, ".git/config"),
                        "[remote \"o\"]\n\turl = \"https://h.example/r\"\n");
    assert_not_ro(w, ".git/config");
    assert_ro(w, ".git/config.worktree");
    assert_string_equal(text_of(w, SBOX_PROTECT_FILTER_GIT, ".git/modules/m/config"), "");
    scan(w);
    assert_int_equal(gather(w, true), 0);
    assert_ro(w, ".git/config");
    assert_null(find(w, SBOX_PROTECT_FILTER_GIT, ".git/config"));
}

static void mask_beats_unmask(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.env", "K=1");
    add_rule(w, SBOX_PATH_UNMASK, "w/.env");
    add_rule(w, SBOX_PATH_MASK, "w/.env");
    gather_all(w);
    assert_masked(w, ".env");
}

static struct sbox_scan_entry *entry_of(struct world *w, const char *path)
{
    for (size_t i = 0; i < w->scan.count; i++)
        if (strcmp(w->scan.entries[i].path, path) == 0)
            return &w->scan.entries[i];
    fail_msg("the scan did not find %s", path);
    return NULL;
}

static void only_a_tracked_template_is_shown(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.env.example", "K=");
    gather_all(w);
    assert_masked(w, ".env.example");
    sbox_protects_release(&w->list);
    entry_of(w, ".env.example")->tracked = true;
    assert_int_equal(gather(w, false), 0);
    assert_not_masked(w, ".env.example");
    assert_false(w->list.secret_tracked);
}

static void tracked_and_linked_secrets_are_told(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.env", "K=1");
    assert_int_equal(linkat(w->s->fd, "w/.env", w->s->fd, "w/copy", 0), 0);
    scan(w);
    entry_of(w, ".env")->tracked = true;
    assert_int_equal(gather(w, false), 0);
    assert_masked(w, ".env");
    assert_true(w->list.secret_tracked);
    assert_string_equal(w->list.tracked_example, ".env");
    assert_true(w->list.secret_linked);
    assert_string_equal(w->list.linked_example, ".env");
}

static void what_a_masked_link_leads_to_is_masked(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/conf/secret", "K=1");
    scratch_write(w->s, "w/conf/second", "K=1");
    scratch_write(w->s, "w/conf/third", "K=1");
    scratch_link(w->s, "w/.env", "conf/secret");
    scratch_link(w->s, "w/.env.abs", scratch_path(w->s, "w/conf/second"));
    /* A relative link to an absolute one. */
    scratch_link(w->s, "w/conf/hop", scratch_path(w->s, "w/conf/third"));
    scratch_link(w->s, "w/.env.hops", "conf/hop");
    gather_all(w);
    assert_masked(w, ".env");
    assert_masked(w, "conf/secret");
    assert_masked(w, "conf/second");
    assert_masked(w, "conf/third");
}

static void links_hide_neither_outside_nor_repositories(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "outside", "K=1");
    scratch_write(w->s, "w/.git/config", "");
    scratch_write(w->s, "w/node_modules/a/index.js", "");
    scratch_write(w->s, "w/sub/.git/config", "");
    scratch_link(w->s, "w/.env", scratch_path(w->s, "outside"));
    scratch_link(w->s, "w/.env.git", ".git");
    scratch_link(w->s, "w/.env.config", ".git/config");
    scratch_link(w->s, "w/.env.tree", "node_modules/a/index.js");
    scratch_link(w->s, "w/.env.sub", "sub");
    scratch_link(w->s, "w/.env.root", ".");
    scratch_link(w->s, "w/.env.none", "nothing");
    gather_all(w);
    for (size_t i = 0; i < w->list.count; i++)
        if (w->list.items[i].kind == SBOX_PROTECT_MASK)
            assert_true(sbox_str_starts(w->list.items[i].path, ".env"));
    assert_masked(w, ".env.none");
}

/* --- sockets ---------------------------------------------------------------------------------- */

static int bind_at(const char *path, int type)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    (void)snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static void only_live_sockets_are_masked(void **state)
{
    struct world *w = *state;
    _cleanup_close_ int stream = bind_at(scratch_path(w->s, "w/stream"), SOCK_STREAM);
    _cleanup_close_ int datagram = bind_at(scratch_path(w->s, "w/datagram"), SOCK_DGRAM);
    assert_true(datagram >= 0);
    assert_int_equal(listen(stream, 1), 0);
    sbox_close(bind_at(scratch_path(w->s, "w/stale"), SOCK_STREAM));
    sbox_close(bind_at(scratch_path(w->s, "w/stale-datagram"), SOCK_DGRAM));
    gather_all(w);
    assert_masked(w, "stream");
    assert_masked(w, "datagram");
    assert_not_masked(w, "stale");
    assert_not_masked(w, "stale-datagram");
}

/* --- git -------------------------------------------------------------------------------------- */

static void git_internals_that_exist_become_read_only(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.git/HEAD", "ref: refs/heads/main");
    scratch_write(w->s, "w/.git/config", "");
    scratch_mkdir(w->s, "w/.git/hooks");
    gather_all(w);
    assert_pinned(w, ".git");
    assert_ro(w, ".git/config");
    assert_ro(w, ".git/hooks");
    assert_int_equal(w->list.count, 3);
}

static void attributes_pin_their_directory(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.git/info/attributes", "");
    scratch_write(w->s, "w/.git/config.worktree", "");
    scratch_write(w->s, "w/.git/commondir", "");
    gather_all(w);
    assert_ro(w, ".git/info/attributes");
    assert_pinned(w, ".git/info");
    assert_ro(w, ".git/config.worktree");
    assert_ro(w, ".git/commondir");
}

static void submodules_at_any_depth_are_protected(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.git/modules/a/config", "");
    scratch_write(w->s, "w/.git/modules/a/HEAD", "");
    scratch_write(w->s, "w/.git/modules/a/modules/b/config", "");
    scratch_mkdir(w->s, "w/.git/modules/a/modules/b/hooks");
    scratch_write(w->s, "w/.git/modules/x/y/config", "");
    scratch_write(w->s, "w/.git/modules/a/below/config", "");
    gather_all(w);
    assert_ro(w, ".git/modules/a/config");
    assert_ro(w, ".git/modules/a/modules/b/config");
    assert_ro(w, ".git/modules/a/modules/b/hooks");
    assert_ro(w, ".git/modules/x/y/config");
    assert_ro(w, ".git/modules/a/below/config");
    assert_pinned(w, ".git/modules");
    assert_pinned(w, ".git/modules/a");
    assert_pinned(w, ".git/modules/a/modules");
    assert_pinned(w, ".git/modules/a/modules/b");
    assert_pinned(w, ".git/modules/x");
    assert_pinned(w, ".git/modules/x/y");
}

/* A command could remove HEAD in one run and change the config in the next. */
static void a_submodule_without_head_is_protected(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.git/modules/a/config", "");
    scratch_write(w->s, "w/.git/modules/a/objects/01/config", "");
    gather_all(w);
    assert_ro(w, ".git/modules/a/config");
    assert_pinned(w, ".git/modules/a");
    assert_not_ro(w, ".git/modules/a/objects/01/config");
    assert_not_pinned(w, ".git/modules/a/objects");
}

static void what_linked_worktrees_obey_is_protected(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.git/worktrees/t/commondir", "../..");
    scratch_write(w->s, "w/.git/worktrees/t/gitdir", "/t/.git");
    scratch_write(w->s, "w/.git/worktrees/t/index", "");
    gather_all(w);
    assert_ro(w, ".git/worktrees/t/commondir");
    assert_ro(w, ".git/worktrees/t/gitdir");
    assert_not_ro(w, ".git/worktrees/t/index");
    assert_pinned(w, ".git/worktrees");
    assert_pinned(w, ".git/worktrees/t");
}

static void a_git_file_is_read_only(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/sub/.git", "gitdir: ../.git/modules/sub\n");
    gather_all(w);
    assert_ro(w, "sub/.git");
    assert_int_equal(w->list.count, 1);
}

static void hooks_that_are_a_link_are_held_where_they_lie(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/tools/git/hooks/pre-commit", "");
    scratch_mkdir(w->s, "w/.git");
    scratch_link(w->s, "w/.git/hooks", "../tools/git/hooks");
    gather_all(w);
    assert_ro(w, ".git/hooks");
    assert_ro(w, "tools/git/hooks");
    assert_pinned(w, "tools/git");
    assert_pinned(w, "tools");
}

static void a_dangling_git_link_is_refused_and_one_outside_is_not(void **state)
{
    struct world *w = *state;
    scratch_mkdir(w->s, "w/.git");
    scratch_mkdir(w->s, "outside");
    scratch_link(w->s, "w/.git/hooks", scratch_path(w->s, "outside"));
    gather_all(w);
    assert_ro(w, ".git/hooks");
    scratch_remove(w->s, "w/.git/hooks");
    scratch_link(w->s, "w/.git/hooks", "../later");
    scan(w);
    assert_int_equal(gather(w, false), -ENOENT);
    assert_non_null(strstr(w->err.message, "'.git/hooks' is a link that leads nowhere"));
}

static void a_git_link_protects_the_repository_it_leads_to(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/store/repo/config", "");
    scratch_link(w->s, "w/.git", "store/repo");
    gather_all(w);
    assert_ro(w, ".git");
    assert_ro(w, "store/repo/config");
    assert_pinned(w, "store/repo");
    assert_pinned(w, "store");
}

static void too_deep_is_refused(void **state)
{
    struct world *w = *state;
    char name[256] = "w/.git/modules";
    for (size_t at = strlen(name); at < 80; at += 2)
        (void)snprintf(name + at, sizeof name - at, "/d");
    scratch_mkdir(w->s, name);
    scan(w);
    assert_int_equal(gather(w, false), -E2BIG);
    assert_non_null(strstr(w->err.message, "too deep"));
}

/* --- paths and order -------------------------------------------------------------------------- */

static void rules_inside_become_entries(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/a", "");
    scratch_write(w->s, "w/b", "");
    scratch_write(w->s, "w/c", "");
    scratch_link(w->s, "w/link", "c");
    add_rule(w, SBOX_PATH_RO, "w/a");
    add_rule(w, SBOX_PATH_RW, "w/b");
    add_rule(w, SBOX_PATH_MASK, "w/link");
    add_rule(w, SBOX_PATH_RO, "w");
    gather_all(w);
    assert_ro(w, "a");
    assert_masked(w, "link");
    assert_masked(w, "c");
    assert_int_equal(w->list.count, 3);
}

static void entries_are_sorted_and_named_once(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/z/.env", "");
    scratch_write(w->s, "w/a/.env", "");
    scratch_write(w->s, "w/.env", "");
    scratch_link(w->s, "w/.env.two", ".env");
    add_rule(w, SBOX_PATH_MASK, "w/.env");
    gather_all(w);
    assert_int_equal(w->list.count, 4);
    for (size_t i = 1; i < w->list.count; i++)
        assert_true(strcmp(w->list.items[i - 1].path, w->list.items[i].path) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(secrets_are_masked_with_their_identity, setup, teardown),
        cmocka_unit_test_setup_teardown(allow_env_and_unmask_show_secrets, setup, teardown),
        cmocka_unit_test_setup_teardown(settings_are_filtered_at_any_depth, setup, teardown),
        cmocka_unit_test_setup_teardown(settings_too_large_or_closed_are_masked, setup, teardown),
        cmocka_unit_test_setup_teardown(settings_behind_links, setup, teardown),
        cmocka_unit_test_setup_teardown(settings_are_shown_on_demand_and_a_mask_wins, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(gits_config_is_filtered_where_it_holds_a_login, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(mask_beats_unmask, setup, teardown),
        cmocka_unit_test_setup_teardown(only_a_tracked_template_is_shown, setup, teardown),
        cmocka_unit_test_setup_teardown(tracked_and_linked_secrets_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_masked_link_leads_to_is_masked, setup, teardown),
        cmocka_unit_test_setup_teardown(links_hide_neither_outside_nor_repositories, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(only_live_sockets_are_masked, setup, teardown),
        cmocka_unit_test_setup_teardown(git_internals_that_exist_become_read_only, setup, teardown),
        cmocka_unit_test_setup_teardown(attributes_pin_their_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(submodules_at_any_depth_are_protected, setup, teardown),
        cmocka_unit_test_setup_teardown(a_submodule_without_head_is_protected, setup, teardown),
        cmocka_unit_test_setup_teardown(what_linked_worktrees_obey_is_protected, setup, teardown),
        cmocka_unit_test_setup_teardown(a_git_file_is_read_only, setup, teardown),
        cmocka_unit_test_setup_teardown(hooks_that_are_a_link_are_held_where_they_lie, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_dangling_git_link_is_refused_and_one_outside_is_not,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_git_link_protects_the_repository_it_leads_to, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(too_deep_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(rules_inside_become_entries, setup, teardown),
        cmocka_unit_test_setup_teardown(entries_are_sorted_and_named_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
