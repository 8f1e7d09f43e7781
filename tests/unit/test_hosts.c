/* Hosts in settings and lockfiles. */
#include "project/hosts.h"

#include "base/buf.h"
#include "base/strv.h"
#include "unit/cmocka_all.h"

static int add(const char *host, bool setting, void *context)
{
    struct sbox_buf *out = context;
    sbox_buf_addf(out, "%s%s ", host, setting ? "!" : "");
    return 0;
}

static void expect_buf(struct sbox_buf *out, const char *hosts)
{
    sbox_buf_add_byte(out, 0);
    assert_string_equal(out->data, hosts);
    sbox_buf_release(out);
}

static void expect_text(const char *text, const char *hosts)
{
    struct sbox_buf out = {0};
    assert_int_equal(sbox_hosts_in_text(text, strlen(text), add, &out), 0);
    expect_buf(&out, hosts);
}

static void test_urls(void **state)
{
    (void)state;
    expect_text("https://a.example", "a.example:443 ");
    expect_text("http://A.Example/x", "a.example:80 ");
    expect_text("https://a.example:8443/x", "a.example:8443 ");
    expect_text("git+ssh://git@a.example/x.git#v1", "a.example:22 ");
    expect_text("git://a.example/x", "a.example:9418 ");
    expect_text("sparse+https://a.example/index/", "a.example:443 ");
    expect_text("https://u:p@a.example@b.example/", "b.example:443 ");
    expect_text("https://[2001:db8::1]:8080/x", "[2001:db8::1]:8080 ");
    expect_text("https://[2001:db8::1]/x", "[2001:db8::1]:443 ");
    expect_text("(https://a.example), \"https://b.example\"", "a.example:443 b.example:443 ");
    expect_text("https://10.0.0.1/", "10.0.0.1:443 ");
    expect_text("https://a.example:", "a.example:443 ");
    /* none */
    expect_text("", "");
    expect_text("://", "");
    expect_text("https://", "");
    expect_text("file:///etc/x ftp://a.example xhttps://a.example", "");
    expect_text("https://a.example:99999/ https://a.example:1x/ https://a.example:0/", "");
    expect_text("https://a%2eexample/ https://[::1 https://[] https://${HOST}/", "");
    expect_text("https://a\xc3\xa4.example/", "");
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        const char *hosts;
    } rows[] = {
        {"git@a.example:o/r.git", "a.example:22 "},
        {"a.example:o/r", "a.example:22 "},
        {"ssh://git@a.example:2222/r", "a.example:2222 "},
        {"/srv/git/r.git", ""},
        {"../r", ""},
        {"./a:b", ""},
        {"x/a@b.example:c", ""},
        {"", ""},
        {"https://a.example/r", "a.example:443 "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_buf out = {0};
        assert_int_equal(sbox_hosts_in_value(rows[i].value, strlen(rows[i].value), true, add, &out),
                         0);
        expect_buf(&out, rows[i].hosts);
    }
    struct sbox_buf out = {0};
    assert_int_equal(sbox_hosts_in_value("git@a.example:r", 15, false, add, &out), 0);
    expect_buf(&out, "");
}

static void expect_lines(const struct sbox_hosts_reader *reader, const char *text,
                         const char *hosts)
{
    struct sbox_buf out = {0};
    assert_int_equal(sbox_hosts_in_lines(reader, text, strlen(text), add, &out), 0);
    expect_buf(&out, hosts);
}

static void test_lines(void **state)
{
    (void)state;
    static const char *const registry[] = {"registry", NULL};
    static const char *const index[] = {"index", "find-links", NULL};
    static const char *const resolved[] = {"resolved", NULL};
    const struct sbox_hosts_reader npm = {registry, "registry", false};
    const struct sbox_hosts_reader pip = {index, "index-url", true};
    const struct sbox_hosts_reader lock = {resolved, NULL, false};
    const struct sbox_hosts_reader any = {NULL, "--index-url", false};
    expect_lines(&npm,
                 "registry=https://a.example/\n@x:registry = \"https://b.example\"\n"
                 "; registry=https://no.example\nproxy=https://no.example\n"
                 "homepage=https://no.example/registry\n",
                 "a.example:443! b.example:443 ");
    expect_lines(&npm, "Registry \"https://a.example/\"", "a.example:443! ");
    expect_lines(&npm, "registry-x=https://a.example/", "a.example:443 ");
    expect_lines(&pip,
                 "[global]\nindex-url = https://a.example/simple\nextra-index-url =\n"
                 "    https://b.example/simple\n\n    https://c.example/simple\n"
                 "proxy = https://no.example\n    https://no.example\n",
                 "a.example:443! b.example:443 c.example:443 ");
    expect_lines(&lock,
                 "# yarn lockfile v1\n\na@^1:\n  version \"1.0.0\"\n"
                 "  resolved \"https://a.example/a.tgz#1\"\n  funding \"https://no.example\"\n",
                 "a.example:443 ");
    expect_lines(&any,
                 "--index-url https://a.example/simple\n# https://no.example\n"
                 "x @ git+https://b.example/x\ny==1\n",
                 "a.example:443! b.example:443 ");
}

static void test_git(void **state)
{
    (void)state;
    static const char text[] =
        "[remote \"origin\"]\n\turl = git@a.example:o/r.git\n\tpushurl = https://b.example/r\n"
        "[url \"https://c.example/\"]\n\tinsteadOf = x:\n[http]\n\tproxy = http://no.example\n"
        "[branch \"https://no.example/\"]\n\tremote = origin\n[remote \"e\"]\n\turl\n";
    struct sbox_buf out = {0};
    assert_int_equal(sbox_hosts_in_git(text, sizeof text - 1, add, &out), 0);
    expect_buf(&out, "a.example:22 b.example:443 c.example:443 ");
    assert_int_equal(sbox_hosts_in_git("[", 1, add, NULL), -EBADMSG);
}

static int stop(const char *host, bool setting, void *context)
{
    (void)host;
    (void)setting;
    (*(int *)context)++;
    return -ECANCELED;
}

static void test_a_callback_ends_the_walk(void **state)
{
    (void)state;
    static const char text[] = "https://a.example https://b.example\nhttps://c.example";
    const struct sbox_hosts_reader any = {NULL, NULL, false};
    int calls = 0;
    assert_int_equal(sbox_hosts_in_lines(&any, text, sizeof text - 1, stop, &calls), -ECANCELED);
    assert_int_equal(sbox_hosts_in_text(text, sizeof text - 1, stop, &calls), -ECANCELED);
    assert_int_equal(calls, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_git),
        cmocka_unit_test(test_a_callback_ends_the_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
