#include "base/cleanup.h"
#include "base/strv.h"
#include "project/git.h"
#include "sandbox/facts.h"
#include "unit/child.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* --- the system ------------------------------------------------------------------------------- */

static void system_directories_are_those_that_exist(void **state)
{
    (void)state;
    struct sbox_facts f = {0};
    assert_int_equal(sbox_facts_gather(NULL, &f, NULL), 0);
    assert_true(f.dir_count >= 2);
    for (size_t i = 0; i < f.dir_count; i++) {
        struct stat st;
        assert_int_equal(lstat(f.dirs[i].path, &st), 0);
        assert_int_equal(f.dirs[i].link != NULL, S_ISLNK(st.st_mode));
        char text[PATH_MAX] = "";
        if (f.dirs[i].link) {
            assert_true(readlink(f.dirs[i].path, text, sizeof text - 1) > 0);
            assert_string_equal(f.dirs[i].link, text);
        }
    }
    assert_string_equal(f.dirs[0].path, "/usr");
    assert_int_equal(f.uid, geteuid());
    assert_int_equal(f.gid, getegid());
    for (size_t i = 0; i < f.file_count; i++) {
        assert_int_equal(f.files[i].path[0], '/');
        assert_false(sbox_path_within(f.files[i].path, "/etc"));
        assert_false(sbox_path_within(f.files[i].path, "/usr"));
    }
    sbox_facts_release(&f);
    assert_null(f.tty);
}

static int gather_on_terminal(void *argument)
{
    const char *name = argument;
    struct sbox_facts f = {0};
    int terminal = open(name, O_RDWR | O_NOCTTY);
    int null = open("/dev/null", O_RDWR);
    CHECK(terminal >= 0 && null >= 0);
    CHECK(dup2(null, 0) == 0 && dup2(terminal, 1) == 1);
    CHECK(sbox_facts_gather(NULL, &f, NULL) == 0);
    CHECK(f.tty && strcmp(f.tty, name) == 0);
    sbox_facts_release(&f);
    CHECK(dup2(null, 1) == 1 && dup2(null, 2) == 2);
    CHECK(sbox_facts_gather(NULL, &f, NULL) == 0);
    CHECK(!f.tty);
    sbox_facts_release(&f);
    return 0;
}

static void the_terminal_is_the_first_of_the_three(void **state)
{
    (void)state;
    char name[64];
    _cleanup_close_ int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0);
    assert_int_equal(unlockpt(master), 0);
    assert_int_equal(ptsname_r(master, name, sizeof name), 0);
    assert_int_equal(chmod(name, 0666), 0);
    assert_int_equal(in_child(gather_on_terminal, name), 0);
}

/* --- what only root may read ------------------------------------------------------------------ */

static bool is_hidden(const struct sbox_facts *f, const char *path)
{
    for (size_t i = 0; i < f->hidden_count; i++)
        if (strcmp(f->hidden[i], path) == 0)
            return true;
    return false;
}

static void set_mode(const struct scratch *s, const char *name, mode_t mode)
{
    assert_int_equal(chmod(scratch_path(s, name), mode), 0);
}

static void what_others_may_not_read_is_listed(void **state)
{
    const struct scratch *s = *state;
    struct sbox_facts f = {0};
    scratch_write(s, "etc/public", "");
    scratch_write(s, "etc/shadow", "");
    scratch_write(s, "etc/sub/key", "");
    scratch_write(s, "etc/private/key", "");
    scratch_write(s, "etc/listable/file", "");
    scratch_link(s, "etc/link", "shadow");
    set_mode(s, "etc/public", 0644);
    set_mode(s, "etc/shadow", 0640);
    set_mode(s, "etc/sub", 0755);
    set_mode(s, "etc/sub/key", 0600);
    set_mode(s, "etc/private", 0710);
    set_mode(s, "etc/listable", 0754);
    assert_int_equal(sbox_facts_hidden(scratch_path(s, "etc"), &f, NULL), 0);
    assert_true(is_hidden(&f, scratch_path(s, "etc/shadow")));
    assert_true(is_hidden(&f, scratch_path(s, "etc/sub/key")));
    assert_true(is_hidden(&f, scratch_path(s, "etc/private")));
    assert_true(is_hidden(&f, scratch_path(s, "etc/listable")));
    assert_int_equal(f.hidden_count, 4);
    sbox_facts_release(&f);
}

static void more_than_can_be_listed_is_refused(void **state)
{
    const struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_facts f = {0};
    char name[32];
    for (int i = 0; i < SBOX_FACTS_HIDDEN_MAX; i++) {
        (void)snprintf(name, sizeof name, "etc/%d", i);
        scratch_write(s, name, "");
        set_mode(s, name, 0600);
    }
    assert_int_equal(sbox_facts_hidden(scratch_path(s, "etc"), &f, &err), 0);
    sbox_facts_release(&f);
    scratch_write(s, "etc/more", "");
    set_mode(s, "etc/more", 0600);
    assert_int_equal(sbox_facts_hidden(scratch_path(s, "etc"), &f, &err), -E2BIG);
    assert_non_null(strstr(err.message, "more than 256 files that only root may read"));
    sbox_facts_release(&f);
}

static void only_root_needs_the_list(void **state)
{
    (void)state;
    struct sbox_facts f = {0};
    assert_int_equal(sbox_facts_gather(NULL, &f, NULL), 0);
    if (geteuid() == 0)
        assert_true(is_hidden(&f, "/etc/shadow"));
    else
        assert_int_equal(f.hidden_count, 0);
    sbox_facts_release(&f);
}

/* --- settings of package clients -------------------------------------------------------------- */

static const struct sbox_facts_setting *setting_of(const struct sbox_facts *f, const char *path)
{
    for (size_t i = 0; i < f->setting_count; i++)
        if (strcmp(f->settings[i].path, path) == 0)
            return &f->settings[i];
    return NULL;
}

static void settings_come_without_their_logins(void **state)
{
    struct scratch *s = *state;
    struct sbox_facts f = {0};
    scratch_write(s, "home/.npmrc", "registry=https://r.example/\n_auth=abc\na=${T}\n");
    scratch_write(s, "home/.cargo/config.toml", "[net]\nretry = 5\n");
    scratch_write(s, "home/.config/pnpm/rc", "_auth=abc\n");
    scratch_write(s, "home/.yarnrc.yml", "just words\n");
    scratch_write(s, "home/.netrc", "machine h login u password p\n");
    scratch_write(s, "elsewhere", "[global]\nindex-url = https://u:p@h.example/s\n");
    scratch_mkdir(s, "home/.config/pip");
    scratch_link(s, "home/.config/pip/pip.conf", "../../../elsewhere");
    assert_int_equal(sbox_facts_conf(scratch_path(s, "home"), &f), 0);
    const struct sbox_facts_setting *npmrc = setting_of(&f, ".npmrc");
    assert_non_null(npmrc);
    assert_string_equal(npmrc->text, "registry=https://r.example/\n# left out by sbox\na=${T}\n");
    assert_true(npmrc->filtered);
    assert_string_equal(setting_of(&f, ".cargo/config.toml")->text, "[net]\nretry = 5\n");
    assert_false(setting_of(&f, ".cargo/config.toml")->filtered);
    assert_string_equal(setting_of(&f, ".config/pnpm/rc")->text, "# left out by sbox\n");
    assert_string_equal(setting_of(&f, ".config/pip/pip.conf")->text,
                        "[global]\nindex-url = https://h.example/s\n");
    assert_null(setting_of(&f, ".yarnrc.yml")->text);
    assert_non_null(setting_of(&f, ".yarnrc.yml")->why);
    assert_null(setting_of(&f, ".netrc"));
    assert_int_equal(f.conf_names.count, 1);
    assert_string_equal(f.conf_names.items[0], "T");
    sbox_facts_release(&f);
}

/* --- git's settings --------------------------------------------------------------------------- */

struct wanted {
    const char *key;
    const char *value;
    int found;
};

static int compare_setting(const char *key, const char *value, void *context)
{
    for (struct wanted *w = context; w->key; w++)
        if (strcmp(w->key, key) == 0 && value && strcmp(w->value, value) == 0)
            w->found++;
    return 0;
}

/* What is written is read back: the quoting holds only if the reader agrees. */
static void assert_settings(const char *text, struct wanted *wanted)
{
    assert_int_equal(sbox_git_config_walk(text, strlen(text), compare_setting, wanted), 0);
    for (; wanted->key; wanted++)
        if (wanted->found != 1)
            fail_msg("%s is not '%s' in:\n%s", wanted->key, wanted->value, text);
}

static void harmless_settings_are_kept_with_their_values(void **state)
{
    const struct scratch *s = *state;
    _cleanup_free_ char *text = NULL;
    scratch_write(s, ".config/git/config", "[init]\n defaultBranch = trunk\n");
    scratch_write(s, ".gitconfig",
                  "[user]\n name = \"A \\\"B\\\" \\\\ # ; C\"\n email = a@b.example\n"
                  "[pull]\n rebase = true\n[safe]\n directory = /w\n");
    assert_int_equal(sbox_facts_git_config(s->path, &text), 0);
    struct wanted wanted[] = {
        {"user.name", "A \"B\" \\ # ; C", 0}, {"user.email", "a@b.example", 0},
        {"init.defaultbranch", "trunk", 0},   {"pull.rebase", "true", 0},
        {"safe.directory", "/w", 0},          {"commit.gpgsign", "false", 0},
        {"tag.gpgsign", "false", 0},          {NULL, NULL, 0}};
    assert_settings(text, wanted);
}

static void what_runs_or_authenticates_is_not_kept(void **state)
{
    const struct scratch *s = *state;
    _cleanup_free_ char *text = NULL;
    scratch_write(s, ".gitconfig",
                  "[user]\n name = N\n signingkey = K\n[core]\n pager = P\n fsmonitor = F\n"
                  " sshCommand = S\n hooksPath = H\n attributesFile = T\n[alias]\n x = !A\n"
                  "[credential]\n helper = C\n[credential \"https://h.example\"]\n helper = D\n"
                  "[include]\n path = I\n[filter \"lfs\"]\n clean = L\n[gpg]\n program = G\n"
                  "[url \"https://user:secret@h.example/\"]\n insteadOf = U\n"
                  "[http]\n extraHeader = X\n[commit]\n gpgsign = true\n");
    assert_int_equal(sbox_facts_git_config(s->path, &text), 0);
    assert_string_equal(text, "[user]\n\tname = \"N\"\n"
                              "[commit]\n\tgpgsign = false\n[tag]\n\tgpgsign = false\n");
}

static void absent_and_broken_settings_are_no_error(void **state)
{
    const struct scratch *s = *state;
    char *text = NULL;
    assert_int_equal(sbox_facts_git_config(s->path, &text), 0);
    assert_null(text);
    scratch_write(s, ".gitconfig", "[user\nname");
    assert_int_equal(sbox_facts_git_config(s->path, &text), 0);
    assert_null(text);
    scratch_remove(s, ".gitconfig");
    assert_int_equal(mkfifoat(s->fd, ".gitconfig", 0600), 0);
    assert_int_equal(sbox_facts_git_config(s->path, &text), 0);
    assert_null(text);
}

static void hosts_lead_to_this_machine_alone(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *shown; /* NULL: as it is */
    } rows[] = {
        {"", NULL},
        {"127.0.0.1 localhost\n::1 localhost ip6-localhost # both\n", NULL},
        {"ff02::1 ip6-allnodes\n0.0.0.0 ads.test\n\n# nothing\n", NULL},
        {"127.0.0.1 localhost\n10.0.0.5 db.test\n", "127.0.0.1 localhost\n"},
        {"203.0.113.9\tbox.test box\n", "127.0.1.1 box.test\n127.0.1.1 box\n"},
        {"203.0.113.9 box2 boxer\n", ""},
        {"203.0.113.9 db.test # box\n", ""},
        {"fe80::1%lo x\n", ""},
        {"2001:db8::1 x", ""},
        {"x y\r\n127.1 z\n", ""},
        {"127.0.0.1 localhost", "127.0.0.1 localhost\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_buf out = {0};
        bool changed = sbox_hosts_inside(rows[i].text, "box", &out);
        const char *shown = rows[i].shown ? rows[i].shown : rows[i].text;
        assert_int_equal(out.size, strlen(shown));
        assert_memory_equal(out.data ? (char *)out.data : "", shown, out.size);
        if (rows[i].shown == NULL)
            assert_false(changed);
        sbox_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_lead_to_this_machine_alone),
        cmocka_unit_test(system_directories_are_those_that_exist),
        cmocka_unit_test(the_terminal_is_the_first_of_the_three),
        cmocka_unit_test_setup_teardown(what_others_may_not_read_is_listed, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(more_than_can_be_listed_is_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(only_root_needs_the_list),
        cmocka_unit_test_setup_teardown(settings_come_without_their_logins, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(harmless_settings_are_kept_with_their_values, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(what_runs_or_authenticates_is_not_kept, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(absent_and_broken_settings_are_no_error, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
