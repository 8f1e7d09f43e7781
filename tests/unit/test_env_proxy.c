#include "base/banned.h"
#include "sandbox/env_proxy.h"
#include "unit/cmocka_all.h"

#define OURS "http://198.18.0.1:3128"

static struct sbox_strv list(const char *const items[])
{
    struct sbox_strv v = {0};
    for (size_t i = 0; items[i]; i++)
        assert_int_equal(sbox_strv_add(&v, items[i]), 0);
    return v;
}

static const char *const of_the_host[] = {"PATH=/bin",
                                          "HTTPS_PROXY=http://proxy.test:8080",
                                          "https_proxy=http://proxy.test:8080",
                                          "No_Proxy=.corp.test",
                                          "npm_config_https_proxy=http://proxy.test:8080",
                                          "ALL_PROXY=",
                                          "HTTP_PROXY_LOG=x",
                                          "MY_http_proxy=x",
                                          "http=x",
                                          NULL};

static void the_host_s_proxies_go_whatever_the_network(void **state)
{
    (void)state;
    const bool modes[][2] = {{false, false}, {false, true}, {true, false}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        _cleanup_strv_ struct sbox_strv env = list(of_the_host);
        assert_int_equal(sbox_env_proxy(&env, NULL, modes[i][0], modes[i][1]), 0);
        assert_int_equal(env.count, 4);
        assert_string_equal(env.items[0], "PATH=/bin");
        assert_string_equal(env.items[1], "HTTP_PROXY_LOG=x");
        assert_string_equal(env.items[2], "MY_http_proxy=x");
        assert_string_equal(env.items[3], "http=x");
        assert_null(env.items[4]);
    }
}

static void sbox_s_proxy_is_named_in_both_cases_of_letters(void **state)
{
    (void)state;
    static const char *const expected[] = {"HTTP_PROXY=" OURS,
                                           "http_proxy=" OURS,
                                           "HTTPS_PROXY=" OURS,
                                           "https_proxy=" OURS,
                                           "ALL_PROXY=" OURS,
                                           "all_proxy=" OURS,
                                           "NO_PROXY=localhost,127.0.0.1,::1",
                                           "no_proxy=localhost,127.0.0.1,::1",
                                           "NODE_USE_ENV_PROXY=1"};
    _cleanup_strv_ struct sbox_strv env = list(of_the_host);
    assert_int_equal(sbox_env_proxy(&env, NULL, true, true), 0);
    assert_int_equal(env.count, 4 + sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(sbox_strv_contains(&env, expected[i]));
    assert_null(env.items[env.count]);
}

static void what_the_person_named_stays(void **state)
{
    (void)state;
    static const char *const named[] = {"HTTPS_PROXY=http://mine.test", "no_proxy", NULL};
    static const char *const given[] = {"HTTPS_PROXY=http://mine.test", "no_proxy=a.test",
                                        "http_proxy=http://proxy.test", NULL};
    _cleanup_strv_ struct sbox_strv kept = list(named);
    _cleanup_strv_ struct sbox_strv env = list(given);
    assert_int_equal(sbox_env_proxy(&env, &kept, true, true), 0);
    assert_true(sbox_strv_contains(&env, given[0]));
    assert_true(sbox_strv_contains(&env, given[1]));
    assert_false(sbox_strv_contains(&env, given[2]));
    assert_false(sbox_strv_contains(&env, "HTTPS_PROXY=" OURS));
    assert_false(sbox_strv_contains(&env, "no_proxy=localhost,127.0.0.1,::1"));
    assert_true(sbox_strv_contains(&env, "https_proxy=" OURS));
}

static void an_empty_environment_is_no_special_case(void **state)
{
    (void)state;
    _cleanup_strv_ struct sbox_strv env = {0};
    assert_int_equal(sbox_env_proxy(&env, NULL, false, true), 0);
    assert_int_equal(env.count, 0);
    assert_int_equal(sbox_env_proxy(&env, NULL, true, true), 0);
    assert_int_equal(env.count, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_s_proxies_go_whatever_the_network),
        cmocka_unit_test(sbox_s_proxy_is_named_in_both_cases_of_letters),
        cmocka_unit_test(what_the_person_named_stays),
        cmocka_unit_test(an_empty_environment_is_no_special_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
