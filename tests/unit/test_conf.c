/* Configuration with its secrets out. Every secret here is made up. */
#include "project/conf.h"

#include "base/cleanup.h"
#include "project/conf_impl.h"
#include "unit/cmocka_all.h"

#define OUT "# left out by sbox\n"

static void expect(enum sbox_conf_syntax syntax, const char *text, const char *left)
{
    _cleanup_conf_ struct sbox_conf c = {.verdict = SBOX_CONF_CLEAN};
    assert_int_equal(sbox_conf_filter(syntax, text, strlen(text), &c), 0);
    if (!left) {
        if (c.verdict != SBOX_CONF_CLEAN)
            print_error("%s became %s\n", text, c.text ? c.text : c.why);
        assert_int_equal(c.verdict, SBOX_CONF_CLEAN);
        assert_null(c.text);
        return;
    }
    if (c.verdict != SBOX_CONF_FILTERED)
        print_error("%s: %s\n", text, c.why ? c.why : "clean");
    assert_int_equal(c.verdict, SBOX_CONF_FILTERED);
    assert_string_equal(c.text, left);
    assert_true(c.taken > 0);
    /* What is left holds no secret. */
    struct sbox_conf again = {.verdict = SBOX_CONF_CLEAN};
    assert_int_equal(sbox_conf_filter(syntax, left, strlen(left), &again), 0);
    assert_int_equal(again.verdict, SBOX_CONF_CLEAN);
    sbox_conf_release(&again);
}

static void expect_hidden(enum sbox_conf_syntax syntax, const char *text, size_t size)
{
    _cleanup_conf_ struct sbox_conf c = {.verdict = SBOX_CONF_CLEAN};
    assert_int_equal(sbox_conf_filter(syntax, text, size, &c), 0);
    if (c.verdict != SBOX_CONF_HIDDEN)
        print_error("%s: %s\n", text, c.text ? c.text : "clean");
    assert_int_equal(c.verdict, SBOX_CONF_HIDDEN);
    assert_null(c.text);
    assert_non_null(c.why);
}

static void hidden(enum sbox_conf_syntax syntax, const char *text)
{
    expect_hidden(syntax, text, strlen(text));
}

static void test_npmrc(void **state)
{
    (void)state;
    const enum sbox_conf_syntax s = SBOX_CONF_NPMRC;
    expect(s, "registry=https://npm.example/\n//npm.example/:_authToken=abc\nfund=false\n",
           "registry=https://npm.example/\n" OUT "fund=false\n");
    expect(s, "_auth = dTpw\n", OUT);
    expect(s, "//h.example/:_password=\"cA==\"\n//h.example/:username=u\n", OUT OUT);
    expect(s, "key=\"-----BEGIN KEY\"\ncert=x\ncafile=/etc/ca.pem\n",
           OUT "cert=x\ncafile=/etc/ca.pem\n");
    expect(s, "//h.example/:certfile=/c\n//h.example/:keyfile=/k\n", OUT OUT);
    expect(s, "\"//h.example/:_authToken\"=abc", OUT);
    expect(s, "\"//h.example/:_a\\u0075thToken\"=abc", OUT);
    expect(s, "x=1\n; //h.example/:_authToken=abc\n", "x=1\n" OUT);
    expect(s, "proxy=http://u:p@proxy.example:8080/\nhttps-proxy=u:p@proxy.example:1\n",
           "proxy=http://proxy.example:8080/\nhttps-proxy=proxy.example:1\n");
    expect(s, "proxy=user:p\"w@proxy.example:1\n", OUT);
    expect(s, "@a:registry=https://u:p@h.example/a/\n", "@a:registry=https://h.example/a/\n");
    expect(s, "registry=https://h.example/?token=abc\n", OUT);
    expect(s, "registry=\"https:\\/\\/u:p@h.example\"\n", OUT);
    expect(s, "ghp_abcdefghijklmnopqrstuvwxyz0123456789\n", OUT);
    expect(s, "ghp_abcdefghijklmnopqrstuvwxyz0123456789=1\n", OUT);
    expect(s, "[a]\r\n_authToken=x\r\ny=1\r\n", "[a]\n" OUT "y=1\n");
    /* Nothing secret: stays as it is. */
    expect(s, "", NULL);
    expect(s, "; a comment\n\n[x]\nregistry = https://h.example/\n@a:registry=https://h.example\n",
           NULL);
    expect(s, "//h.example/:_authToken=${NPM_TOKEN}\n", NULL);
    expect(s, "//h.example/:_authToken=${NPM_TOKEN?}\nalways-auth=true\nauth-type=legacy\n", NULL);
    expect(s, "init-author-name=A B\nemail=a@b.example\ninit-author-email=a@b.example\n", NULL);
    expect(s, "ca=\"-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----\"\n", NULL);
    expect(s, "git-tag-version=false\nsave-exact\nnode-options=--max-old-space-size=1\n", NULL);
    hidden(s, "a=1\r//h.example/:_authToken=x\n"); /* npm ends a line there */
    hidden(s, "a=\xff\n");
    hidden(s, "[https://u:pw@h.example]\ny=2\n");
    hidden(s, "[//h.example/:_authToken=x\n");
    expect_hidden(s, "a=1\0_auth=x", 11);
}

static void test_ini(void **state)
{
    (void)state;
    const enum sbox_conf_syntax s = SBOX_CONF_INI;
    expect(s, "[global]\nindex-url = https://u:p@h.example/simple\ntimeout = 5\n",
           "[global]\nindex-url = https://h.example/simple\ntimeout = 5\n");
    expect(s,
           "[global]\nextra-index-url =\n    https://a.example/simple\n"
           "    https://tok@b.example/simple\n",
           "[global]\nextra-index-url =\n    https://a.example/simple\n"
           "    https://b.example/simple\n");
    expect(s, "[a]\npassword: one\n  two\n\n  three\nx = 1\n", "[a]\n" OUT OUT "\n" OUT "x = 1\n");
    expect(s, "[a]\npassword =\n  one\nx = 1\n", "[a]\npassword =\n" OUT "x = 1\n");
    expect(s, "[a]\npassword = true\n  one\n", "[a]\npassword = true\n" OUT);
    expect(s, "[a]\nproxy =\n  user:pw@proxy.example:3128\n",
           "[a]\nproxy =\n  proxy.example:3128\n");
    expect(s, "[a]\n  password = one\n  x = 1\n", "[a]\n" OUT "  x = 1\n");
    expect(s, "[global]\nclient-cert = /x.pem\ncert = /ca.pem\n",
           "[global]\n" OUT "cert = /ca.pem\n");
    expect(s, "[global]\nproxy = user:pw@proxy.example:3128\n",
           "[global]\nproxy = proxy.example:3128\n");
    expect(s, "[a]\n    https://tok@b.example/simple\n", "[a]\n" OUT); /* a key "https" */
    expect(s, "[a]\n\"key=abc\" = x\n", "[a]\n" OUT);
    expect(s, "[global]\nindex-url = https://h.example/simple\ntrusted-host = h.example\n", NULL);
    expect(s, "[global]\nuser = yes\nkeyring-provider = subprocess\n", NULL);
    expect(s, "[global]\nfind-links = ssh://git@h.example/x\n", NULL);
    hidden(s, "[global]\nno delimiter\n");
    /* a section that went would hand its settings to the one before */
    hidden(s, "[a]\nx=1\n[https://u:pw@h.example]\ny=2\n");
    hidden(s, "[a]\nx=1\n[b://u@c\n    https://h.example/\n");
    hidden(s, "[a] b\nx=1\n");
    expect(s, "[a] # b\nx = y\n", NULL);
}

static void test_yarnrc(void **state)
{
    (void)state;
    const enum sbox_conf_syntax s = SBOX_CONF_YARNRC;
    expect(s, "registry \"https://h.example\"\n\"//h.example/:_authToken\" abc\n",
           "registry \"https://h.example\"\n" OUT);
    expect(s, "registry \"https://u:p@h.example\"\n", "registry \"https://h.example\"\n");
    expect(s, "_password x\n", OUT);
    expect(s, "# yarn lockfile v1\nyarn-path \".yarn/releases/yarn.cjs\"\n--install.check true\n",
           NULL);
}

static void test_yaml(void **state)
{
    (void)state;
    const enum sbox_conf_syntax s = SBOX_CONF_YAML;
    expect(s, "npmRegistryServer: \"https://h.example\"\nnpmAuthToken: abc\nnodeLinker: pnp\n",
           "npmRegistryServer: \"https://h.example\"\n" OUT "nodeLinker: pnp\n");
    expect(s,
           "npmScopes:\n  a:\n    npmAuthToken: |\n      one\n      two\n"
           "    npmRegistryServer: https://h.example\n",
           "npmScopes:\n  a:\n" OUT OUT OUT "    npmRegistryServer: https://h.example\n");
    expect(s, "npmAuthToken:\n  abc\nx: 1\n", OUT OUT "x: 1\n");
    expect(s, "tokens:\n- abc\n- def\nx: 1\n", OUT OUT OUT "x: 1\n");
    expect(s, "a:\n- token: abc\n  b: 1\n", "a:\n" OUT "  b: 1\n");
    expect(s, "npmRegistries:\n  \"//h.example\":\n    npmAuthIdent: \"u:p\"\n",
           "npmRegistries:\n  \"//h.example\":\n" OUT);
    expect(s, "a: { npmAuthToken: x }\nb: 1\n", OUT "b: 1\n");
    expect(s, "httpsProxy: \"http://u:p@h.example:1\"\n", "httpsProxy: \"http://h.example:1\"\n");
    expect(s, "\"npmAuth\\x54oken\": abc\n", OUT);
    expect(s, "---\nBUNDLE_PATH: \"vendor\"\nBUNDLE_GEMS__EXAMPLE__COM: \"u:p\"\n",
           "---\nBUNDLE_PATH: \"vendor\"\n" OUT);
    expect(s, "npmAuthToken: \"${NPM_TOKEN:-abc}\"\n", OUT);
    expect(s,
           "# c\nnpmAuthToken: \"${NPM_TOKEN}\"\nnpmAlwaysAuth: true\nplugins:\n"
           "  - path: .yarn/plugins/a.cjs\n    spec: \"@yarnpkg/plugin-a\"\nlist: [a, \"b\"]\n",
           NULL);
    expect(s, "a: >-\n  some text\n  more\nb: 'it''s'\n", NULL);
    hidden(s, "a: \"one\n  two\"\n");
    hidden(s, "a: &x y\nb: *x\n");
    hidden(s, "a: {\n  b: 1 }\n");
    hidden(s, "{\"npmAuthToken\": \"x\"}\n");
    hidden(s, "just words\n");
    hidden(s, "? a\n: b\n");
    hidden(s, "\ta: 1\n");
}

static void test_toml(void **state)
{
    (void)state;
    const enum sbox_conf_syntax s = SBOX_CONF_TOML;
    expect(s, "[registries.a]\nindex = \"sparse+https://h.example/\"\ntoken = \"abc\"\n",
           "[registries.a]\nindex = \"sparse+https://h.example/\"\n" OUT);
    expect(s, "[http]\nproxy = \"http://u:p@h.example:1\" # ours\n",
           "[http]\nproxy = \"http://h.example:1\" # ours\n");
    expect(s, "[http]\nproxy = \"u:p@h.example:1\"\n", "[http]\nproxy = \"h.example:1\"\n");
    expect(s, "secret = [\n  \"a\", # ]\n  \"\"\"b]\n\"\"\",\n]\nx = 1\n", OUT "x = 1\n");
    expect(s, "[http-basic.a]\nfoo = \"x\"\n[b]\nfoo = \"x\"\n", OUT OUT "[b]\nfoo = \"x\"\n");
    expect(s, "[install.scopes]\na = { url = \"https://h.example\", token = \"$T\" }\n",
           "[install.scopes]\n" OUT);
    expect(s, "[[index]]\nname = \"a\"\nurl = \"https://u:p@h.example/simple\"\n",
           "[[index]]\nname = \"a\"\nurl = \"https://h.example/simple\"\n");
    expect(s, "registries.a.token = 'x'\n", OUT);
    expect(s, "[source.crates-io]\nreplace-with = \"a\"\n\n[build]\nrustflags = [\"-C\", \"x\"]\n",
           NULL);
    hidden(s, "a = \"x\nb = 1\n");
    hidden(s, "a = [1\n");
    hidden(s, "a = ]\n");
    hidden(s, "words\n");
}

static void test_git(void **state)
{
    (void)state;
    const enum sbox_conf_syntax s = SBOX_CONF_GIT;
    expect(s, "[remote \"o\"]\n\turl = https://h.example/x # https://u:p@h.example/\n",
           "[remote \"o\"]\n\turl = \"https://h.example/x\"\n");
    expect(s, "[sendemail]\n\tsmtpPass = hunter\n\tbypass = x\n",
           OUT "[sendemail]\n\tbypass = \"x\"\n");
    expect(s, "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://u:t@h.example/r.git\n",
           "[core]\n\tbare = \"false\"\n[remote \"origin\"]\n\turl = "
           "\"https://h.example/r.git\"\n");
    expect(s, "[http \"https://h.example/\"]\n\textraheader = AUTHORIZATION: basic abc\n", OUT);
    expect(s, "[url \"https://t:x@h.example/\"]\n\tinsteadOf = https://h.example/\n", OUT);
    expect(s, "[http]\n\tproxy = \"u:p/q@h.example:1\"\n", OUT);
    expect(s, "[url \"https://t@h.example/\"]\n\tinsteadOf = x:\n", OUT);
    expect(s, "[http]\n\tproxy = u:p@h.example:1\n[user]\n\tname = \"A \\\"B\\\"\\n\"\n",
           "[http]\n\tproxy = \"h.example:1\"\n[user]\n\tname = \"A \\\"B\\\"\\n\"\n");
    expect(s, "[a \"b \\\"c\\\" \\\\d\"]\n\tx\n[credential]\n\tusername = u\n",
           "[a \"b \\\"c\\\" \\\\d\"]\n\tx\n" OUT);
    expect(s, "[core]\n# password = x\n\tbare\n", "[core]\n\tbare\n");
    expect(s,
           "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@h.example:o/r.git\n"
           "\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n"
           "[credential]\n\thelper = store\n[remote \"b\"]\n\turl = ssh://git@h.example/r\n",
           NULL);
    hidden(s, "[core\n");
    hidden(s, "[.x]\n\ttoken = x\n");
}

static void test_credentials(void **state)
{
    (void)state;
    hidden(SBOX_CONF_CREDENTIALS, "machine h.example login u password p\n");
    expect(SBOX_CONF_CREDENTIALS, " \n", NULL);
}

static void test_composer(void **state)
{
    (void)state;
    const enum sbox_conf_syntax s = SBOX_CONF_COMPOSER;
    hidden(s, "{\"http-basic\": {\"h.example\": {\"username\": \"u\"}}}\n");
    hidden(s, "{\"x\": {\"password\": \"abc\"}}\n");
    expect(s, "{\"routes\": [\"/login\"]}\n", NULL);
}

static void test_too_large(void **state)
{
    (void)state;
    char *text = malloc(SBOX_CONF_MAX + 1);
    assert_non_null(text);
    memset(text, '\n', SBOX_CONF_MAX + 1);
    memcpy(text, "a=1", 3);
    expect_hidden(SBOX_CONF_NPMRC, text, SBOX_CONF_MAX + 1);
    struct sbox_conf c = {.verdict = SBOX_CONF_CLEAN};
    assert_int_equal(sbox_conf_filter(SBOX_CONF_NPMRC, text, SBOX_CONF_MAX, &c), 0);
    assert_int_equal(c.verdict, SBOX_CONF_CLEAN);
    sbox_conf_release(&c);
    free(text);
}

/* The names of the environment that what is shown refers to: not those of what is left out. */
static void test_names(void **state)
{
    (void)state;
    static const char text[] = "//a/:_authToken=${NPM_TOKEN}\nb=${B?}${1x}${}\npassword=x${GONE}\n"
                               "c=${B-}\n";
    _cleanup_conf_ struct sbox_conf c = {.verdict = SBOX_CONF_CLEAN};
    assert_int_equal(sbox_conf_filter(SBOX_CONF_NPMRC, text, sizeof text - 1, &c), 0);
    assert_int_equal(c.names.count, 2);
    assert_string_equal(c.names.items[0], "NPM_TOKEN");
    assert_string_equal(c.names.items[1], "B");
}

static void test_file_names(void **state)
{
    (void)state;
    assert_int_equal(sbox_conf_syntax_of("", ".npmrc"), SBOX_CONF_NPMRC);
    assert_int_equal(sbox_conf_syntax_of(".cargo", "config.toml"), SBOX_CONF_TOML);
    assert_int_equal(sbox_conf_syntax_of("src", "config.toml"), SBOX_CONF_NONE);
    assert_int_equal(sbox_conf_syntax_of("", "auth.json"), SBOX_CONF_COMPOSER);
    assert_int_equal(sbox_conf_syntax_of("", ".netrc"), SBOX_CONF_CREDENTIALS);
    assert_int_equal(sbox_conf_syntax_of("", ".npmrc.bak"), SBOX_CONF_NONE);
}

static void test_bare_url(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"https://u:p@h.example/simple", "https://h.example/simple"},
        {"https://h.example/a@1", "https://h.example/a@1"},
        {"https://a@b@h.example https://c@d.example", "https://h.example https://d.example"},
        {"ssh://git@h.example/x", "ssh://git@h.example/x"},
        {"ssh://git:pw@h.example/x", "ssh://h.example/x"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *bare = sbox_conf_bare_url(pairs[i][0]);
        assert_non_null(bare);
        assert_string_equal(bare, pairs[i][1]);
        free(bare);
    }
    assert_null(sbox_conf_bare_url("https://h.example/?password=x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npmrc),      cmocka_unit_test(test_ini),
        cmocka_unit_test(test_yarnrc),     cmocka_unit_test(test_yaml),
        cmocka_unit_test(test_toml),       cmocka_unit_test(test_git),
        cmocka_unit_test(test_composer),   cmocka_unit_test(test_credentials),
        cmocka_unit_test(test_too_large),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_file_names), cmocka_unit_test(test_bare_url),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
