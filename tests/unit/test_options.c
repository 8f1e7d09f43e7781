#include "cli/option_table.h"
#include "cli/options.h"
#include "cli/suggest.h"
#include "unit/cmocka_all.h"

enum { WORDS = 12 };

/* One command line and what is to come of it. */
struct row {
    const char *argv[WORDS];
    int exit;            /* of a usage error; 0: it is understood */
    enum sbox_verb verb; /* when understood */
    const char *has;     /* the message contains it */
    const char *first;   /* first word after the options; NULL: do not look */
    bool json;           /* the error is wanted as JSON */
};

#define DID_YOU_MEAN(word) "did you mean '" word "'?"

static const struct row rows[] = {
    {.argv = {"npm", "test", "--json"}, .verb = SBOX_VERB_RUN, .first = "npm"},
    {.argv = {"-n", "npm"}, .verb = SBOX_VERB_RUN, .first = "npm"},
    {.argv = {"-nq", "npm"}, .verb = SBOX_VERB_RUN, .first = "npm"},
    {.argv = {"--", "diff"}, .verb = SBOX_VERB_RUN, .first = "diff"},
    {.argv = {"--", "verify"}, .verb = SBOX_VERB_RUN, .first = "verify"},
    {.argv = {"-n", "--", "-x"}, .verb = SBOX_VERB_RUN, .first = "-x"},
    {.argv = {"run", "--", "lock"}, .verb = SBOX_VERB_RUN, .first = "lock"},
    {.argv = {"run", "-C", "lock", "status"}, .verb = SBOX_VERB_RUN, .first = "status"},
    {.argv = {"-C", "lock", "status"}, .verb = SBOX_VERB_STATUS},
    {.argv = {"--json", "status"}, .verb = SBOX_VERB_STATUS},
    {.argv = {"status", "--json"}, .verb = SBOX_VERB_STATUS},
    {.argv = {"lock", "--", "-x"}, .verb = SBOX_VERB_LOCK, .first = "-x"},
    {.argv = {"lock", "-"}, .exit = 2, .has = "'-'"},
    {.argv = {"lock", "--", "-"}, .verb = SBOX_VERB_LOCK, .first = "-"},
    {.argv = {"--help"}, .verb = SBOX_VERB_NONE},
    {.argv = {"run", "--help"}, .verb = SBOX_VERB_RUN},
    {.argv = {"npm", "--help"}, .verb = SBOX_VERB_RUN, .first = "npm"},
    {.argv = {"--version"}, .verb = SBOX_VERB_NONE},
    {.argv = {"--verify=full", "a"}, .verb = SBOX_VERB_RUN, .first = "a"},
    {.argv = {"--verify", "full", "a"}, .verb = SBOX_VERB_RUN, .first = "a"},

    /* 2: sbox itself and the verbs but run */
    {.argv = {NULL}, .exit = 2, .has = "no command given"},
    {.argv = {"--bogus"}, .exit = 2, .has = "unknown option '--bogus'"},
    {.argv = {"--jsn", "verify"}, .exit = 2, .has = DID_YOU_MEAN("--json")},
    {.argv = {"verify", "--jsn", "--json"}, .exit = 2, .has = DID_YOU_MEAN("--json"), .json = true},
    {.argv = {"verify", "--off"}, .exit = 2, .has = "'sbox verify --help'"},
    {.argv = {"verify", "--al"}, .exit = 2, .has = DID_YOU_MEAN("--all")},
    {.argv = {"verify", "--offline"}, .exit = 2, .has = "is an option of run, not of verify"},
    {.argv = {"verify", "x", "--json"}, .exit = 2, .has = "stand before its PATHs", .json = true},
    {.argv = {"status", "x"}, .exit = 2, .has = "takes no arguments"},
    {.argv = {"lock", ""}, .exit = 2, .has = "empty PATH"},
    {.argv = {"-C"}, .exit = 2, .has = "'-C' needs a value: DIR"},
    {.argv = {"lock", "-C", ""}, .exit = 2, .has = "'-C' needs a value: DIR"},
    {.argv = {"lock", "--workspace="}, .exit = 2, .has = "'--workspace' needs a value: DIR"},
    {.argv = {"lock", "--json=1"}, .exit = 2, .has = "'--json' takes no value"},
    {.argv = {"--version", "lock"}, .exit = 2, .has = "stands alone"},
    {.argv = {"--json", "key"}, .exit = 2, .has = "not built yet", .json = true},

    /* 125: run and the short form */
    {.argv = {"run"}, .exit = 125, .has = "no command to run"},
    {.argv = {"run", ""}, .exit = 125, .has = "no command to run"},
    {.argv = {"--"}, .exit = 125, .has = "no command to run"},
    {.argv = {"-n"}, .exit = 125, .has = "no command given"},
    {.argv = {"--ofline", "npm"}, .exit = 125, .has = DID_YOU_MEAN("--offline")},
    {.argv = {"--offl", "npm"}, .exit = 125, .has = DID_YOU_MEAN("--offline")},
    {.argv = {"-x", "--", "npm"}, .exit = 125, .has = "unknown option '-x'"},
    {.argv = {"-nx", "npm"}, .exit = 125, .has = "unknown option '-x' in '-nx'"},
    {.argv = {"--json", "npm"},
     .exit = 125,
     .has = "'--json' is an option of lock, verify, status"},
    {.argv = {"run", "--fast", "npm"}, .exit = 125, .has = "is an option of verify, not of run"},
    {.argv = {"--offline=yes", "npm"}, .exit = 125, .has = "takes no value"},
    {.argv = {"--verify=quick", "npm"}, .exit = 125, .has = "takes fast|full, not 'quick'"},
    {.argv = {"--verify=fas", "npm"}, .exit = 125, .has = "takes fast|full"},
    {.argv = {"--verify=fastest", "npm"}, .exit = 125, .has = "takes fast|full"},
    {.argv = {"--pass-fd=2", "npm"}, .exit = 125, .has = "3 or more"},
    {.argv = {"--pass-fd=x", "npm"}, .exit = 125, .has = "3 or more"},
    {.argv = {"-e", "=x", "npm"}, .exit = 125, .has = "NAME or NAME=VALUE"},
    {.argv = {"run", "-e"}, .exit = 125, .has = "'-e' needs a value"},
    {.argv = {"-o"}, .exit = 125, .has = "'-o' needs a value: HOSTS"},
    {.argv = {"-o", ""}, .exit = 125, .has = "needs a value: HOSTS"},
    {.argv = {"--allow-net-out=", "npm"}, .exit = 125, .has = "needs a value: HOSTS"},
    /* E1, E19: no spelling of "no host" opens anything */
    {.argv = {"--allow-net-out"}, .exit = 125, .has = "no command"},
    {.argv = {"-o", "a.test", "npm"}, .verb = SBOX_VERB_RUN, .first = "npm"},
    {.argv = {"-oa.test", "npm"}, .verb = SBOX_VERB_RUN, .first = "npm"},
    {.argv = {"--allow-net-out=a.test,b.test", "npm"}, .verb = SBOX_VERB_RUN, .first = "npm"},
    {.argv = {"--allow-net-out", "npm"}, .verb = SBOX_VERB_RUN, .first = "npm"},
    {.argv = {"-o", ",,", "npm"}, .exit = 125, .has = "no host in ',,'"},
    {.argv = {"-o", " , ", "npm"}, .exit = 125, .has = "no host in"},
    {.argv = {"-o"}, .exit = 125, .has = "needs a value: HOSTS"},
    {.argv = {"-n", "-o", "a.test", "npm"}, .exit = 125, .has = "contradict each other"},
    {.argv = {"-n", "--allow-net-out", "npm"}, .exit = 125, .has = "contradict each other"},
    {.argv = {"-n", "-p", "80", "npm"}, .exit = 125, .has = "'--publish' contradict"},
    {.argv = {"-n", "--allow-host-port", "80", "npm"}, .exit = 125, .has = "contradict"},
    {.argv = {"--allow-net-out", "-o", "a.test", "npm"}, .exit = 125, .has = "whole network"},
    {.argv = {"--allow-net-out", "-p", "80", "npm"}, .exit = 125, .has = "no meaning"},
    {.argv = {"--allow-private", "npm"}, .exit = 125, .has = "names in a list"},
    {.argv = {"log"}, .verb = SBOX_VERB_LOG},
    {.argv = {"log", "-p"}, .verb = SBOX_VERB_LOG},
    {.argv = {"log", "-p", "--net"}, .exit = 2, .has = "leave one out"},
    {.argv = {"restore", "-n"}, .verb = SBOX_VERB_RESTORE},
    {.argv = {"log", "--net"}, .verb = SBOX_VERB_LOG},
    {.argv = {"suggest", "--json"}, .verb = SBOX_VERB_SUGGEST},
};

static int parse(const char *const *words, struct sbox_options *o, struct sbox_usage *usage)
{
    static char *argv[WORDS + 2];
    int argc = 1;
    argv[0] = (char *)(uintptr_t) "sbox";
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    argv[argc] = NULL;
    return sbox_options_parse(argc, argv, o, usage);
}

static void test_row(void **state)
{
    const struct row *row = *state;
    struct sbox_options o;
    struct sbox_usage usage = {0};
    int r = parse(row->argv, &o, &usage);
    assert_int_equal(r, row->exit ? -EINVAL : 0);
    if (row->exit) {
        assert_int_equal(usage.exit, row->exit);
        assert_non_null(strstr(usage.error.message, row->has));
        assert_null(strchr(usage.error.message, '\n'));
        assert_int_equal(usage.json, row->json);
    } else {
        assert_int_equal(o.verb, row->verb);
        if (row->first)
            assert_string_equal(o.args[0], row->first);
    }
    sbox_options_release(&o);
}

static void test_values_arrive(void **state)
{
    (void)state;
    static const char *const words[] = {"-nqC",    "d1",   "-Cd2", "-eA=1",       "--env", "B",
                                        "--ro=/a", "--ro", "/b",   "--pass-fd=7", "cmd",   NULL};
    struct sbox_options o;
    struct sbox_usage usage = {0};
    assert_int_equal(parse(words, &o, &usage), 0);
    assert_true(o.offline);
    assert_true(o.short_form);
    assert_int_equal(o.level, SBOX_LOG_QUIET);
    assert_string_equal(o.directory, "d2"); /* the last one holds */
    assert_int_equal(o.env.count, 2);
    assert_string_equal(o.env.items[0], "A=1");
    assert_string_equal(o.ro.items[1], "/b");
    assert_int_equal(o.pass_fd_count, 1);
    assert_int_equal(o.pass_fd[0], 7);
    assert_int_equal(o.arg_count, 1);
    sbox_options_release(&o);
}

static void test_names_from_outside_are_escaped(void **state)
{
    (void)state;
    static const char *const words[] = {"--\x1b[31m\xff", "npm", NULL};
    struct sbox_options o;
    struct sbox_usage usage = {0};
    assert_int_equal(parse(words, &o, &usage), -EINVAL);
    assert_non_null(strstr(usage.error.message, "'--\\x1b[31m\\xff'"));
    sbox_options_release(&o);
}

static void test_no_arguments_at_all(void **state)
{
    (void)state;
    char *argv[] = {NULL};
    struct sbox_options o;
    struct sbox_usage usage = {0};
    assert_int_equal(sbox_options_parse(0, argv, &o, &usage), -EINVAL);
    assert_int_equal(usage.exit, 2);
    sbox_options_release(&o);
}

/* The parser keeps what it has seen in 64 bits, and spells options into 32 bytes. */
static void test_table_is_sound(void **state)
{
    (void)state;
    assert_true(sbox_option_count <= 64);
    for (size_t i = 0; i < sbox_option_count; i++) {
        const struct sbox_option *o = &sbox_option_table[i];
        assert_true(o->short_name || o->long_name);
        assert_true(!o->long_name || strlen(o->long_name) + 3 <= SBOX_SPELLING_SIZE);
        assert_true(o->verbs != 0 && o->help[0] && o->man[0]);
        if (o->short_name)
            for (int v = SBOX_VERB_NONE; v < SBOX_VERB_COUNT; v++)
                if (o->verbs & SBOX_FOR(v))
                    assert_ptr_equal(sbox_option_find_short(o->short_name, (enum sbox_verb)v), o);
        if (o->long_name)
            assert_ptr_equal(sbox_option_find_long(o->long_name, strlen(o->long_name)), o);
    }
}

static void test_suggestions(void **state)
{
    (void)state;
    assert_int_equal(sbox_suggest_distance("kitten", "sitting"), 3);
    assert_int_equal(sbox_suggest_distance("verfiy", "verify"), 1);
    assert_int_equal(sbox_suggest_distance("", "abc"), 3);
    struct sbox_suggest s = {.typed = "sort"};
    sbox_suggest_offer(&s, "ro");
    assert_null(s.best);
    s = (struct sbox_suggest){.typed = "lokc"};
    sbox_suggest_offer(&s, "lock");
    sbox_suggest_offer(&s, "run");
    assert_string_equal(s.best, "lock");
}

enum { ROWS = sizeof rows / sizeof *rows };

int main(void)
{
    static struct CMUnitTest tests[ROWS];
    static char names[ROWS][160];
    for (size_t i = 0; i < ROWS; i++) {
        size_t used = (size_t)snprintf(names[i], sizeof *names, "sbox");
        for (const char *const *word = rows[i].argv; *word; word++)
            used += (size_t)snprintf(names[i] + used, sizeof *names - used, " %s", *word);
        tests[i] = (struct CMUnitTest){
            .name = names[i], .test_func = test_row, .initial_state = (void *)(uintptr_t)&rows[i]};
    }
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_values_arrive),
        cmocka_unit_test(test_names_from_outside_are_escaped),
        cmocka_unit_test(test_no_arguments_at_all),
        cmocka_unit_test(test_table_is_sound),
        cmocka_unit_test(test_suggestions),
    };
    return cmocka_run_group_tests_name("command lines", tests, NULL, NULL) +
           cmocka_run_group_tests_name("the rest", others, NULL, NULL);
}
