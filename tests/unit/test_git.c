/* Readers of git's files: what a hostile repository may hold. */
#include "project/git.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "unit/cmocka_all.h"

#include <fcntl.h>

static int collect(const char *key, const char *value, void *context)
{
    return sbox_strv_addf(context, "%s=%s", key, value ? value : "(none)");
}

static void expect_config(const char *text, const char *wanted)
{
    _cleanup_strv_ struct sbox_strv v = {0};
    int r = sbox_git_config_walk(text, strlen(text), collect, &v);
    if (!wanted) {
        assert_int_equal(r, -EBADMSG);
        return;
    }
    assert_int_equal(r, 0);
    assert_int_equal(v.count, 1);
    assert_string_equal(v.items[0], wanted);
}

static void test_config_syntax(void **state)
{
    (void)state;
    expect_config("[core]\n\tbare = false\n", "core.bare=false");
    expect_config("[Core] FSMonitor = x ; c\n", "core.fsmonitor=x");
    expect_config("[remote \"a.b\"]\nurl=\" x#y \" # c\n", "remote.a.b.url= x#y ");
    expect_config("[a \"q\\\"\\\\\"]\nk\n", "a.q\"\\.k=(none)");
    expect_config("[a]\nk = one \\\n two\n", "a.k=one  two");
    expect_config("[a]\nk = \"tab\\tend\"\n", "a.k=tab\tend");
    expect_config("\xef\xbb\xbf[a]\nk=v\r\n", "a.k=v");
    expect_config("k = v\n", NULL);
    expect_config("[a\nk = v\n", NULL);
    expect_config("[a]\nk = \"open\n", NULL);
    expect_config("[a]\nk = \\x\n", NULL);
    expect_config("[a]\n2 k ! v\n", NULL);
}

static void test_only_harmless_keys_pass(void **state)
{
    (void)state;
    static const char *const good[][2] = {{"core.bare", "false"},
                                          {"core.repositoryformatversion", "0"},
                                          {"remote.origin.url", "https://host.test/x.git"},
                                          {"remote.origin.url", "git@host.test:x.git"},
                                          {"remote.origin.fetch", "+refs/heads/*:refs/*"},
                                          {"branch.main.remote", "origin"},
                                          {"user.email", "a@b.test"}};
    static const char *const bad[][2] = {{"core.fsmonitor", "touch x"},
                                         {"core.hookspath", "."},
                                         {"core.sshcommand", "x"},
                                         {"core.bare", "true"},
                                         {"core.worktree", "/"},
                                         {"include.path", "x"},
                                         {"includeif.gitdir:/.path", "x"},
                                         {"filter.x.clean", "x"},
                                         {"diff.x.textconv", "x"},
                                         {"alias.status", "!x"},
                                         {"credential.helper", "!x"},
                                         {"remote.origin.url", "ext::sh -c x"},
                                         {"remote.origin.url", "--upload-pack=x"},
                                         {"remote.origin.uploadpack", "x"},
                                         {"submodule.x.update", "!x"},
                                         {"extensions.worktreeconfig", "true"},
                                         {"gpg.program", "x"},
                                         {"url.x.insteadof", "y"}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(sbox_git_config_key_harmless(good[i][0], good[i][1]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(sbox_git_config_key_harmless(bad[i][0], bad[i][1]));
}

static void test_git_files(void **state)
{
    (void)state;
    char *path = NULL;
    assert_int_equal(sbox_git_file_parse("gitdir: ../x\n", 13, &path), 0);
    assert_string_equal(path, "../x");
    free(path);
    assert_int_equal(sbox_git_file_parse("gitdir: \n", 9, &path), -EBADMSG);
    assert_int_equal(sbox_git_file_parse("gitdir: a\nb", 11, &path), -EBADMSG);
    assert_int_equal(sbox_git_file_parse("gitdir: a\0b", 11, &path), -EBADMSG);
    assert_int_equal(sbox_git_file_parse("dir: a", 6, &path), -EBADMSG);
}

/* One entry of version 2, by hand: 40 fixed bytes, the hash, flags, name, padding to 72. */
static void index_with(const char *name, struct sbox_buf *out)
{
    static const char zeros[64] = {0};
    sbox_buf_add(out, "DIRC\0\0\0\2\0\0\0\1", 12);
    size_t begun = out->size;
    sbox_buf_add(out, zeros, 24);
    sbox_buf_add(out, "\0\0\x81\xa4", 4);
    sbox_buf_add(out, zeros, 12 + 20 + 2);
    sbox_buf_add_str(out, name);
    do
        sbox_buf_add_byte(out, 0);
    while ((out->size - begun) % 8 != 0);
    sbox_buf_add(out, zeros, 20);
}

static int see(const char *path, size_t size, unsigned mode, void *context)
{
    return sbox_strv_addf(context, "%.*s %o", (int)size, path, mode);
}

static void test_index(void **state)
{
    (void)state;
    _cleanup_buf_ struct sbox_buf b = {0};
    _cleanup_strv_ struct sbox_strv v = {0};
    index_with("dir/.env", &b);
    assert_int_equal(sbox_git_index_walk(b.data, b.size, 20, see, &v, NULL), 0);
    assert_int_equal(v.count, 1);
    assert_string_equal(v.items[0], "dir/.env 100644");
    struct sbox_error err = SBOX_ERROR_INIT;
    for (size_t cut = 0; cut < b.size - 20; cut++)
        assert_int_equal(sbox_git_index_walk(b.data, cut, 20, see, &v, &err), -EBADMSG);
    b.data[7] = 5; /* a version nobody knows */
    assert_int_equal(sbox_git_index_walk(b.data, b.size, 20, see, &v, &err), -EBADMSG);
}

/* What git itself wrote: extended flags (v3), names that share their beginning (v4), long hashes.
 */
static void expect_index(const char *name, size_t hash_size, const char *wanted)
{
    char path[256];
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    _cleanup_strv_ struct sbox_strv v = {0};
    _cleanup_buf_ struct sbox_buf seen = {0};
    (void)snprintf(path, sizeof path, "%s/%s", CORPUS_GITINDEX, name);
    assert_int_equal(sbox_read_file_at(AT_FDCWD, path, 4096, &data, &size), 0);
    assert_int_equal(sbox_git_index_walk(data, size, hash_size, see, &v, NULL), 0);
    for (size_t i = 0; i < v.count; i++) {
        sbox_buf_add_str(&seen, i > 0 ? "," : "");
        sbox_buf_add_str(&seen, v.items[i]);
    }
    sbox_buf_add_byte(&seen, 0);
    assert_string_equal(seen.data, wanted);
}

#define FIFTY_Y "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"

static void test_indexes_of_git(void **state)
{
    (void)state;
    expect_index("v2", 20, ".env 100644,1796086115107033476 100644,2 100644,a/b/c 100644,l 120000");
    expect_index("v3", 20, ".env 100644,a/b/long-name 100644,a/x 100644,later 100644");
    expect_index("v4", 20,
                 ".env 100644,.env.local 100644,a/b/long-name 100644,a/b/long-other 100644,a/x "
                 "100644,l 120000");
    expect_index("v4-long", 20, "a/" FIFTY_Y FIFTY_Y FIFTY_Y " 100644,a/z 100644"); /* drops 150 */
    expect_index("sha256", 32, ".env 100644,a/b/long-name 100644,a/x 100644");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_syntax),  cmocka_unit_test(test_only_harmless_keys_pass),
        cmocka_unit_test(test_git_files),      cmocka_unit_test(test_index),
        cmocka_unit_test(test_indexes_of_git),
    };
    return cmocka_run_group_tests_name("git", tests, NULL, NULL);
}
