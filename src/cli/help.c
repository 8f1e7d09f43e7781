#include "cli/help.h"

#include "cli/option_table.h"

enum { WIDTH = 79, COLUMN = 26 };

/* `text` in lines of WIDTH, each but the first after `indent` spaces; "\n\n" starts a paragraph. */
static void wrap(struct sbox_buf *out, const char *text, int indent)
{
    int column = indent;
    while (*text) {
        size_t size = strcspn(text, " \n");
        if (column > indent && column + (int)size + 1 > WIDTH) {
            sbox_buf_addf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            sbox_buf_add_byte(out, ' ');
            column++;
        }
        sbox_buf_add(out, text, size);
        column += (int)size;
        text += size;
        if (text[0] == '\n' && text[1] == '\n') {
            sbox_buf_addf(out, "\n\n%*s", indent, "");
            column = indent;
        }
        text += strspn(text, " \n");
    }
    sbox_buf_add_byte(out, '\n');
}

static void row(struct sbox_buf *out, const char *left, const char *text)
{
    if (strlen(left) + 2 < COLUMN)
        sbox_buf_addf(out, "  %-*s", COLUMN - 2, left);
    else
        sbox_buf_addf(out, "  %s\n%*s", left, COLUMN, "");
    wrap(out, text, COLUMN);
}

static void option_row(struct sbox_buf *out, const struct sbox_option *option)
{
    char left[80];
    const char *argument = option->argument ? option->argument : "";
    if (!option->long_name)
        (void)snprintf(left, sizeof left, "-%c %s", option->short_name, argument);
    else if (option->short_name)
        (void)snprintf(left, sizeof left, "-%c, --%s%s%s", option->short_name, option->long_name,
                       option->argument ? "=" : "", argument);
    else
        (void)snprintf(left, sizeof left, "    --%s%s%s", option->long_name,
                       option->argument ? "=" : "", argument);
    row(out, left, option->help);
}

static void option_rows(struct sbox_buf *out, enum sbox_verb verb)
{
    for (size_t i = 0; i < sbox_option_count; i++)
        if (sbox_option_table[i].verbs & SBOX_FOR(verb))
            option_row(out, &sbox_option_table[i]);
}

static void help_of_sbox(struct sbox_buf *out)
{
    sbox_buf_add_str(out, "Usage: sbox [OPTIONS] COMMAND ...\n"
                          "       sbox [OPTIONS OF run] COMMAND-TO-RUN [ARGUMENT...]\n\n"
                          "Locks dependency trees, verifies them, and runs commands in a sandbox.\n"
                          "A first word that is none of these commands is a command to run.\n\n"
                          "Commands:\n");
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++)
        row(out, sbox_verb_table[v].name, sbox_verb_table[v].help);
    sbox_buf_add_str(out, "\nOptions:\n");
    option_rows(out, SBOX_VERB_NONE);
    sbox_buf_add_str(out, "\n'sbox COMMAND --help' lists the options of a command; see also "
                          "sbox(1).\n");
}

void sbox_help_text(enum sbox_verb verb, struct sbox_buf *out)
{
    if (verb == SBOX_VERB_NONE) {
        help_of_sbox(out);
        return;
    }
    const struct sbox_verb_info *info = &sbox_verb_table[verb];
    sbox_buf_addf(out, "Usage: sbox %s [OPTIONS]%s%s\n\n", info->name, info->synopsis[0] ? " " : "",
                  info->synopsis);
    wrap(out, info->man, 0);
    sbox_buf_add_str(out, "\nOptions:\n");
    option_rows(out, verb);
}
