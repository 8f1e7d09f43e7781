/* Each verb and option of the table stands in --help, in the man page and in the completions. */
#include "cli/docs/docs.h"
#include "cli/help.h"
#include "cli/option_table.h"
#include "unit/cmocka_all.h"

static char *text_of(struct sbox_buf *b)
{
    char *text = sbox_buf_take_str(b);
    assert_non_null(text);
    return text;
}

static void assert_has(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("'%s' is not there", what);
}

/* Both spellings, with what stands before them in that format. */
static void assert_option(const char *text, const struct sbox_option *o, const char *short_format,
                          const char *long_format)
{
    char what[80];
    if (o->short_name) {
        (void)snprintf(what, sizeof what, "%s%c", short_format, o->short_name);
        assert_has(text, what);
    }
    if (o->long_name) {
        (void)snprintf(what, sizeof what, "%s%s", long_format, o->long_name);
        assert_has(text, what);
    }
}

static void test_help(void **state)
{
    (void)state;
    for (int v = SBOX_VERB_NONE; v < SBOX_VERB_COUNT; v++) {
        struct sbox_buf out = {0};
        sbox_help_text((enum sbox_verb)v, &out);
        char *text = text_of(&out);
        for (size_t i = 0; i < sbox_option_count; i++)
            if (sbox_option_table[i].verbs & SBOX_FOR(v))
                assert_option(text, &sbox_option_table[i], "-", "--");
        for (int w = SBOX_VERB_NONE + 1; v == SBOX_VERB_NONE && w < SBOX_VERB_COUNT; w++)
            assert_has(text, sbox_verb_table[w].help);
        for (const char *line = text; line;
             line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
            assert_true(strcspn(line, "\n") <= 80);
        free(text);
    }
}

static void test_man(void **state)
{
    (void)state;
    struct sbox_buf out = {0};
    assert_int_equal(sbox_docs_man("before\n@VERBS@\nbetween\n@OPTIONS@\nafter\n", &out), 0);
    char *text = text_of(&out);
    for (size_t i = 0; i < sbox_option_count; i++)
        assert_option(text, &sbox_option_table[i], " Fl ", " Fl -");
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++)
        assert_has(text, sbox_verb_table[v].name);
    assert_has(text, "before\n.Bl");
    assert_has(text, ".El\nbetween\n.Ss");
    assert_has(text, ".El\nafter\n");
    free(text);

    struct sbox_buf none = {0};
    assert_int_equal(sbox_docs_man("@VERBS@\n", &none), -EINVAL);
    assert_int_equal(sbox_docs_man("x@VERBS@\n@OPTIONS@\n", &none), -EINVAL);
    sbox_buf_release(&none);
}

/* In zsh a short option is '-n[' or '*-e+[': what stands behind it tells it from other text. */
static void test_zsh_short_options(void **state)
{
    (void)state;
    struct sbox_buf out = {0};
    sbox_docs_zsh(&out);
    char *text = text_of(&out);
    for (size_t i = 0; i < sbox_option_count; i++) {
        const struct sbox_option *o = &sbox_option_table[i];
        char what[8];
        (void)snprintf(what, sizeof what, "-%c%s[", o->short_name, o->argument ? "+" : "");
        if (o->short_name)
            assert_has(text, what);
    }
    free(text);
}

static void check_completion(void (*make)(struct sbox_buf *), const char *short_format,
                             const char *long_format)
{
    struct sbox_buf out = {0};
    make(&out);
    char *text = text_of(&out);
    for (size_t i = 0; i < sbox_option_count; i++)
        assert_option(text, &sbox_option_table[i], short_format, long_format);
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++)
        assert_has(text, sbox_verb_table[v].name);
    free(text);
}

static void test_completions(void **state)
{
    (void)state;
    check_completion(sbox_docs_bash, " -", " --");
    check_completion(sbox_docs_zsh, "-", "--");
    check_completion(sbox_docs_fish, " -s ", " -l ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_man),
        cmocka_unit_test(test_completions),
        cmocka_unit_test(test_zsh_short_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
