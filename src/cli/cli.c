#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/help.h"
#include "cli/in_path.h"
#include "cli/option_table.h"
#include "cli/report.h"
#include "cli/suggest.h"

static int report_usage(const struct sbox_usage *usage)
{
    struct sbox_error err = usage->error;
    struct sbox_report report;
    sbox_report_init(&report, usage->verb ? usage->verb : "usage", usage->json, false, &err);
    return sbox_report_finish(&report, usage->exit);
}

static int print_version(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    sbox_report_init(&report, "version", o->json, false, &err);
    if (o->json) {
        sbox_json_object(&report.json, NULL);
        sbox_json_string(&report.json, "version", SBOX_VERSION);
        sbox_json_end_object(&report.json);
    } else {
        sbox_buf_add_str(&report.out, "sbox " SBOX_VERSION "\n");
    }
    return sbox_report_finish(&report, SBOX_EXIT_OK);
}

static int print_help(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    sbox_report_init(&report, "help", o->json, false, &err);
    _cleanup_buf_ struct sbox_buf text = {0};
    sbox_help_text(o->short_form ? SBOX_VERB_NONE : o->verb, o->json ? &text : &report.out);
    if (o->json) {
        sbox_json_object(&report.json, NULL);
        sbox_json_string_n(&report.json, "text", text.data, text.size);
        sbox_json_end_object(&report.json);
    }
    return sbox_report_finish(&report, SBOX_EXIT_OK);
}

/* `sbox verfy`: a word that is no command anywhere, and nearly a verb. */
static const char *verb_meant(const char *word)
{
    if (strchr(word, '/') || sbox_in_path(word))
        return NULL;
    if (strcmp(word, "help") == 0 || strcmp(word, "version") == 0)
        return strcmp(word, "help") == 0 ? "--help" : "--version";
    struct sbox_suggest s = {.typed = word};
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++)
        sbox_suggest_offer(&s, sbox_verb_table[v].name);
    return s.best;
}

static int run(const struct sbox_options *o)
{
    const char *meant = o->short_form ? verb_meant(o->args[0]) : NULL;
    if (!meant)
        return sbox_cmd_run(o);
    sbox_say("'%s' is no command of sbox, nor one in PATH: did you mean 'sbox %s'?",
             sbox_esc(o->args[0]), meant);
    return SBOX_EXIT_NOT_FOUND;
}

static int dispatch(const struct sbox_options *o)
{
    sbox_log_level_set((enum sbox_log_level)o->level);
    if (o->version)
        return print_version(o);
    if (o->help)
        return print_help(o);
    switch (o->verb) {
    case SBOX_VERB_LOCK:
        return sbox_cmd_lock(o);
    case SBOX_VERB_VERIFY:
        return sbox_cmd_verify(o);
    case SBOX_VERB_STATUS:
        return sbox_cmd_status(o);
    case SBOX_VERB_RUN:
        return run(o);
    case SBOX_VERB_DOCTOR:
        return sbox_cmd_doctor(o);
    case SBOX_VERB_DIFF:
        return sbox_cmd_diff(o);
    case SBOX_VERB_RESTORE:
        return sbox_cmd_restore(o);
    case SBOX_VERB_GC:
        return sbox_cmd_gc(o);
    case SBOX_VERB_FORGET:
        return sbox_cmd_forget(o);
    case SBOX_VERB_LOG:
        return sbox_cmd_log(o);
    case SBOX_VERB_SUGGEST:
        return sbox_cmd_suggest(o);
    case SBOX_VERB_NONE:
    case SBOX_VERB_COUNT:
        break;
    }
    return SBOX_EXIT_UNKNOWN;
}

int sbox_cli(int argc, char **argv)
{
    struct sbox_options options;
    struct sbox_usage usage = {0};
    int r = sbox_options_parse(argc, argv, &options, &usage);
    int exit_status = r < 0 ? report_usage(&usage) : dispatch(&options);
    sbox_options_release(&options);
    return exit_status;
}
