/* Every secret here is made up; where a scanner of repositories would trip, it is cut in two. */
#include "base/banned.h"
#include "project/secret.h"
#include "unit/cmocka_all.h"

#define A16 "ABCDEFGHIJKLMNOP"
#define L36 "abcdefghijklmnopqrstuvwxyz0123456789"
#define H32 "0123456789abcdef0123456789abcdef"
#define JWT                 \
    "eyJ"                   \
    "hbGciOiJIUzI1NiJ9.eyJ" \
    "zdWIiOiIxMjM0In0.dozjgNryP4J3jVmN"

/* NOLINTBEGIN(bugprone-suspicious-missing-comma) */
static const char *const secrets[] = {
    "AKIA" A16,
    "ASIA" A16,
    "{\"k\":\"AKIA" A16 "\"}",
    "region=eu key=AKIA" A16 " rest",
    "first\\nAKIA" A16,
    "q=a%3DAKIA" A16 "&x=1",
    "ghp_" L36,
    "gho_" L36,
    "ghs_" L36,
    "ghu_" L36,
    "github_pat_"
    "11ABCDEFG0abcdefghijkl_" L36,
    "see ghp_" L36 ", thanks",
    "glpat-"
    "abcdefghij0123456789",
    "glrt-"
    "t1_abcdefghij0123456789",
    "xoxb-"
    "1234567890-abcdefghij",
    "xoxp-"
    "1234567890-abcdefghij",
    "xapp-"
    "1-A1234567890-abcdefghij",
    "https://hooks.slack.com/services/"
    "T000/B000/XXXXXXXX",
    "https://discord.com/api/webhooks/"
    "12345/abcdefgh",
    "sk_"
    "live_" A16 A16,
    "rk_"
    "test_" A16 A16,
    "whsec_" A16 A16,
    "sk-"
    "ant-api03-" L36,
    "sk-"
    "proj-" L36,
    "sk-" L36,
    "npm_" L36,
    "//registry.example/:_authToken=npm_" L36,
    "pypi-"
    "AgEIcHlwaS5vcmcCJGFi" L36,
    "rubygems_" H32 H32,
    "dckr_pat_"
    "abcdefghij0123456789",
    "AIza"
    "SyA123456789-abcdefghijklmnopqrstu_",
    "GOCSPX-"
    "abcdefghij0123456789",
    "ya29."
    "a0AfH6SMabcdefghij0123",
    "SK" H32,
    "SG."
    "abcdefghij0123456789ab." L36 "abcdefg",
    "key-" H32,
    "dapi" H32,
    "AGE-SECRET-KEY-1" A16 A16,
    "hf_" L36,
    "dop_v1_" H32 H32,
    "shpat_" H32,
    "hvs."
    "CAESIJabcdefghij0123456789",
    "tskey-"
    "auth-k123456CNTRL-abcdef",
    "pul-" H32 "01234567",
    JWT,
    "Bearer " JWT,
    "cookie: session=" JWT "; path=/",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQ",
    "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----",
    "-----BEGIN ENCRYPTED PRIVATE KEY-----",
    "{\"type\":\"service_account\",\"private_key\":\"-----BEGIN PRIVATE KEY-----\\nMII\"}",
    "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2UQ",
    "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS0K",
    "https://u:p@host/",
    "postgres://app:hunter2@db.example:5432/app",
    "mongodb+srv://root:p%40ss@cluster.example/db?x=1",
    "redis://:hunter2@localhost:6379/0",
    "http://user:p@ss:word@proxy.example:3128",
    "a=1 url='mysql://root:x@127.0.0.1' b=2",
    "https://x-access-token:abc@git.example/a/b.git",
    "https://" H32 "@sentry.example/42",
    "AUTHORIZATION: basic eC1hY2Nlc3M6YWJj",
    "http.extraheader=Authorization: Basic eC1hY2Nlc3M=",
    "Bearer abcdefghij0123456789",
    "Server=db;User Id=sa;Password=hunter2;",
    "host=db user=app password=hunter2 dbname=app",
    "{\"user\":\"a\",\"password\":\"hunter2\"}",
    "{\\\"db_password\\\": \\\"hunter2\\\"}",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abcd==;EndpointSuffix=x",
    "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=abcd",
    "-Djavax.net.ssl.trustStorePassword=changeit",
    "jdbc:postgresql://db/app?user=a&password=hunter2",
    "{\"auths\":{\"r.example\":{\"auth\":\"dXNlcjpodW50ZXIy\"}}}",
    "clientSecret: abcdef",
};

static const char *const ordinary[] = {
    "",
    "1",
    "true",
    "/usr/local/bin:/usr/bin:/bin",
    "/home/u/.nvm/versions/node/v20.11.0/bin",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha384-OLBgp1GsljhM2TJ+sbHjaiH9txEUvgdDTAzHv2P24donTt6/529l+9Ua0vFImLlb",
    "550e8400-e29b-41d4-a716-446655440000",
    "eyJhIjoxfQ==",
    "eyJhIjoxfQ.short",
    "eyJ",
    "c29tZSBvcmRpbmFyeSBzZXR0aW5ncyBpbiBiYXNlNjQ=",
    "en_US.UTF-8",
    "sk_SK.UTF-8",
    "sk-SK",
    "sk-learn-contrib-something-rather-long-name",
    "npm/10.2.4 node/v20.11.0 linux x64 workspaces/false",
    "npm_config_user_agent",
    "npm_package_dependencies_with_a_very_long_name",
    "AKIDO",
    "AKIAshort",
    "XAKIA" A16,
    "AKIA" A16 "Q",
    "ghp_short",
    "SK"
    "HELLO",
    "SKIP=eslint,prettier",
    "keyboard",
    "key-value",
    "hf_hub",
    "https://example.com/path?q=1#x",
    "https://registry.example:8443/npm/",
    "https://host/@scope/name",
    "https://user@host.example/repo.git",
    "https://user:@host.example/repo.git",
    "AKIA" A16 "lower",
    "SK" H32 "xyz",
    "ssh://git@git.example:22/a/b.git",
    "git+ssh://git@git.example/a/b.git",
    "git@git.example:a/b.git",
    "http://[::1]:8080/",
    "http://127.0.0.1:3000",
    "postgres://localhost:5432/app",
    "postgres://app@db.example:5432/app",
    "redis://localhost:6379",
    "mongodb://h1:27017,h2:27017/db",
    "someone@example.com",
    "unix:path=/run/user/1000/bus",
    "file:///etc/hosts",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB",
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUI=",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGabcdef user@host",
    "--max-old-space-size=4096 --require ./x.js",
    "rs=0:di=01;34:ln=01;36:*.tar=01;31",
    "\\u@\\h:\\w\\$ ",
    "ssh -i /home/u/.ssh/id_ed25519 -o IdentitiesOnly=yes",
    "Sat, 01 Jan 2028 00:00:00 GMT",
    "{\"a\":1,\"b\":[\"x\",\"y\"],\"tokens\":5}",
    "{\"password\":\"\",\"secret\":null}",
    "password=",
    "password=${DB_PASSWORD}",
    "password: $PASS",
    "use_password=false",
    "secretary=anna",
    "passwords",
    "author: me",
    "auth=none",
    "http-auth",
    "Bearer x",
    "authorization",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx",
    "C:\\Program Files\\nodejs",
    "3.11.2",
    "::1",
    "://",
    ":",
    "\xff\xfe\x80",
};
/* NOLINTEND(bugprone-suspicious-missing-comma) */

static void test_secrets_are_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (!sbox_secret_find(secrets[i], strlen(secrets[i])))
            fail_msg("missed: %s", secrets[i]);
}

static void test_ordinary_values_are_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++) {
        const char *what = sbox_secret_find(ordinary[i], strlen(ordinary[i]));
        if (what)
            fail_msg("%s: %s", ordinary[i], what);
    }
}

static void test_says_what_it_is(void **state)
{
    (void)state;
    assert_string_equal(sbox_secret_find("ghp_" L36, 40), "GitHub token");
    assert_string_equal(sbox_secret_find(JWT, strlen(JWT)), "JSON web token");
    assert_string_equal(sbox_secret_find("https://u:p@h", 13), "password in a URL");
}

/* Every cut of every secret, in memory of exactly that size: a read past the end is one that the
 * address sanitizer sees. */
static void test_never_reads_past_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        for (size_t n = 1; n <= strlen(secrets[i]); n++) {
            char *exact = malloc(n);
            assert_non_null(exact);
            memcpy(exact, secrets[i], n);
            (void)sbox_secret_find(exact, n);
            free(exact);
        }
}

/* The longest string that execve passes, made of beginnings: if work were its square, the test
 * would be the slowest of all by far. */
static void test_long_values_end(void **state)
{
    (void)state;
    enum { SIZE = 128 * 1024 };
    static const char *const beginnings[] = {"eyJ-",      "eyJ-.",       "eyJhbGciOiJI.",
                                             "SG.",       "SG-",         "a://",
                                             "a:",        "-----BEGIN ", "AKIA-",
                                             "password=", "secret ",     "sk-",
                                             "Bearer "};
    char *value = malloc(SIZE);
    assert_non_null(value);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t n = strlen(beginnings[i]);
        for (size_t k = 0; k < SIZE; k++)
            value[k] = beginnings[i][k % n];
        (void)sbox_secret_find(value, SIZE);
    }
    memset(value, 'x', SIZE);
    assert_null(sbox_secret_find(value, SIZE));
    static const char token[41] = {" ghp_" L36}; /* no NUL */
    memcpy(value + SIZE - sizeof token, token, sizeof token);
    assert_non_null(sbox_secret_find(value, SIZE));
    free(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secrets_are_seen), cmocka_unit_test(test_ordinary_values_are_not),
        cmocka_unit_test(test_says_what_it_is),  cmocka_unit_test(test_never_reads_past_the_end),
        cmocka_unit_test(test_long_values_end),
    };
    return cmocka_run_group_tests_name("environment values", tests, NULL, NULL);
}
