#include "base/banned.h"
#include "sandbox/env_names.h"
#include "unit/cmocka_all.h"

static const char *const kept[] = {
    /* cases S11 */
    "KEYBOARD_LAYOUT",
    "TOKENIZERS_PARALLELISM",
    "MONKEY",
    "KEY_REPEAT",
    "KEYMAP",
    "AUTHOR",
    "PASSENGER_APP_ENV",
    "SSH_TTY",
    "COLORTERM",
    "CI",
    "GITHUB_SHA",
    /* the shell and the session */
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TERM_PROGRAM",
    "TERM_SESSION_ID",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LANGUAGE",
    "TZ",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "LESS",
    "LESSOPEN",
    "LS_COLORS",
    "HISTFILE",
    "PS1",
    "PROMPT_COMMAND",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_SESSION_ID",
    "XDG_SESSION_TYPE",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "DESKTOP_SESSION",
    "GDMSESSION",
    "SSH_CONNECTION",
    "SSH_CLIENT",
    "GPG_TTY",
    "TMPDIR",
    "MAIL",
    "_",
    "COLUMNS",
    "LINES",
    "MANPATH",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "INIT_CWD",
    "XMODIFIERS",
    "GTK_IM_MODULE",
    "DEBUG",
    "VERBOSE",
    "HOST_PWD",
    /* node */
    "NODE_ENV",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NVM_DIR",
    "NVM_BIN",
    "npm_config_user_agent",
    "npm_config_cache",
    "npm_config_registry",
    "npm_config_local_prefix",
    "npm_config_init_module",
    "npm_package_name",
    "npm_package_version",
    "npm_package_private",
    "npm_lifecycle_event",
    "npm_config_node_gyp",
    "npm_config_//host/:username",
    "npm_config_auth_type",
    "COREPACK_HOME",
    "YARN_CACHE_FOLDER",
    "PNPM_HOME",
    "PORT",
    "HOST",
    "BROWSER",
    "VITE_APP_TITLE",
    "NEXT_PRIVATE_WORKER",
    "WATCHPACK_POLLING",
    "MAX_TOKENS",
    "OPENAI_MAX_TOKENS",
    "AUTH0_DOMAIN",
    "NEXTAUTH_URL",
    /* python, rust, go, java, C */
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONDONTWRITEBYTECODE",
    "PIP_INDEX_URL",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "CONDA_PREFIX",
    "UV_CACHE_DIR",
    "CARGO_HOME",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "RUSTUP_HOME",
    "GOPATH",
    "GOPRIVATE",
    "GOFLAGS",
    "GOPROXY",
    "JAVA_HOME",
    "MAVEN_OPTS",
    "GRADLE_USER_HOME",
    "CC",
    "CFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "BASH_ENV",
    "ENV",
    "PERL5OPT",
    "PERL5LIB",
    "GEM_HOME",
    "BUNDLE_PATH",
    "BUNDLE_BUILD__NOKOGIRI",
    "RAILS_ENV",
    "COMPOSER_HOME",
    "OTP_VERSION",
    /* git and CI */
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_EDITOR",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_0",
    "GIT_CONFIG_VALUE_0",
    "GITHUB_ACTIONS",
    "GITHUB_REF",
    "GITHUB_REPOSITORY",
    "GITHUB_WORKSPACE",
    "GITHUB_RUN_ID",
    "GITHUB_ACTOR",
    "RUNNER_OS",
    "RUNNER_TEMP",
    "GITLAB_CI",
    "CI_COMMIT_SHA",
    "CI_PIPELINE_ID",
    "BUILD_NUMBER",
    "ACTIONS_STEP_DEBUG",
    /* near misses and clouds */
    "COMPASS",
    "BYPASS",
    "BYPASS_CACHE",
    "PASSTHROUGH",
    "KEYCODE",
    "HOTKEY",
    "TURKEY",
    "DONKEY_KONG",
    "KEYSTONE_URL",
    "KEY_LAYOUT",
    "AUTHORITY",
    "AUTHORS",
    "CACHE_KEY",
    "STRIPE_PUBLISHABLE_KEY",
    "SECRETARY",
    "SECRETARIAT_HOST",
    "TOKENIZER",
    "CREDIT",
    "AWS_REGION",
    "AWS_PROFILE",
    "AWS_DEFAULT_REGION",
    "AZURE_TENANT_ID",
    "GOOGLE_CLOUD_PROJECT",
    "REDIS_URL",
    "DB_HOST",
    "DB_NAME",
    "DB_USER",
    "POSTGRES_USER",
    "PGHOST",
    "PGUSER",
    "PGDATABASE",
    "SMTP_HOST",
    "WEBHOOK_PORT",
    "COOKIE_DOMAIN",
    "SENTRY_ENVIRONMENT",
    "http_proxy",
    "NO_PROXY",
    "PASS",
    "weird name",
    "1NUMBER",
    "a.b.c",
    "",
};

static const char *const by_name[] = {
    /* cases S10 */
    "TOKEN",
    "DATABASE_URL",
    "PGPASSWORD",
    "npm_config_//host/:_authToken",
    "npm_config_//registry.example/:_password",
    "npm_config__auth",
    "npm_config_otp",
    "npm_config__authtoken",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_RUNTIME_URL",
    "ACTIONS_ID_TOKEN_REQUEST_URL",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "SERVICE_JWT",
    "JWT",
    "JWT_SECRET",
    /* words */
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITLAB_TOKEN",
    "CI_JOB_TOKEN",
    "NPM_TOKEN",
    "NODE_AUTH_TOKEN",
    "YARN_NPM_AUTH_TOKEN",
    "HF_TOKEN",
    "SLACK_BOT_TOKEN",
    "VAULT_TOKEN",
    "CARGO_REGISTRY_TOKEN",
    "UV_PUBLISH_TOKEN",
    "TWINE_PASSWORD",
    "HOMEBREW_GITHUB_API_TOKEN",
    "SENTRY_AUTH_TOKEN",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AZURE_CLIENT_SECRET",
    "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_CONNECTION_STRING",
    "GCP_SA_KEY",
    "GOOGLE_CREDENTIALS",
    "GCLOUD_KEYFILE_JSON",
    "CLOUDSDK_AUTH_ACCESS_TOKEN",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "STRIPE_SECRET_KEY",
    "SENDGRID_API_KEY",
    "TWILIO_AUTH_TOKEN",
    "DD_API_KEY",
    "GEM_HOST_API_KEY",
    "NUGET_API_KEY",
    "DEPLOY_KEY",
    "SSH_KEY",
    "SSH_PRIVATE_KEY",
    "PRIVATE_KEY",
    "PRIVATE_KEY_BASE64",
    "SIGNING_KEY_PATH",
    "TLS_KEY_FILE",
    "TLS_KEY_PEM",
    "APP_KEY",
    "API_KEYS",
    "KEY",
    "KEYS",
    "API_KEY_2",
    "TOKEN2",
    "APIKEY",
    "MY_APIKEY",
    "SECRET",
    "SECRETS",
    "APP_SECRETS",
    "SECRET_KEY_BASE",
    "DJANGO_SECRET_KEY",
    "CLIENT_SECRET",
    "PASSWORD",
    "DB_PASSWORD",
    "PASSWD",
    "MYSQL_PWD",
    "MYSQL_ROOT_PASSWORD",
    "DB_PASS",
    "SMTP_PASS",
    "RABBITMQ_DEFAULT_PASS",
    "SSHPASS",
    "BORG_PASSPHRASE",
    "GPG_PASSPHRASE",
    "RESTIC_PASSWORD_FILE",
    "ANSIBLE_VAULT_PASSWORD_FILE",
    "CREDENTIALS",
    "MY_CREDENTIAL",
    "REGISTRY_CREDS",
    "REDISCLI_AUTH",
    "COMPOSER_AUTH",
    "DOCKER_AUTH_CONFIG",
    "BASIC_AUTH",
    "OAUTH_CLIENT",
    "OAUTH2_PROXY_COOKIE",
    "HTTP_AUTHORIZATION",
    "BEARER",
    "WALLET_MNEMONIC",
    "SEED_PHRASE",
    "SENTRY_DSN",
    "SLACK_WEBHOOK_URL",
    "SESSION_COOKIE",
    "OP_SESSION_my",
    "BW_SESSION",
    "FASTLANE_SESSION",
    "LDAPPW",
    "STAGING_DATABASE_URL",
    "API_TOKENS",
    "BUNDLE_GEMS__EXAMPLE__COM",
    "ConnectionStrings__Default",
    "OP_SERVICE_ACCOUNT_TOKEN",
    /* camel case, other separators, other cases */
    "apiKey",
    "APIKey",
    "authToken",
    "dbPassword",
    "githubToken",
    "OAuth2Token",
    "my-secret",
    "my.secret.value",
    "myAPIKey",
    "DBPassword",
    "AWSToken",
    "XMLPrivateKeyData",
    "AccessKeyId",
    "secret_key",
    "X__TOKEN__X",
    "TOKEN:A",
};

static const char *const agents[] = {
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SESSION_BUS_PID",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_CONTROL",
    "GNOME_KEYRING_PID",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "KUBECONFIG",
    "NETRC",
    "PGPASSFILE",
    "KRB5CCNAME",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "SESSION_MANAGER",
    "VSCODE_GIT_IPC_HANDLE",
    "VSCODE_IPC_HOOK_CLI",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "AWS_SHARED_CREDENTIALS_FILE",
    "CLOUDSDK_CONFIG",
    "kubeconfig",
};

static const char *const functions[] = {"BASH_FUNC_x%%", "BASH_FUNC_module()", "BASH_FUNC_a-b%%"};

static void expect(const char *const *names, size_t count, enum sbox_env_reason wanted)
{
    for (size_t i = 0; i < count; i++) {
        const char *detail = "untouched";
        enum sbox_env_reason got = sbox_env_name_reason(names[i], strlen(names[i]), &detail);
        if (got != wanted)
            fail_msg("%s: %s (%s)", names[i], sbox_env_reason_text(got), detail ? detail : "");
        assert_true((detail == NULL) == (wanted == SBOX_ENV_KEPT));
        assert_int_equal(sbox_env_name_reason(names[i], strlen(names[i]), NULL), wanted);
    }
}

#define EXPECT(list, reason) expect(list, sizeof(list) / sizeof *(list), reason)

static void test_everyday_names_are_kept(void **state)
{
    (void)state;
    EXPECT(kept, SBOX_ENV_KEPT);
}

static void test_names_of_secrets_go(void **state)
{
    (void)state;
    EXPECT(by_name, SBOX_ENV_NAME);
}

static void test_ways_to_agents_go(void **state)
{
    (void)state;
    EXPECT(agents, SBOX_ENV_AGENT);
}

static void test_exported_functions_go(void **state)
{
    (void)state;
    EXPECT(functions, SBOX_ENV_FUNCTION);
}

static void test_only_the_name_is_read(void **state)
{
    (void)state;
    assert_int_equal(sbox_env_name_reason("A=TOKEN", 1, NULL), SBOX_ENV_KEPT);
    assert_int_equal(sbox_env_name_reason("MY_KEY=x", 6, NULL), SBOX_ENV_NAME);
}

/* Without a NUL at the end: the name is what `size` says. */
static void fill(char *name, size_t size, const char *pattern)
{
    for (size_t i = 0, n = strlen(pattern); i < size; i++)
        name[i] = pattern[i % n];
}

static void test_long_names_are_bounded(void **state)
{
    (void)state;
    enum { SIZE = 4096 };
    char name[SIZE];
    fill(name, SIZE, "a_");
    assert_int_equal(sbox_env_name_reason(name, SIZE, NULL), SBOX_ENV_KEPT);
    fill(name + SIZE - 5, 5, "TOKEN");
    assert_int_equal(sbox_env_name_reason(name, SIZE, NULL), SBOX_ENV_NAME);
    fill(name, SIZE, "a_");
    fill(name, 6, "TOKEN_");
    assert_int_equal(sbox_env_name_reason(name, SIZE, NULL), SBOX_ENV_NAME);
    fill(name, SIZE, "K");
    assert_int_equal(sbox_env_name_reason(name, SIZE, NULL), SBOX_ENV_KEPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everyday_names_are_kept),
        cmocka_unit_test(test_names_of_secrets_go),
        cmocka_unit_test(test_ways_to_agents_go),
        cmocka_unit_test(test_exported_functions_go),
        cmocka_unit_test(test_only_the_name_is_read),
        cmocka_unit_test(test_long_names_are_bounded),
    };
    return cmocka_run_group_tests_name("environment names", tests, NULL, NULL);
}
