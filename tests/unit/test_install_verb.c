/* Which command lines make an install run: one row a line. */
#include "project/install_verb.h"

#include "base/error.h"
#include "unit/cmocka_all.h"

#include <stddef.h>

enum { WORDS_MAX = 16, LINE_SIZE = 256 };

/* A line as argv; the words point into `text`. */
static char **split(const char *line, char text[LINE_SIZE], char *argv[WORDS_MAX])
{
    size_t n = 0;
    (void)snprintf(text, LINE_SIZE, "%s", line);
    for (char *rest = text, *word; n < WORDS_MAX - 1 && (word = strsep(&rest, " ")) != NULL;)
        argv[n++] = word;
    argv[n] = NULL;
    return argv;
}

static enum sbox_install_verb judge(const char *line)
{
    char text[LINE_SIZE];
    char *argv[WORDS_MAX];
    return sbox_install_verb(split(line, text, argv));
}

static const char *program_of(const char *line)
{
    char text[LINE_SIZE];
    char *argv[WORDS_MAX];
    return sbox_install_program(split(line, text, argv));
}

static void expect(enum sbox_install_verb want, const char *const *lines)
{
    for (; *lines; lines++)
        if (judge(*lines) != want)
            fail_msg("'%s' is %d, not %d", *lines, (int)judge(*lines), (int)want);
}

static void test_verbs_that_change_a_tree(void **state)
{
    (void)state;
    static const char *const lines[] = {"npm install",
                                        "npm i",
                                        "npm in",
                                        "npm ins",
                                        "npm inst",
                                        "npm insta",
                                        "npm instal",
                                        "npm isntall",
                                        "npm add left-pad",
                                        "npm uninstall x",
                                        "npm remove x",
                                        "npm rm x",
                                        "npm r x",
                                        "npm un x",
                                        "npm unlink x",
                                        "npm update",
                                        "npm up",
                                        "npm u",
                                        "npm upgrade",
                                        "npm dedupe",
                                        "npm ddp",
                                        "npm prune",
                                        "npm rebuild",
                                        "npm rb",
                                        "npm link",
                                        "npm ln x",
                                        "npm it",
                                        "npm install-test",
                                        "npm audit fix",
                                        "npm audit --json fix --force",
                                        "npm -s i",
                                        "npm --prefix x install",
                                        "npm --prefix=x install",
                                        "npm --prefix run i",
                                        "npm -w a -w b install c",
                                        "npm --loglevel silent --no-audit i",
                                        "npm upd",
                                        "npm uni x",
                                        "npm -- install",
                                        "/usr/bin/npm i",
                                        "./node_modules/.bin/npm i",
                                        "pnpm install",
                                        "pnpm i",
                                        "pnpm add x",
                                        "pnpm -C pkg add x",
                                        "pnpm --filter web add x",
                                        "pnpm -r update",
                                        "pnpm recursive install",
                                        "pnpm fetch",
                                        "yarn",
                                        "yarnpkg",
                                        "yarn --frozen-lockfile",
                                        "yarn --cwd web",
                                        "yarn install",
                                        "yarn add x",
                                        "yarn workspace web add x",
                                        "yarn workspaces focus --all",
                                        "yarn set version stable",
                                        "corepack yarn add x",
                                        "corepack yarn",
                                        "bun install",
                                        "bun i",
                                        "bun a x",
                                        "bun --cwd web add x",
                                        "bun pm trust x",
                                        "bun ci",
                                        "pip install x",
                                        "pip3 install x",
                                        "pip3.11 install x",
                                        "pip-3.11 install x",
                                        ".venv/bin/pip uninstall x",
                                        "pip --proxy p --quiet install x",
                                        "python -m pip install x",
                                        "python3 -m pip install x",
                                        "python3.11 -I -m pip -q install x",
                                        "python -Im pip install x",
                                        "python -mpip install x",
                                        "python -X dev -W error -m pip install x",
                                        "python -Xdev -mpip install x",
                                        "pypy3 -m pip install x",
                                        "python -m venv .venv",
                                        "python -m ensurepip",
                                        "python -m poetry add x",
                                        "virtualenv .venv",
                                        "uv add x",
                                        "uv sync",
                                        "uv remove x",
                                        "uv venv",
                                        "uv pip install x",
                                        "uv pip --quiet sync r.txt",
                                        "uv --directory pip pip install x",
                                        "poetry install",
                                        "poetry -C sub add x",
                                        "poetry sync",
                                        "poetry --no-interaction update",
                                        "cargo fetch",
                                        "cargo add serde",
                                        "cargo +nightly add serde",
                                        "cargo update",
                                        "cargo vendor",
                                        "cargo --color never vendor",
                                        "go get x",
                                        "go -C sub get x",
                                        "go mod download",
                                        "go mod vendor",
                                        "go mod tidy",
                                        "composer install",
                                        "composer i",
                                        "composer -d sub require x",
                                        "composer req x",
                                        "composer.phar update",
                                        "bundle",
                                        "bundle install",
                                        "bundle --jobs 4",
                                        "bundler update",
                                        "bundle _2.4.1_ add x",
                                        NULL};
    expect(SBOX_INSTALL_VERB_CHANGE, lines);
}

static void test_verbs_that_remove_the_tree_first(void **state)
{
    (void)state;
    static const char *const lines[] = {"npm ci",
                                        "npm ic",
                                        "npm clean-install",
                                        "npm install-clean",
                                        "npm cit",
                                        "npm sit",
                                        "npm install-ci-test",
                                        "npm --prefix x ci --offline",
                                        "npm clean-inst",
                                        "pnpm ci",
                                        NULL};
    expect(SBOX_INSTALL_VERB_REPLACE, lines);
}

static void test_ordinary_commands(void **state)
{
    (void)state;
    static const char *const lines[] = {"",
                                        "npm",
                                        "npm run install",
                                        "npm run ci",
                                        "npm test",
                                        "npm exec install",
                                        "npm --prefix install test",
                                        "npm -w install run ci",
                                        "npm --workspace ci test",
                                        "npm start",
                                        "npm audit",
                                        "npm audit signatures",
                                        "npm un-known",
                                        "npm re x",
                                        "npm help install",
                                        "npm init vite",
                                        "npm view install",
                                        "npx install",
                                        "npx npm-check",
                                        "pnpm",
                                        "pnpm run install",
                                        "pnpm test",
                                        "pnpm exec add",
                                        "pnpm dlx add",
                                        "pnpm -C add test",
                                        "pnpm recursive run install",
                                        "yarn test",
                                        "yarn run add",
                                        "yarn workspace add test",
                                        "yarn --version",
                                        "yarn -v",
                                        "yarn --help",
                                        "yarn workspaces list",
                                        "yarn set resolution x",
                                        "bun",
                                        "bun run install",
                                        "bun test",
                                        "bun index.ts",
                                        "bun pm ls",
                                        "bunx install",
                                        "pip",
                                        "pip list",
                                        "pip --proxy install list",
                                        "pip download x",
                                        "pipx install x",
                                        "pipeline install",
                                        "python",
                                        "python install",
                                        "python -m pytest install",
                                        "python -c pip install",
                                        "python script.py -m pip install",
                                        "python -m",
                                        "python -m pip",
                                        "python -X",
                                        "python -m http.server",
                                        "pythonic -m pip install",
                                        "venv x",
                                        "ensurepip",
                                        "uv run pytest",
                                        "uv pip list",
                                        "uv lock",
                                        "uv --directory add run x",
                                        "uvx add",
                                        "poetry run install",
                                        "poetry build",
                                        "poetry -C install build",
                                        "cargo",
                                        "cargo build",
                                        "cargo test add",
                                        "cargo +nightly build",
                                        "cargo run -- add",
                                        "go build",
                                        "go test get",
                                        "go mod graph",
                                        "go run get",
                                        "go -C get build",
                                        "composer",
                                        "composer run-script install",
                                        "composer exec install",
                                        "composer -d install show",
                                        "bundle exec install",
                                        "bundle --version",
                                        "bundle show",
                                        "bundle _2.4.1_ exec add",
                                        "sh -c npm_ci",
                                        "node install",
                                        "make install",
                                        "apt install",
                                        "corepack",
                                        "corepack enable",
                                        "corepack yarn test",
                                        NULL};
    expect(SBOX_INSTALL_VERB_NONE, lines);
}

static void test_program_names(void **state)
{
    (void)state;
    char *none[] = {NULL};
    assert_string_equal(program_of("/p/.venv/bin/python -m pip list"), "pip");
    assert_string_equal(program_of("corepack pnpm i"), "pnpm");
    assert_string_equal(program_of("bundler"), "bundle");
    assert_null(program_of("make"));
    assert_null(sbox_install_program(none));
    assert_int_equal(sbox_install_verb(none), SBOX_INSTALL_VERB_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verbs_that_change_a_tree),
        cmocka_unit_test(test_verbs_that_remove_the_tree_first),
        cmocka_unit_test(test_ordinary_commands),
        cmocka_unit_test(test_program_names),
    };
    return cmocka_run_group_tests_name("install_verb", tests, NULL, NULL);
}
