#include "base/banned.h"
#include "sandbox/env_scrub.h"
#include "unit/cmocka_all.h"

#define TOKEN_VALUE \
    "ghp_"          \
    "abcdefghijklmnopqrstuvwxyz0123456789"

/* execve's block takes char *; nothing writes through it. */
#define BLOCK(...) ((char *[]){__VA_ARGS__, NULL})

struct result {
    struct sbox_strv env;
    struct sbox_env_report report;
};

static void result_release(struct result *r)
{
    sbox_env_wipe_strv(&r->env);
    sbox_env_report_release(&r->report);
}

#define _cleanup_result_ __attribute__((cleanup(result_release)))

static struct result scrub(char **block, const struct sbox_env_rules *rules)
{
    struct result r = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(sbox_env_scrub(block, rules, &r.env, &r.report, &err), 0);
    assert_non_null(r.env.items);
    assert_null(r.env.items[r.env.count]);
    return r;
}

static enum sbox_env_reason reason_for(const struct result *r, const char *name)
{
    for (size_t i = 0; i < r->report.count; i++)
        if (strcmp(r->report.items[i].name, name) == 0)
            return r->report.items[i].reason;
    return SBOX_ENV_KEPT;
}

static char *w(const char *literal)
{
    char *s;
    memcpy(&s, &literal, sizeof s);
    return s;
}

static const struct sbox_env_rules plain = {0};

static void test_names_values_and_functions_go(void **state)
{
    (void)state;
    _cleanup_result_ struct result r =
        scrub(BLOCK(w("PATH=/bin"), w("GH_TOKEN=x"), w("SETTINGS={\"k\":\"" TOKEN_VALUE "\"}"),
                    w("SSH_AUTH_SOCK=/run/a"), w("BASH_FUNC_x%%=() {  :; }"), w("old=() { :; }"),
                    w("npm_config_//h/:_authToken=x"), w("LANG=C")),
              &plain);
    assert_int_equal(r.env.count, 2);
    assert_string_equal(r.env.items[0], "PATH=/bin");
    assert_string_equal(r.env.items[1], "LANG=C");
    assert_int_equal(r.report.count, 6);
    assert_int_equal(reason_for(&r, "GH_TOKEN"), SBOX_ENV_NAME);
    assert_int_equal(reason_for(&r, "SETTINGS"), SBOX_ENV_VALUE);
    assert_int_equal(reason_for(&r, "SSH_AUTH_SOCK"), SBOX_ENV_AGENT);
    assert_int_equal(reason_for(&r, "BASH_FUNC_x%%"), SBOX_ENV_FUNCTION);
    assert_int_equal(reason_for(&r, "old"), SBOX_ENV_FUNCTION);
}

static void test_all_copies_of_a_name_go(void **state)
{
    (void)state;
    _cleanup_result_ struct result r =
        scrub(BLOCK(w("TOK=plain"), w("A=1"), w("TOK=" TOKEN_VALUE), w("TOK=also plain"), w("A=2"),
                    w("TOKEN=a"), w("TOKEN=b"), w("TOKENS_X=")),
              &plain);
    assert_int_equal(r.env.count, 3);
    assert_string_equal(r.env.items[0], "A=1");
    assert_string_equal(r.env.items[1], "A=2");
    assert_string_equal(r.env.items[2], "TOKENS_X=");
    assert_int_equal(r.report.count, 2); /* each name once */
}

static void test_the_report_never_holds_a_value(void **state)
{
    (void)state;
    _cleanup_result_ struct result r =
        scrub(BLOCK(w("X=" TOKEN_VALUE), w(TOKEN_VALUE), w("=" TOKEN_VALUE), w("PASSWORD=hunter2"),
                    w("URL=https://u:hunter2@h/")),
              &plain);
    assert_int_equal(r.env.count, 0);
    assert_int_equal(r.report.count, 4); /* the two without a name are one */
    assert_int_equal(reason_for(&r, ""), SBOX_ENV_MALFORMED);
    for (size_t i = 0; i < r.report.count; i++) {
        const char *const said[] = {r.report.items[i].name, r.report.items[i].detail};
        for (size_t k = 0; k < 2; k++)
            assert_true(!said[k] || (!strstr(said[k], "hunter2") && !strstr(said[k], "ghp_")));
    }
}

static void test_passed_and_set(void **state)
{
    (void)state;
    char *pass_items[] = {w("GH_TOKEN"), w("ABSENT"), NULL};
    char *set_items[] = {w("NEW=1"), w("API_KEY=first"), w("LANG=de"), w("API_KEY=last"), NULL};
    const struct sbox_strv pass = {.items = pass_items, .count = 2};
    const struct sbox_strv set = {.items = set_items, .count = 4};
    const struct sbox_env_rules rules = {.pass = &pass, .set = &set};
    _cleanup_result_ struct result r =
        scrub(BLOCK(w("LANG=C"), w("GH_TOKEN=" TOKEN_VALUE), w("GH_TOKEN_2=x"), w("API_KEY=host"),
                    w("LANG=C"), w("LANGUAGE=en")),
              &rules);
    static const char passed[] = "GH_TOKEN=" TOKEN_VALUE;
    static const char *const wanted[] = {passed, "LANGUAGE=en", "NEW=1", "LANG=de", "API_KEY=last"};
    assert_int_equal(r.env.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(r.env.items[i], wanted[i]);
    assert_int_equal(r.report.count, 1);
    assert_int_equal(reason_for(&r, "GH_TOKEN_2"), SBOX_ENV_NAME);
}

static void test_allow_all(void **state)
{
    (void)state;
    char *set_items[] = {w("A=2"), NULL};
    const struct sbox_strv set = {.items = set_items, .count = 1};
    const struct sbox_env_rules rules = {.allow_all = true, .set = &set};
    _cleanup_result_ struct result r =
        scrub(BLOCK(w("A=1"), w("TOKEN=x"), w("BASH_FUNC_x%%=() { :; }"), w("odd")), &rules);
    assert_int_equal(r.env.count, 4);
    assert_string_equal(r.env.items[2], "odd");
    assert_string_equal(r.env.items[3], "A=2");
    assert_int_equal(r.report.count, 0);
}

static void test_gits_count_goes_with_its_values(void **state)
{
    (void)state;
    _cleanup_result_ struct result r =
        scrub(BLOCK(w("GIT_CONFIG_COUNT=1"), w("GIT_CONFIG_KEY_0=http.extraheader"),
                    w("GIT_CONFIG_VALUE_0=AUTHORIZATION: basic eDp5")),
              &plain);
    assert_int_equal(r.env.count, 1);
    assert_string_equal(r.env.items[0], "GIT_CONFIG_KEY_0=http.extraheader");
    assert_int_equal(reason_for(&r, "GIT_CONFIG_COUNT"), SBOX_ENV_COMPANION);
    _cleanup_result_ struct result harmless = scrub(
        BLOCK(w("GIT_CONFIG_COUNT=1"), w("GIT_CONFIG_KEY_0=user.name"), w("GIT_CONFIG_VALUE_0=me")),
        &plain);
    assert_int_equal(harmless.env.count, 3);
}

static void test_loader_hooks_stay(void **state)
{
    (void)state;
    _cleanup_result_ struct result r =
        scrub(BLOCK(w("LD_PRELOAD=/usr/lib/libjemalloc.so"), w("NODE_OPTIONS=--require ./x.js"),
                    w("BASH_ENV=/x"), w("ENV=/x"), w("PYTHONSTARTUP=/x"), w("PERL5OPT=-Mx"),
                    w("LD_AUDIT=/x"), w("GIT_SSH_COMMAND=ssh -v")),
              &plain);
    assert_int_equal(r.env.count, 8);
}

/* A registry stays in force without the login in its URL. */
static void test_registries_are_cut(void **state)
{
    (void)state;
    _cleanup_result_ struct result r = scrub(
        BLOCK(w("npm_config_registry=https://u:p@r.example/npm/"), w("NPM_CONFIG_REGISTRY=x"),
              w("PIP_EXTRA_INDEX_URL=https://a.example https://u:p@b.example/s"),
              w("npm_config_@a:registry=https://u:p@c.example"),
              w("CARGO_REGISTRIES_A_INDEX=sparse+https://u:p@d.example/"),
              w("PIP_INDEX_URL=https://h.example/" TOKEN_VALUE), w("MY_URL=https://u:p@e.example"),
              w("https_proxy=http://u:p@f.example"), w("UV_INDEX=https://g.example"),
              w("npm_config_registry=https://second:p@r.example/")),
        &plain);
    static const char *const left[] = {"npm_config_registry=https://r.example/npm/",
                                       "NPM_CONFIG_REGISTRY=x",
                                       "PIP_EXTRA_INDEX_URL=https://a.example https://b.example/s",
                                       "npm_config_@a:registry=https://c.example",
                                       "CARGO_REGISTRIES_A_INDEX=sparse+https://d.example/",
                                       "UV_INDEX=https://g.example",
                                       "npm_config_registry=https://r.example/"};
    assert_int_equal(r.env.count, sizeof left / sizeof *left);
    for (size_t i = 0; i < r.env.count; i++)
        assert_string_equal(r.env.items[i], left[i]);
    assert_int_equal(reason_for(&r, "npm_config_registry"), SBOX_ENV_CUT);
    assert_int_equal(reason_for(&r, "PIP_INDEX_URL"), SBOX_ENV_VALUE);
    assert_int_equal(reason_for(&r, "MY_URL"), SBOX_ENV_VALUE);
    struct sbox_strv pass = {0};
    assert_int_equal(sbox_strv_add(&pass, "npm_config_registry"), 0);
    _cleanup_result_ struct result passed =
        scrub(BLOCK(w("npm_config_registry=https://u:p@r.example/")),
              &(struct sbox_env_rules){.pass = &pass});
    assert_string_equal(passed.env.items[0], "npm_config_registry=https://u:p@r.example/");
    sbox_strv_release(&pass);
}

static void test_empty_values_are_no_secret(void **state)
{
    (void)state;
    _cleanup_result_ struct result r = scrub(BLOCK(w("NPM_TOKEN="), w("A=")), &plain);
    assert_int_equal(r.env.count, 2);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    _cleanup_result_ struct result r = scrub((char *[]){NULL}, &plain);
    assert_int_equal(r.env.count, 0);
    assert_int_equal(r.report.count, 0);
}

static void expect_refusal(char **block, const struct sbox_env_rules *rules, int code)
{
    struct sbox_strv env = {.count = 77};
    struct sbox_env_report report = {.count = 78};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(sbox_env_scrub(block, rules, &env, &report, &err), -code);
    assert_int_equal(err.code, code);
    assert_null(strstr(err.message, "hunter2"));
    assert_int_equal(env.count, 77); /* untouched */
    assert_int_equal(report.count, 78);
}

static void test_bad_rules_and_sizes(void **state)
{
    (void)state;
    char *item[] = {NULL, NULL};
    const struct sbox_strv list = {.items = item, .count = 1};
    const struct sbox_env_rules pass = {.pass = &list};
    const struct sbox_env_rules set = {.set = &list};
    item[0] = w("");
    expect_refusal(BLOCK(w("A=1")), &pass, EINVAL);
    item[0] = w("A=hunter2");
    expect_refusal(BLOCK(w("A=1")), &pass, EINVAL);
    item[0] = w("=hunter2");
    expect_refusal(BLOCK(w("A=1")), &set, EINVAL);
    item[0] = w("hunter2");
    expect_refusal(BLOCK(w("A=1")), &set, EINVAL);

    enum { TOO_LONG = (2 << 20) + 16, TOO_MANY = 65537 };
    char *longest = malloc(TOO_LONG);
    assert_non_null(longest);
    memset(longest, 'x', TOO_LONG - 1);
    memcpy(longest, "A=", 2);
    longest[TOO_LONG - 1] = '\0';
    expect_refusal(BLOCK(longest), &plain, E2BIG);
    item[0] = longest;
    expect_refusal(BLOCK(w("A=1")), &set, E2BIG);
    free(longest);

    char **many = calloc(TOO_MANY + 1, sizeof *many);
    assert_non_null(many);
    for (size_t i = 0; i < TOO_MANY; i++)
        many[i] = w("A=1");
    expect_refusal(many, &plain, E2BIG);
    free(many);
}

static void test_wipe(void **state)
{
    (void)state;
    char secret[] = "TOKEN=hunter2";
    char other[] = "A=1";
    sbox_env_wipe(BLOCK(secret, other));
    for (size_t i = 0; i < sizeof secret; i++)
        assert_int_equal(secret[i], 0);
    assert_int_equal(other[0], 0);
    sbox_env_wipe(NULL);
}

static void test_results_do_not_point_into_the_block(void **state)
{
    (void)state;
    char kept[] = "A=1";
    char gone[] = "TOKEN=hunter2";
    char *block[] = {kept, gone, NULL};
    _cleanup_result_ struct result r = scrub(block, &plain);
    sbox_env_wipe(block);
    assert_string_equal(r.env.items[0], "A=1");
    assert_string_equal(r.report.items[0].name, "TOKEN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_values_and_functions_go),
        cmocka_unit_test(test_all_copies_of_a_name_go),
        cmocka_unit_test(test_the_report_never_holds_a_value),
        cmocka_unit_test(test_passed_and_set),
        cmocka_unit_test(test_allow_all),
        cmocka_unit_test(test_gits_count_goes_with_its_values),
        cmocka_unit_test(test_loader_hooks_stay),
        cmocka_unit_test(test_registries_are_cut),
        cmocka_unit_test(test_empty_values_are_no_secret),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_bad_rules_and_sizes),
        cmocka_unit_test(test_wipe),
        cmocka_unit_test(test_results_do_not_point_into_the_block),
    };
    return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
