/* Shortcuts: which files count, who vouches for a host, and when the client is asked. */
#include "cli/shortcut.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>

struct world {
    struct scratch *s;
    struct sbox_root root;
    char *home;
    int data_fd;
    const char *client;
    struct sbox_shortcut found;
    struct sbox_error err;
};

static const char *answer;
static int asked;

static int ask(const char *const *argv, char **ret)
{
    asked++;
    assert_non_null(argv[0]);
    if (!answer)
        return -ENOENT;
    *ret = strdup(answer);
    return 0;
}

static int setup(void **state)
{
    int r = scratch_setup(state);
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->s = *state;
    scratch_mkdir(w->s, "w");
    scratch_mkdir(w->s, "home");
    scratch_mkdir(w->s, "bin");
    scratch_write(w->s, "bin/npm", "");
    assert_int_equal(chmod(scratch_path(w->s, "bin/npm"), 0755), 0);
    assert_int_equal(setenv("PATH", scratch_path(w->s, "bin"), 1), 0);
    w->root.path = strdup(scratch_path(w->s, "w"));
    w->root.cwd = strdup(w->root.path);
    w->home = strdup(scratch_path(w->s, "home"));
    w->root.fd = open(w->root.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    w->data_fd = -1;
    answer = NULL;
    asked = 0;
    (void)unsetenv("npm_config_registry");
    *state = w;
    return r;
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *scratch = w->s;
    sbox_shortcut_release(&w->found);
    sbox_root_release(&w->root);
    free(w->home);
    free(w);
    return scratch_teardown(&scratch);
}

static int hosts(struct world *w, const char *word)
{
    sbox_shortcut_release(&w->found);
    w->err = SBOX_ERROR_INIT;
    const struct sbox_shortcut_asking asking = {
        .ask = ask, .data_fd = w->data_fd, .client = w->client};
    return sbox_shortcut_hosts(word, &w->root, w->home, &asking, &w->found, &w->err);
}

static void expect(struct world *w, const char *word, const char *joined)
{
    char text[1024] = "";
    assert_int_equal(hosts(w, word), 0);
    for (size_t i = 0; i < w->found.hosts.count; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s ",
                       w->found.hosts.items[i],
                       sbox_strv_contains(&w->found.workspace, w->found.hosts.items[i]) ? "?" : "");
    assert_string_equal(text, joined);
    assert_int_equal(w->found.why.count, w->found.hosts.count);
}

static void the_client_is_asked_when_nothing_names_its_registry(void **state)
{
    struct world *w = *state;
    answer = "warning\nhttps://r.example/npm/\n";
    expect(w, "@npm", "r.example:443 ");
    assert_int_equal(asked, 1);
    assert_non_null(strstr(w->found.why.items[0], "npm itself"));
    /* A registry for one scope, or a lockfile, is not the client's own. */
    scratch_write(w->s, "home/.npmrc", "@a:registry=https://a.example/\n");
    scratch_write(w->s, "w/package-lock.json", "{\"x\":{\"resolved\":\"https://l.example/x\"}}");
    expect(w, "@npm", "a.example:443 l.example:443? r.example:443 ");
    assert_int_equal(asked, 2);
    scratch_write(w->s, "home/.npmrc", "registry=https://a.example/\n");
    expect(w, "@npm", "a.example:443 l.example:443? ");
    assert_int_equal(asked, 2);
}

/* Its archives come from its own registry, whatever npm's settings say. */
static void yarn_is_asked_when_it_is_the_command(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "bin/yarn", "");
    assert_int_equal(chmod(scratch_path(w->s, "bin/yarn"), 0755), 0);
    assert_int_equal(setenv("npm_config_registry", "https://npm.example/", 1), 0);
    answer = "https://yarn.example\n";
    expect(w, "@npm", "npm.example:443 ");
    w->client = "npm";
    expect(w, "@npm", "npm.example:443 ");
    assert_int_equal(asked, 0);
    w->client = "yarn";
    expect(w, "@npm", "npm.example:443 yarn.example:443 ");
    assert_int_equal(asked, 1);
    answer = "undefined\n";
    expect(w, "@npm", "npm.example:443 ");
    assert_int_equal(asked, 3);
    (void)unsetenv("npm_config_registry");
}

static void an_answer_is_kept_while_the_client_is_the_same(void **state)
{
    struct world *w = *state;
    scratch_mkdir(w->s, "data");
    w->data_fd = open(scratch_path(w->s, "data"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(w->data_fd >= 0);
    answer = "https://r.example/";
    expect(w, "@npm", "r.example:443 ");
    answer = "https://s.example/";
    expect(w, "@npm", "r.example:443 ");
    assert_int_equal(asked, 1);
    scratch_write(w->s, "bin/npm", "another"); /* an upgrade */
    assert_int_equal(chmod(scratch_path(w->s, "bin/npm"), 0755), 0);
    expect(w, "@npm", "s.example:443 ");
    assert_int_equal(asked, 2);
    scratch_write(w->s, "etc/npmrc", "x"); /* settings beside it */
    answer = "https://t.example/";
    expect(w, "@npm", "t.example:443 ");
    assert_int_equal(setenv("NPM_CONFIG_USERCONFIG", "/x", 1), 0);
    answer = "https://u.example/";
    expect(w, "@npm", "u.example:443 ");
    (void)unsetenv("NPM_CONFIG_USERCONFIG");
    expect(w, "@npm", "t.example:443 ");
    scratch_write(w->s, "data/clients", "nonsense\n\t\n");
    expect(w, "@npm", "u.example:443 ");
    (void)close(w->data_fd);
}

static void the_environment_counts(void **state)
{
    struct world *w = *state;
    assert_int_equal(setenv("npm_config_registry", "https://u:p@e.example:1/", 1), 0);
    expect(w, "@npm", "e.example:1 ");
    assert_int_equal(asked, 0);
    (void)unsetenv("npm_config_registry");
}

static void a_host_that_the_user_names_too_is_the_users(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.npmrc", "registry=https://a.example/\n");
    expect(w, "@npm", "a.example:443? ");
    scratch_write(w->s, "home/.npmrc", "registry=https://a.example/\n");
    expect(w, "@npm", "a.example:443 ");
}

static void the_workspace_names_no_private_address(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/.npmrc",
                  "registry=http://169.254.169.254/\na:registry=http://127.1/\n"
                  "b:registry=http://2130706433/\nc:registry=http://[::1]:80/\n"
                  "d:registry=http://[::ffff:10.0.0.1]/\ne:registry=https://ok.example/\n");
    expect(w, "@npm", "ok.example:443? ");
    scratch_write(w->s, "home/.npmrc", "registry=http://10.0.0.1:4873/\n");
    expect(w, "@npm", "ok.example:443? 10.0.0.1:4873 ");
}

static void links_of_the_workspace_are_not_followed(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "elsewhere", "registry=https://a.example/\n");
    scratch_link(w->s, "w/.npmrc", "../elsewhere");
    assert_int_equal(hosts(w, "@npm"), -ENOENT);
    assert_non_null(strstr(w->err.message, "@npm: nothing names a host"));
    assert_non_null(strstr(w->err.message, ".npmrc"));
}

static void each_word_has_its_files(void **state)
{
    struct world *w = *state;
    scratch_write(w->s, "w/yarn.lock", "a@1:\n  resolved \"https://y.example/a\"\n");
    scratch_write(w->s, "w/pnpm-lock.yaml", "  resolution: {tarball: https://p.example/a.tgz}\n");
    expect(w, "@npm", "y.example:443? p.example:443? ");
    scratch_write(w->s, "w/requirements-dev.txt", "--index-url https://r.example/simple\nx==1\n");
    scratch_write(w->s, "w/uv.lock", "source = { registry = \"https://u.example/simple\" }\n");
    scratch_write(w->s, "w/Pipfile.lock",
                  "{\"_meta\":{\"sources\":[{\"url\":\"https://f.example\"}]}}");
    scratch_write(w->s, "w/poetry.lock", "[package.source]\nurl = \"https://o.example/x\"\n");
    scratch_mkdir(w->s, "home/.config/pip");
    scratch_write(w->s, "home/.config/pip/pip.conf",
                  "[global]\nextra-index-url =\n  https://h.example/simple\n");
    expect(w, "@pip", "h.example:443 r.example:443? u.example:443? o.example:443? f.example:443? ");
    scratch_write(w->s, "w/Cargo.lock", "source = \"registry+https://c.example/index\"\n");
    scratch_mkdir(w->s, "w/.cargo");
    scratch_write(w->s, "w/.cargo/config.toml", "[source.x]\nregistry = \"https://d.example\"\n");
    expect(w, "@cargo", "d.example:443? c.example:443? ");
    scratch_mkdir(w->s, "w/.git");
    scratch_write(w->s, "w/.git/config", "[remote \"o\"]\n\turl = git@g.example:o/r\n");
    scratch_write(w->s, "w/.gitmodules", "[submodule \"m\"]\n\turl = https://m.example/m\n");
    expect(w, "@git", "g.example:22? m.example:443? ");
}

static void the_directory_of_the_command_counts_beside_the_root(void **state)
{
    struct world *w = *state;
    scratch_mkdir(w->s, "w/packages/a");
    scratch_write(w->s, "w/packages/a/.npmrc", "registry=https://a.example/\n");
    assert_int_equal(hosts(w, "@npm"), -ENOENT);
    free(w->root.cwd);
    w->root.cwd = strdup(scratch_path(w->s, "w/packages/a"));
    expect(w, "@npm", "a.example:443? ");
}

static void unknown_words_and_too_many_hosts_are_refused(void **state)
{
    struct world *w = *state;
    _cleanup_buf_ struct sbox_buf text = {0};
    assert_int_equal(hosts(w, "@nmp"), -EINVAL);
    assert_non_null(strstr(w->err.message, "@cargo"));
    for (int i = 0; i <= SBOX_SHORTCUT_HOSTS_MAX; i++)
        sbox_buf_addf(&text, "registry=https://h%d.example\n", i);
    sbox_buf_add_byte(&text, 0);
    scratch_write(w->s, "w/.npmrc", text.data);
    assert_int_equal(hosts(w, "@npm"), -E2BIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(yarn_is_asked_when_it_is_the_command, setup, teardown),
        cmocka_unit_test_setup_teardown(the_client_is_asked_when_nothing_names_its_registry, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_answer_is_kept_while_the_client_is_the_same, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_environment_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(a_host_that_the_user_names_too_is_the_users, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_workspace_names_no_private_address, setup, teardown),
        cmocka_unit_test_setup_teardown(links_of_the_workspace_are_not_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(each_word_has_its_files, setup, teardown),
        cmocka_unit_test_setup_teardown(the_directory_of_the_command_counts_beside_the_root, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(unknown_words_and_too_many_hosts_are_refused, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
