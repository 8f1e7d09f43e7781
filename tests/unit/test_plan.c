#include "base/strv.h"
#include "net/layout.h"
#include "sandbox/build.h"
#include "unit/cmocka_all.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* The plan is pure: everything here is made up. */
struct world {
    struct sbox_root root;
    struct sbox_scan scan;
    struct sbox_facts facts;
    struct sbox_policy policy;
    struct sbox_plan plan;
};

static char root_path[] = "/home/u/w";
static char etc_link[] = "usr/lib";
static char tty[] = "/dev/pts/7";
static char git_text[] = "[user]\n";

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->root = (struct sbox_root){.path = root_path, .cwd = root_path, .fd = -1, .id = {7, 8}};
    w->facts.dirs[0].path = "/usr";
    w->facts.dirs[1].path = "/lib";
    w->facts.dirs[1].link = etc_link;
    w->facts.dir_count = 2;
    w->policy = (struct sbox_policy){
        .root = &w->root, .scan = &w->scan, .home = "/home/u", .data_path = "/home/u/data/sbox"};
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sbox_plan_release(&w->plan);
    free(w);
    return 0;
}

static void build(struct world *w)
{
    sbox_plan_release(&w->plan);
    assert_int_equal(sbox_plan_build(&w->policy, &w->facts, &w->plan, NULL), 0);
}

/* The place in the plan of the last step with that op and target (NULL: any), or -1. */
static long place_of(const struct world *w, enum sbox_op op, const char *target)
{
    for (size_t i = w->plan.count; i > 0; i--) {
        const struct sbox_step *s = &w->plan.steps[i - 1];
        if (s->op == op && (!target || (s->target && strcmp(s->target, target) == 0)))
            return (long)i - 1;
    }
    return -1;
}

static const struct sbox_step *step_of(const struct world *w, enum sbox_op op, const char *target)
{
    long at = place_of(w, op, target);
    if (at < 0)
        fail_msg("no step %s %s", sbox_op_text(op), target);
    return &w->plan.steps[at];
}

static bool is_read_only(const struct sbox_step *step)
{
    return step->attr & MOUNT_ATTR_RDONLY;
}

#define ORDER(w, first_op, first, then_op, then)     \
    assert_true(place_of(w, first_op, first) >= 0 && \
                place_of(w, first_op, first) < place_of(w, then_op, then))

/* --- the whole -------------------------------------------------------------------------------- */

static void phases_come_in_order(void **state)
{
    struct world *w = *state;
    struct sbox_protect protects[] = {
        {SBOX_PROTECT_MASK, root_path, {1, 2}, S_IFREG, "x", NULL},
        {SBOX_PROTECT_PIN, root_path, {1, 2}, S_IFDIR, "x", NULL},
    };
    w->policy.protects = protects;
    w->policy.protect_count = 2;
    build(w);
    enum sbox_phase phase = SBOX_PHASE_SETUP;
    for (size_t i = 0; i < w->plan.count; i++) {
        assert_true(sbox_op_phase(w->plan.steps[i].op) >= phase);
        phase = sbox_op_phase(w->plan.steps[i].op);
    }
    assert_int_equal(phase, SBOX_PHASE_COMMAND);
}

static void the_command_is_confined_in_order(void **state)
{
    struct world *w = *state;
    build(w);
    ORDER(w, SBOX_OP_CLOSE_FDS, NULL, SBOX_OP_NO_NEW_PRIVS, NULL);
    ORDER(w, SBOX_OP_NO_NEW_PRIVS, NULL, SBOX_OP_DROP_CAPS, NULL);
    ORDER(w, SBOX_OP_DROP_CAPS, NULL, SBOX_OP_SECCOMP, NULL);
    ORDER(w, SBOX_OP_SECCOMP, NULL, SBOX_OP_LANDLOCK, NULL);
    assert_int_equal(place_of(w, SBOX_OP_LANDLOCK, NULL), (long)w->plan.count - 1);
    uint64_t all = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                   CLONE_NEWUTS | CLONE_NEWCGROUP;
    assert_int_equal(w->plan.namespaces, all);
    assert_true(w->plan.undumpable);
    assert_false(w->plan.host_root);
}

static void the_system_is_read_only_and_private(void **state)
{
    struct world *w = *state;
    char *hidden[] = {root_path};
    w->facts.tty = tty;
    w->facts.git_config = git_text;
    w->facts.hidden = hidden;
    w->facts.hidden_count = 1;
    build(w);
    assert_true(is_read_only(step_of(w, SBOX_OP_BIND, "usr")));
    assert_int_equal(step_of(w, SBOX_OP_BIND, "usr")->grant, SBOX_GRANT_READ);
    assert_string_equal(step_of(w, SBOX_OP_SYMLINK, "lib")->source, "usr/lib");
    assert_int_equal(place_of(w, SBOX_OP_BIND, "lib"), -1);
    assert_string_equal(step_of(w, SBOX_OP_TTY, "dev/pts/7")->source, tty);
    assert_string_equal(step_of(w, SBOX_OP_FILE, "home/u/.gitconfig")->source, git_text);
    ORDER(w, SBOX_OP_BIND, "usr", SBOX_OP_HIDE, "home/u/w");
    ORDER(w, SBOX_OP_SYSCTL, NULL, SBOX_OP_SELF_RO, "proc/sys");
    ORDER(w, SBOX_OP_PROC, "proc", SBOX_OP_HIDE, "proc/kcore");
    assert_int_equal(step_of(w, SBOX_OP_SCRATCH, "tmp")->mode, 01777);
    for (size_t i = 0; i < w->plan.count; i++)
        if (w->plan.steps[i].op == SBOX_OP_BIND && w->plan.steps[i].grant != SBOX_GRANT_NONE)
            assert_true(is_read_only(&w->plan.steps[i]));
}

static char setting_text[] = "x=1\n";

static void settings_are_put_in_their_places(void **state)
{
    struct world *w = *state;
    w->facts.dirs[1].path = "/etc";
    w->facts.dirs[1].link = NULL;
    w->facts.settings[0] =
        (struct sbox_facts_setting){".config/pip/pip.conf", setting_text, true, "s"};
    w->facts.settings[1] = (struct sbox_facts_setting){".npmrc", NULL, true, "not understood"};
    w->facts.settings[2] = (struct sbox_facts_setting){"/etc/npmrc", setting_text, true, "s"};
    w->facts.settings[3] = (struct sbox_facts_setting){"/etc/pip.conf", NULL, true, "s"};
    w->facts.setting_count = 4;
    build(w);
    ORDER(w, SBOX_OP_SCRATCH, "home/u/.config", SBOX_OP_FILE, "home/u/.config/pip/pip.conf");
    assert_string_equal(step_of(w, SBOX_OP_FILE, "home/u/.config/pip/pip.conf")->source,
                        setting_text);
    assert_int_equal(place_of(w, SBOX_OP_FILE, "home/u/.npmrc"), -1);
    ORDER(w, SBOX_OP_BIND, "etc", SBOX_OP_REPLACE, "etc/npmrc");
    assert_string_equal(step_of(w, SBOX_OP_REPLACE, "etc/npmrc")->source, setting_text);
    assert_string_equal(step_of(w, SBOX_OP_REPLACE, "etc/pip.conf")->source, "");
    assert_true(is_read_only(step_of(w, SBOX_OP_REPLACE, "etc/npmrc")));
    w->facts.setting_count = 0;
}

static void filtered_files_lie_below_masks(void **state)
{
    struct world *w = *state;
    char path[] = ".npmrc";
    char git_path[] = ".git/config";
    struct sbox_protect protects[] = {
        {SBOX_PROTECT_MASK, path, {1, 2}, S_IFREG, "m", NULL},
        {SBOX_PROTECT_FILTER_GIT, git_path, {1, 3}, S_IFREG, "f", setting_text},
        {SBOX_PROTECT_FILTER, path, {1, 2}, S_IFREG, "f", setting_text},
        {SBOX_PROTECT_RO, path, {1, 2}, S_IFREG, "r", NULL},
    };
    w->policy.protects = protects;
    w->policy.protect_count = sizeof protects / sizeof *protects;
    build(w);
    ORDER(w, SBOX_OP_LOCK_RO, ".npmrc", SBOX_OP_FILTER, ".npmrc");
    ORDER(w, SBOX_OP_FILTER, ".npmrc", SBOX_OP_MASK, ".npmrc");
    const struct sbox_step *step = step_of(w, SBOX_OP_FILTER, ".npmrc");
    assert_string_equal(step->source, setting_text);
    assert_true(is_read_only(step));
    assert_int_equal(step->layer, SBOX_LAYER_MASKS);
    assert_int_equal(step_of(w, SBOX_OP_FILTER, ".git/config")->layer, SBOX_LAYER_GIT);
    assert_true(w->plan.guard);
}

static void home_may_be_missing(void **state)
{
    struct world *w = *state;
    w->policy.home = NULL;
    build(w);
    assert_int_equal(place_of(w, SBOX_OP_DIR, "home/u"), -1);
    assert_true(place_of(w, SBOX_OP_WORKSPACE, "home/u/w") >= 0);
}

/* --- the workspace ---------------------------------------------------------------------------- */

static void the_workspace_is_writable_and_known_by_identity(void **state)
{
    struct world *w = *state;
    build(w);
    const struct sbox_step *step = step_of(w, SBOX_OP_WORKSPACE, "home/u/w");
    assert_false(is_read_only(step));
    assert_int_equal(step->grant, SBOX_GRANT_WRITE);
    assert_true(sbox_fileid_equal(step->id, w->root.id));
    assert_string_equal(w->plan.workspace, "home/u/w");
    assert_false(w->plan.guard);
    ORDER(w, SBOX_OP_DIR, "home/u", SBOX_OP_WORKSPACE, "home/u/w");
}

static char env[] = ".env";
static char git[] = ".git";
static char git_config[] = ".git/config";
static char sub[] = "sub";
static char sub_env[] = "sub/.env";
static char sub_git[] = "sub/.git";
static char sub_2[] = "sub-2";

static void trees_then_pins_then_read_only_then_masks(void **state)
{
    struct world *w = *state;
    struct sbox_protect protects[] = {
        {SBOX_PROTECT_MASK, env, {1, 2}, S_IFREG | 0600, "m", NULL},
        {SBOX_PROTECT_RO, git_config, {3, 4}, S_IFREG | 0644, "r", NULL},
        {SBOX_PROTECT_PIN, git, {5, 6}, S_IFDIR | 0755, "p", NULL},
    };
    struct sbox_policy_tree trees[] = {
        {.path = "node_modules", .id = {9, 9}, .mode = S_IFDIR | 0750},
        {.path = "vendor", .id = {9, 10}, .mode = S_IFDIR | 0750, .real = true},
    };
    w->policy.protects = protects;
    w->policy.protect_count = 3;
    w->policy.trees = trees;
    w->policy.tree_count = 2;
    build(w);
    ORDER(w, SBOX_OP_WORKSPACE, NULL, SBOX_OP_OVERLAY, "node_modules");
    ORDER(w, SBOX_OP_OVERLAY, "node_modules", SBOX_OP_PIN, ".git");
    ORDER(w, SBOX_OP_PIN, ".git", SBOX_OP_LOCK_RO, ".git/config");
    ORDER(w, SBOX_OP_LOCK_RO, ".git/config", SBOX_OP_MASK, ".env");
    assert_int_equal(place_of(w, SBOX_OP_OVERLAY, "vendor"), -1);
    assert_true(is_read_only(step_of(w, SBOX_OP_LOCK_RO, ".git/config")));
    assert_false(is_read_only(step_of(w, SBOX_OP_PIN, ".git")));
    assert_true(sbox_fileid_equal(step_of(w, SBOX_OP_MASK, ".env")->id, protects[0].id));
    assert_int_equal(step_of(w, SBOX_OP_MASK, ".env")->mode, protects[0].mode);
    assert_int_equal(step_of(w, SBOX_OP_OVERLAY, "node_modules")->mode, S_IFDIR | 0750);
    assert_true(w->plan.guard);
}

/* There is nothing left to mount on below a masked directory: a step there would fail. */
static void what_lies_in_a_masked_directory_needs_no_step(void **state)
{
    struct world *w = *state;
    struct sbox_protect protects[] = {
        {SBOX_PROTECT_MASK, sub, {1, 2}, S_IFDIR | 0755, "--mask", NULL},
        {SBOX_PROTECT_MASK, sub_env, {1, 3}, S_IFREG | 0600, "m", NULL},
        {SBOX_PROTECT_PIN, sub_git, {1, 4}, S_IFDIR | 0755, "p", NULL},
        {SBOX_PROTECT_RO, sub_2, {1, 5}, S_IFDIR | 0755, "--ro", NULL},
    };
    struct sbox_policy_tree trees[] = {
        {.path = "sub/node_modules", .id = {9, 9}, .mode = S_IFDIR | 0755},
        {.path = "sub-2/node_modules", .id = {9, 8}, .mode = S_IFDIR | 0755},
    };
    w->policy.protects = protects;
    w->policy.protect_count = 4;
    w->policy.trees = trees;
    w->policy.tree_count = 2;
    build(w);
    assert_true(place_of(w, SBOX_OP_MASK, "sub") >= 0);
    assert_int_equal(place_of(w, SBOX_OP_MASK, "sub/.env"), -1);
    assert_int_equal(place_of(w, SBOX_OP_PIN, "sub/.git"), -1);
    assert_int_equal(place_of(w, SBOX_OP_OVERLAY, "sub/node_modules"), -1);
    assert_true(place_of(w, SBOX_OP_OVERLAY, "sub-2/node_modules") >= 0);
    assert_true(place_of(w, SBOX_OP_LOCK_RO, "sub-2") >= 0);
}

/* --- --ro, --rw, --mask ----------------------------------------------------------------------- */

static char a[] = "/srv/a";
static char a_b[] = "/srv/a/b";
static char a_2[] = "/srv/a-2";
static char home[] = "/home/u";
static char inside[] = "/home/u/w/sub";

static void the_most_protective_rule_wins_in_any_order(void **state)
{
    struct world *w = *state;
    struct sbox_policy_path paths[] = {
        {.path = a, .rule = SBOX_PATH_MASK, .mode = S_IFDIR},
        {.path = a, .rule = SBOX_PATH_RO, .mode = S_IFDIR},
        {.path = a, .rule = SBOX_PATH_RW, .mode = S_IFDIR},
    };
    w->policy.paths = paths;
    w->policy.path_count = 3;
    for (int order = 0; order < 2; order++) {
        build(w);
        for (size_t i = 0; i < w->plan.count; i++)
            if (w->plan.steps[i].op == SBOX_OP_BIND && strcmp(w->plan.steps[i].source, a) == 0)
                assert_true(is_read_only(&w->plan.steps[i]));
        ORDER(w, SBOX_OP_BIND, "srv/a", SBOX_OP_HIDE, "srv/a");
        struct sbox_policy_path first = paths[0];
        paths[0] = paths[2];
        paths[2] = first;
    }
}

static void ro_of_a_parent_holds_for_rw_below_it(void **state)
{
    struct world *w = *state;
    struct sbox_policy_path paths[] = {
        {.path = a_b, .rule = SBOX_PATH_RW, .mode = S_IFDIR},
        {.path = a_2, .rule = SBOX_PATH_RW, .mode = S_IFDIR},
        {.path = a, .rule = SBOX_PATH_RO, .mode = S_IFDIR},
    };
    w->policy.paths = paths;
    w->policy.path_count = 3;
    build(w);
    assert_true(is_read_only(step_of(w, SBOX_OP_BIND, "srv/a/b")));
    assert_int_equal(step_of(w, SBOX_OP_BIND, "srv/a/b")->grant, SBOX_GRANT_READ);
    assert_false(is_read_only(step_of(w, SBOX_OP_BIND, "srv/a-2")));
}

static void rw_of_a_parent_comes_before_what_lies_below(void **state)
{
    struct world *w = *state;
    struct sbox_policy_path paths[] = {
        {.path = a_b, .rule = SBOX_PATH_RO, .mode = S_IFDIR},
        {.path = a, .rule = SBOX_PATH_RW, .mode = S_IFDIR},
        {.path = home, .rule = SBOX_PATH_RO, .mode = S_IFDIR},
        {.path = inside, .rule = SBOX_PATH_RO, .mode = S_IFDIR},
    };
    w->policy.paths = paths;
    w->policy.path_count = 4;
    build(w);
    ORDER(w, SBOX_OP_BIND, "srv/a", SBOX_OP_BIND, "srv/a/b");
    assert_false(is_read_only(step_of(w, SBOX_OP_BIND, "srv/a")));
    assert_true(is_read_only(step_of(w, SBOX_OP_BIND, "srv/a/b")));
    /* The parent of the workspace, before the workspace; a part of the workspace is a protect. */
    ORDER(w, SBOX_OP_BIND, "home/u", SBOX_OP_WORKSPACE, "home/u/w");
    assert_int_equal(place_of(w, SBOX_OP_BIND, "home/u/w/sub"), -1);
    /* It holds the data directory, which stays hidden. */
    ORDER(w, SBOX_OP_BIND, "home/u", SBOX_OP_HIDE, "home/u/data/sbox");
    assert_int_equal(step_of(w, SBOX_OP_HIDE, "home/u/data/sbox")->layer, SBOX_LAYER_CORE);
}

/* --- the network ------------------------------------------------------------------------------ */

static char resolv[] = "/etc/resolv.conf";
static char stub[] = "/run/systemd/resolve/stub-resolv.conf";
static char host_text[] = "nameserver 127.0.0.53\n";
static const struct sbox_policy_network network = {.socket = -1};

static void names_are_asked_of_the_proxy_where_there_is_a_network(void **state)
{
    struct world *w = *state;
    w->facts.dirs[1].path = "/etc";
    w->facts.dirs[1].link = NULL;
    w->facts.resolv_conf = resolv;
    build(w);
    assert_int_equal(place_of(w, SBOX_OP_REPLACE, NULL), -1);
    w->policy.network = &network;
    build(w);
    const struct sbox_step *step = step_of(w, SBOX_OP_REPLACE, "etc/resolv.conf");
    assert_string_equal(step->source, SBOX_NET_RESOLV_CONF);
    assert_true(is_read_only(step));
    ORDER(w, SBOX_OP_BIND, "etc", SBOX_OP_REPLACE, "etc/resolv.conf");
    assert_true(w->plan.namespaces & CLONE_NEWNET);
    assert_false(w->plan.resolver_on_loopback);
    w->facts.resolv_conf = NULL;
    build(w);
    assert_int_equal(place_of(w, SBOX_OP_REPLACE, NULL), -1);
    assert_true(w->plan.resolver_on_loopback);
    w->policy.network = NULL;
    build(w);
    assert_false(w->plan.resolver_on_loopback);
}

/* Where the link leads is not shown: the text is put there, once, also if nothing is there. */
static void a_linked_resolv_conf_is_replaced_where_it_ends(void **state)
{
    struct world *w = *state;
    w->facts.resolv_conf = stub;
    w->policy.network = &network;
    build(w);
    assert_string_equal(step_of(w, SBOX_OP_FILE, stub + 1)->source, SBOX_NET_RESOLV_CONF);
    w->facts.files[0].path = stub;
    w->facts.files[0].data = host_text;
    w->facts.file_count = 1;
    build(w);
    assert_int_equal(place_of(w, SBOX_OP_REPLACE, NULL), -1);
    assert_string_equal(step_of(w, SBOX_OP_FILE, stub + 1)->source, SBOX_NET_RESOLV_CONF);
    size_t files = 0;
    for (size_t i = 0; i < w->plan.count; i++)
        files +=
            w->plan.steps[i].op == SBOX_OP_FILE && strcmp(w->plan.steps[i].target, stub + 1) == 0;
    assert_int_equal(files, 1);
    w->policy.network = NULL;
    build(w);
    assert_string_equal(step_of(w, SBOX_OP_FILE, stub + 1)->source, host_text);
}

static void ports_may_be_bound_inside_as_outside(void **state)
{
    static const char port[] = "sys/net/ipv4/ip_unprivileged_port_start";
    struct world *w = *state;
    w->facts.first_free_port = 1024;
    build(w);
    assert_int_equal(place_of(w, SBOX_OP_NET_SYSCTL, port), -1);
    w->facts.first_free_port = 80;
    build(w);
    assert_string_equal(step_of(w, SBOX_OP_NET_SYSCTL, port)->source, "80");
    ORDER(w, SBOX_OP_NET_SYSCTL, port, SBOX_OP_DROP_CAPS, NULL);
}

static void the_host_s_network_is_left_as_it_is(void **state)
{
    struct world *w = *state;
    w->facts.resolv_conf = resolv;
    w->facts.first_free_port = 80;
    w->policy.host_network = true;
    build(w);
    assert_int_equal(w->plan.namespaces & CLONE_NEWNET, 0);
    assert_int_equal(place_of(w, SBOX_OP_REPLACE, NULL), -1);
    assert_int_equal(place_of(w, SBOX_OP_NET_SYSCTL, "sys/net/ipv4/ip_unprivileged_port_start"),
                     -1);
}

/* --- layers ----------------------------------------------------------------------------------- */

static void a_dropped_layer_is_gone_and_core_is_not(void **state)
{
    struct world *w = *state;
    struct sbox_protect protects[] = {{SBOX_PROTECT_MASK, env, {1, 2}, S_IFREG, "m", NULL}};
    w->policy.protects = protects;
    w->policy.protect_count = 1;
    build(w);
    sbox_plan_drop_layer(&w->plan, SBOX_LAYER_MASKS);
    assert_int_equal(place_of(w, SBOX_OP_MASK, NULL), -1);
    sbox_plan_drop_layer(&w->plan, SBOX_LAYER_NETNS);
    assert_int_equal(w->plan.namespaces & CLONE_NEWNET, 0);
    sbox_plan_drop_layer(&w->plan, SBOX_LAYER_SECCOMP);
    assert_int_equal(place_of(w, SBOX_OP_SECCOMP, NULL), -1);
    assert_true(place_of(w, SBOX_OP_WORKSPACE, NULL) >= 0);
    for (int i = 0; i < SBOX_LAYER_COUNT; i++)
        assert_int_equal(sbox_layer_by_name(sbox_layer_name((enum sbox_layer)i)), i);
    assert_int_equal(sbox_layer_by_name("none"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(phases_come_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(the_command_is_confined_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(the_system_is_read_only_and_private, setup, teardown),
        cmocka_unit_test_setup_teardown(settings_are_put_in_their_places, setup, teardown),
        cmocka_unit_test_setup_teardown(filtered_files_lie_below_masks, setup, teardown),
        cmocka_unit_test_setup_teardown(home_may_be_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(the_workspace_is_writable_and_known_by_identity, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(trees_then_pins_then_read_only_then_masks, setup, teardown),
        cmocka_unit_test_setup_teardown(what_lies_in_a_masked_directory_needs_no_step, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_most_protective_rule_wins_in_any_order, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(ro_of_a_parent_holds_for_rw_below_it, setup, teardown),
        cmocka_unit_test_setup_teardown(rw_of_a_parent_comes_before_what_lies_below, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(names_are_asked_of_the_proxy_where_there_is_a_network,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_linked_resolv_conf_is_replaced_where_it_ends, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(ports_may_be_bound_inside_as_outside, setup, teardown),
        cmocka_unit_test_setup_teardown(the_host_s_network_is_left_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(a_dropped_layer_is_gone_and_core_is_not, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
