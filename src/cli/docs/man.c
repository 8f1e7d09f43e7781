#include "base/error.h"
#include "cli/docs/docs.h"
#include "cli/option_table.h"

/* ---- text to mdoc(7) ---- */

/* A hyphen that begins a word is a minus: it can be searched for and copied. */
static void escape_text(struct sbox_buf *out, const char *s, size_t size)
{
    if (size > 0 && (*s == '.' || *s == '\''))
        sbox_buf_add_str(out, "\\&");
    for (size_t i = 0; i < size; i++) {
        bool begins = i == 0 || s[i - 1] == ' ' || s[i - 1] == '-';
        if (s[i] == '\\')
            sbox_buf_add_str(out, "\\e");
        else if (s[i] == '-' && begins)
            sbox_buf_add_str(out, "\\-");
        else
            sbox_buf_add_byte(out, (uint8_t)s[i]);
    }
}

/* Bytes up to the end of the sentence at `s`, its full stop included. */
static size_t sentence_size(const char *s)
{
    size_t i = 0;
    while (s[i] && s[i] != '\n') {
        bool stop = s[i] == '.' || s[i] == ':';
        if (stop && s[i + 1] == ' ')
            return i + 1;
        i++;
    }
    return i;
}

/* mdoc wants each sentence on a line of its own. */
static void paragraphs(struct sbox_buf *out, const char *text)
{
    while (*text) {
        size_t size = sentence_size(text);
        escape_text(out, text, size);
        sbox_buf_add_byte(out, '\n');
        text += size;
        if (text[0] == '\n' && text[1] == '\n')
            sbox_buf_add_str(out, ".Pp\n");
        text += strspn(text, " \n");
    }
}

/* ---- verbs ---- */

static void verbs(struct sbox_buf *out)
{
    sbox_buf_add_str(out, ".Bl -tag -width Ds\n");
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++) {
        const struct sbox_verb_info *info = &sbox_verb_table[v];
        sbox_buf_addf(out, ".It Nm sbox Cm %s Oo Ar OPTIONS Oc%s%s\n", info->name,
                      info->synopsis[0] ? " Ar " : "", info->synopsis);
        paragraphs(out, info->man);
    }
    sbox_buf_add_str(out, ".El\n");
}

/* ---- options ---- */

static bool is_common(const struct sbox_option *option)
{
    unsigned v = option->verbs;
    return (v & SBOX_FOR(SBOX_VERB_NONE)) || (v & (v - 1)) != 0;
}

static void option_item(struct sbox_buf *out, const struct sbox_option *option)
{
    sbox_buf_add_str(out, ".It");
    if (option->short_name)
        sbox_buf_addf(out, " Fl %c", option->short_name);
    if (option->short_name && option->argument)
        sbox_buf_addf(out, " Ar %s", option->argument);
    if (option->short_name && option->long_name)
        sbox_buf_add_str(out, " ,");
    if (option->long_name)
        sbox_buf_addf(out, " Fl -%s", option->long_name);
    if (option->long_name && option->argument)
        sbox_buf_addf(out, " Ns = Ns Ar %s", option->argument);
    sbox_buf_add_byte(out, '\n');
    paragraphs(out, option->man);
}

static void of_verbs(struct sbox_buf *out, const struct sbox_option *option)
{
    const char *joint = "Of ";
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++) {
        if (!(option->verbs & SBOX_FOR(v)))
            continue;
        sbox_buf_addf(out, "%s%s", joint, sbox_verb_table[v].name);
        unsigned later = option->verbs >> (v + 1);
        joint = later & (later - 1) ? ", " : " and ";
    }
    if (joint[0] != 'O')
        sbox_buf_add_str(out, ".\n");
}

static void options(struct sbox_buf *out)
{
    sbox_buf_add_str(out, ".Ss Common options\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < sbox_option_count; i++) {
        if (!is_common(&sbox_option_table[i]))
            continue;
        option_item(out, &sbox_option_table[i]);
        of_verbs(out, &sbox_option_table[i]);
    }
    sbox_buf_add_str(out, ".El\n");
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++) {
        bool begun = false;
        for (size_t i = 0; i < sbox_option_count; i++) {
            const struct sbox_option *option = &sbox_option_table[i];
            if (option->verbs != SBOX_FOR(v))
                continue;
            if (!begun)
                sbox_buf_addf(out, ".Ss Options of %s\n.Bl -tag -width Ds\n",
                              sbox_verb_table[v].name);
            begun = true;
            option_item(out, option);
        }
        if (begun)
            sbox_buf_add_str(out, ".El\n");
    }
}

/* ---- the page ---- */

static const char *line_of(const char *text, const char *line)
{
    size_t size = strlen(line);
    for (const char *at = strstr(text, line); at; at = strstr(at + 1, line))
        if ((at == text || at[-1] == '\n') && at[size] == '\n')
            return at;
    return NULL;
}

int sbox_docs_man(const char *template, struct sbox_buf *out)
{
    static const char verbs_mark[] = "@VERBS@";
    static const char options_mark[] = "@OPTIONS@";
    const char *first = line_of(template, verbs_mark);
    const char *second = first ? line_of(first, options_mark) : NULL;
    if (!second)
        return -EINVAL;
    sbox_buf_add(out, template, (size_t)(first - template));
    verbs(out);
    first += sizeof verbs_mark;
    sbox_buf_add(out, first, (size_t)(second - first));
    options(out);
    sbox_buf_add_str(out, second + sizeof options_mark);
    return 0;
}
