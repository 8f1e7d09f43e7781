/* The parser.
 *
 *     sbox [OPTIONS] COMMAND [OPTIONS] [--] WORD...
 *
 * Options end at the first word that is none, or at "--". A first word that is no verb is a command
 * to run; so is whatever follows a "--" in that place (`sbox -- diff`). Options before the verb are
 * taken as they come and checked once the verb is known. The rules for values:
 *
 *   --name=VALUE, --name VALUE    one long option; no abbreviations
 *   -n -q, -nq                    short options, alone or in a cluster
 *   -C DIR, -CDIR, -qC DIR        the last of a cluster may take a value
 *   repeated                      the last one holds, but lists (-e, --ro ...) grow
 */
#include "cli/options.h"

#include "base/escape.h"
#include "cli/option_table.h"
#include "cli/suggest.h"

#include <stdint.h>

struct parser {
    char **argv; /* NULL-terminated */
    int at;      /* the next word */
    bool dashes; /* the options were ended by "--" */
    uint64_t seen;
    struct sbox_options *o;
    struct sbox_usage *usage;
};

/* Which verb do the words that are still to come name? For the exit status of a mistake that is
 * found before the verb is known. */
static enum sbox_verb verb_ahead(const struct parser *p, const char **ret_name)
{
    *ret_name = NULL;
    for (char **word = p->argv + p->at; *word; word++) {
        if (strcmp(*word, "--") == 0)
            return SBOX_VERB_RUN;
        if ((*word)[0] == '-')
            continue;
        enum sbox_verb verb = sbox_verb_find(*word);
        bool future = verb == SBOX_VERB_NONE && sbox_verb_is_future(*word);
        *ret_name = verb != SBOX_VERB_NONE || future ? *word : NULL;
        return future ? SBOX_VERB_NONE : verb == SBOX_VERB_NONE ? SBOX_VERB_RUN : verb;
    }
    return SBOX_VERB_NONE;
}

static bool for_run_only(const struct parser *p)
{
    for (size_t i = 0; i < sbox_option_count; i++)
        if ((p->seen >> i & 1) && sbox_option_table[i].verbs == SBOX_FOR(SBOX_VERB_RUN))
            return true;
    return false;
}

static bool json_among_options(char **argv)
{
    for (char **word = argv + 1; *word && strcmp(*word, "--") != 0; word++)
        if (strcmp(*word, "--json") == 0)
            return true;
    return false;
}

/* Completes the usage error whose message is already there. */
static int refuse(struct parser *p)
{
    const char *name = sbox_verb_table[p->o->verb].name;
    enum sbox_verb verb = p->o->verb;
    if (verb == SBOX_VERB_NONE)
        verb = verb_ahead(p, &name);
    if (verb == SBOX_VERB_NONE && !name && for_run_only(p))
        verb = SBOX_VERB_RUN;
    bool run = verb == SBOX_VERB_RUN;
    p->usage->exit = run ? SBOX_EXIT_FAILED : SBOX_EXIT_UNKNOWN;
    p->usage->verb = name;
    p->usage->json = !run && json_among_options(p->argv);
    return -EINVAL;
}

#define USAGE(p, ...) (sbox_error_say(&(p)->usage->error, EINVAL, __VA_ARGS__), refuse(p))

/* ---- values ---- */

static bool choice_index(const char *words, const char *value, int *ret)
{
    int index = 0;
    for (const char *word = value ? words : NULL; word; index++) {
        const char *bar = strchr(word, '|');
        size_t size = bar ? (size_t)(bar - word) : strlen(word);
        if (strlen(value) == size && memcmp(word, value, size) == 0) {
            *ret = index;
            return true;
        }
        word = bar ? bar + 1 : NULL;
    }
    return false;
}

static int add_to_list(struct parser *p, struct sbox_strv *list, const char *value)
{
    return sbox_strv_add(list, value) < 0 ? USAGE(p, "out of memory") : 0;
}

static int add_fd(struct parser *p, const char *value)
{
    struct sbox_options *o = p->o;
    unsigned long long fd;
    if (sbox_parse_u64(value, INT32_MAX, &fd) < 0 || fd < 3)
        return USAGE(p, "'--pass-fd' takes the number of a descriptor, 3 or more, not '%s'",
                     sbox_esc(value));
    if (o->pass_fd_count == SBOX_PASS_FD_MAX)
        return USAGE(p, "'--pass-fd' can be given %d times, not more", SBOX_PASS_FD_MAX);
    o->pass_fd[o->pass_fd_count++] = (int)fd;
    return 0;
}

/* HOST[:PORT][,...]. An element that is empty is passed over, a list of nothing else is a mistake:
 * it must never end up as "no list, so no limit". */
static int add_hosts(struct parser *p, const char *value)
{
    size_t before = p->o->net_rules.count;
    if (!value) {
        p->o->open_network = true;
        return 0;
    }
    for (const char *at = value; *at;) {
        at += strspn(at, ", ");
        size_t size = strcspn(at, ",");
        while (size > 0 && at[size - 1] == ' ')
            size--;
        if (size > 0 && sbox_strv_addf(&p->o->net_rules, "%.*s", (int)size, at) < 0)
            return USAGE(p, "out of memory");
        at += size;
        at += strcspn(at, ",");
    }
    if (p->o->net_rules.count == before)
        return USAGE(p, "no host in '%s': --allow-net-out=HOST[:PORT][,...], or -o HOST",
                     sbox_esc(value));
    return 0;
}

/* `option` as it stands in the table, `value` NULL when it has none. */
static int apply(struct parser *p, const struct sbox_option *option, const char *value)
{
    void *field = (char *)p->o + option->offset;
    char spelling[SBOX_SPELLING_SIZE];
    sbox_option_spell(option, spelling);
    if (value && *value == '\0')
        return USAGE(p, "'%s' needs a value: %s", spelling, option->argument);
    switch (option->setter) {
    case SBOX_SET_FLAG:
        *(bool *)field = true;
        return 0;
    case SBOX_SET_INT:
        *(int *)field = option->value;
        return 0;
    case SBOX_SET_CHOICE:
        if (!choice_index(option->argument, value, field))
            return USAGE(p, "'%s' takes %s, not '%s'", spelling, option->argument, sbox_esc(value));
        return 0;
    case SBOX_SET_STRING:
        *(const char **)field = value;
        return 0;
    case SBOX_SET_LIST:
        return add_to_list(p, field, value);
    case SBOX_SET_ENV:
        if (!value || *value == '=')
            return USAGE(p, "'%s' takes NAME or NAME=VALUE, not '%s'", spelling,
                         value ? sbox_esc(value) : "");
        return add_to_list(p, field, value);
    case SBOX_SET_FD:
        return add_fd(p, value);
    case SBOX_SET_HOSTS:
        return add_hosts(p, value);
    case SBOX_SET_NOTHING:
        return 0;
    }
    return 0;
}

/* ---- words that are options ---- */

/* Before its value is looked at: a mistake there has the exit status of the option's verb. */
static void note_seen(struct parser *p, const struct sbox_option *option)
{
    p->seen |= UINT64_C(1) << (option - sbox_option_table);
}

static int unknown_option(struct parser *p, const char *word, size_t size)
{
    char typed[SBOX_SPELLING_SIZE];
    (void)snprintf(typed, sizeof typed, "%.*s", (int)size - 2, word + 2);
    struct sbox_suggest s = {.typed = typed};
    for (size_t i = 0; i < sbox_option_count; i++) {
        const struct sbox_option *option = &sbox_option_table[i];
        bool fits = p->o->verb == SBOX_VERB_NONE || (option->verbs & SBOX_FOR(p->o->verb));
        if (option->long_name && fits)
            sbox_suggest_offer(&s, option->long_name);
    }
    const char *shown = sbox_esc_n(word, size);
    if (s.best && size - 2 < sizeof typed)
        return USAGE(p, "unknown option '%s': did you mean '--%s'?", shown, s.best);
    const char *verb = sbox_verb_table[p->o->verb].name;
    return USAGE(p, "unknown option '%s': 'sbox %s%s--help' lists what there is", shown,
                 verb ? verb : "", verb ? " " : "");
}

static int take_value(struct parser *p, const struct sbox_option *option, const char *spelling,
                      const char **ret_value)
{
    *ret_value = p->argv[p->at];
    if (!*ret_value)
        return USAGE(p, "'%s' needs a value: %s", spelling, option->argument);
    p->at++;
    return 0;
}

static int parse_long(struct parser *p, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word) : strlen(word);
    const struct sbox_option *option = sbox_option_find_long(word + 2, size - 2);
    if (!option)
        return unknown_option(p, word, size);
    note_seen(p, option);
    const char *value = equals ? equals + 1 : NULL;
    if (value && !option->argument)
        return USAGE(p, "'--%s' takes no value", option->long_name);
    if (option->argument && !value && !option->attached) {
        char spelling[SBOX_SPELLING_SIZE];
        sbox_option_spell(option, spelling);
        int r = take_value(p, option, spelling, &value);
        if (r < 0)
            return r;
    }
    return apply(p, option, value);
}

static int parse_cluster(struct parser *p, const char *word)
{
    for (const char *c = word + 1; *c; c++) {
        const struct sbox_option *option = sbox_option_find_short(*c, p->o->verb);
        if (!option) {
            size_t n = sbox_utf8_next(c, strlen(c), NULL);
            return USAGE(p, "unknown option '-%s' in '%s'", sbox_esc_n(c, n > 0 ? n : 1),
                         sbox_esc(word));
        }
        note_seen(p, option);
        const char *value = NULL;
        char spelling[] = {'-', *c, '\0'};
        if (option->argument && c[1] != '\0')
            value = c + 1;
        else if (option->argument && take_value(p, option, spelling, &value) < 0)
            return -EINVAL;
        int r = apply(p, option, value);
        if (r < 0 || value)
            return r;
    }
    return 0;
}

/* Reads options up to the first word that is none; steps over a "--". */
static int parse_options(struct parser *p)
{
    for (const char *word; (word = p->argv[p->at]) != NULL;) {
        if (word[0] != '-' || word[1] == '\0')
            return 0;
        p->at++;
        if (strcmp(word, "--") == 0) {
            p->dashes = true;
            return 0;
        }
        int r = word[1] == '-' ? parse_long(p, word) : parse_cluster(p, word);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- the verb ---- */

static int parse_verb(struct parser *p)
{
    const char *word = p->argv[p->at];
    if (p->dashes || word)
        p->o->verb = p->dashes ? SBOX_VERB_RUN : sbox_verb_find(word);
    if (p->o->verb != SBOX_VERB_NONE && !p->dashes) {
        p->at++;
        return parse_options(p);
    }
    if (word && !p->dashes && sbox_verb_is_future(word))
        return USAGE(p, "'%s' is not built yet ('sbox -- %s' runs a command of that name)", word,
                     word);
    p->o->short_form = word || p->dashes;
    p->o->verb = p->o->short_form ? SBOX_VERB_RUN : SBOX_VERB_NONE;
    return 0;
}

/* "lock, verify and run" for a message. */
static void verbs_of(const struct sbox_option *option, char *ret, size_t size)
{
    size_t used = 0;
    ret[0] = '\0';
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++) {
        unsigned later = option->verbs >> (v + 1);
        if (!(option->verbs & SBOX_FOR(v)) || used >= size)
            continue;
        const char *joint = used == 0 ? "" : later ? ", " : " and ";
        used += (size_t)snprintf(ret + used, size - used, "%s%s", joint, sbox_verb_table[v].name);
    }
}

static int refuse_option(struct parser *p, const struct sbox_option *option)
{
    char spelling[SBOX_SPELLING_SIZE];
    char verbs[160];
    sbox_option_spell(option, spelling);
    verbs_of(option, verbs, sizeof verbs);
    if (verbs[0] == '\0')
        return USAGE(p, "'%s' stands alone, without a command", spelling);
    return USAGE(p, "'%s' is an option of %s, not of %s", spelling, verbs,
                 sbox_verb_table[p->o->verb].name);
}

static int check_seen(struct parser *p)
{
    for (size_t i = 0; i < sbox_option_count; i++) {
        const struct sbox_option *option = &sbox_option_table[i];
        if (!(p->seen >> i & 1))
            continue;
        if (p->o->verb != SBOX_VERB_NONE && !(option->verbs & SBOX_FOR(p->o->verb)))
            return refuse_option(p, option);
        if (option->not_yet) {
            char spelling[SBOX_SPELLING_SIZE];
            sbox_option_spell(option, spelling);
            return USAGE(p, "'%s%s%s' is not built yet: %s", spelling, option->argument ? "=" : "",
                         option->argument ? option->argument : "", option->not_yet);
        }
    }
    return 0;
}

/* ---- the words after the options ---- */

static int check_network(struct parser *p)
{
    const struct sbox_options *o = p->o;
    bool listed = o->net_rules.count > 0;
    const char *opens = listed || o->open_network ? "--allow-net-out"
                        : o->publish.count > 0    ? "--publish"
                        : o->host_port.count > 0  ? "--allow-host-port"
                                                  : NULL;
    if (o->offline && opens)
        return USAGE(p, "'--offline' and '%s' contradict each other: leave one out", opens);
    if (o->open_network && listed)
        return USAGE(p, "'--allow-net-out' without hosts opens the whole network, and hosts are "
                        "listed, too: leave it out, or write --allow-net-out=HOST[,...]");
    if (o->open_network && (o->publish.count > 0 || o->host_port.count > 0))
        return USAGE(p,
                     "'%s' has no meaning with '--allow-net-out' without hosts: the command is "
                     "on the host's network",
                     o->publish.count > 0 ? "--publish" : "--allow-host-port");
    if (o->allow_private && !listed)
        return USAGE(p, "'--allow-private' is about names in a list: give one with "
                        "--allow-net-out=HOST[,...]");
    return 0;
}

static int check_words(struct parser *p)
{
    const struct sbox_options *o = p->o;
    const char *name = sbox_verb_table[o->verb].name;
    if (o->verb == SBOX_VERB_NONE)
        return USAGE(p, "no command given: 'sbox --help' lists what there is");
    if (o->verb == SBOX_VERB_RUN && (!o->args[0] || o->args[0][0] == '\0'))
        return USAGE(p, "no command to run: sbox run [OPTIONS] [--] COMMAND [ARGUMENT...]");
    if (o->verb == SBOX_VERB_RUN)
        return check_network(p);
    if (o->verb == SBOX_VERB_LOG && o->net && o->patch)
        return USAGE(p, "'--patch' is about locks, '--net' about runs: leave one out");
    if (o->args[0] && sbox_verb_table[o->verb].synopsis[0] == '\0')
        return USAGE(p, "'%s' takes no arguments ('%s')", name, sbox_esc(o->args[0]));
    for (size_t i = 0; i < o->arg_count; i++) {
        if (o->args[i][0] == '\0')
            return USAGE(p, "an empty PATH for '%s'", name);
        if (o->args[i][0] == '-' && !p->dashes)
            return USAGE(p, "'%s' after a PATH: options of '%s' stand before its PATHs",
                         sbox_esc(o->args[i]), name);
    }
    return 0;
}

int sbox_options_parse(int argc, char **argv, struct sbox_options *ret,
                       struct sbox_usage *ret_usage)
{
    static char *none[] = {NULL, NULL}; /* execve(2) with an empty argv: Linux < 5.18 */
    *ret = (struct sbox_options){.args = none};
    struct parser p = {
        .argv = argc > 0 ? argv : none, .at = argc > 0 ? 1 : 0, .o = ret, .usage = ret_usage};
    int r = parse_options(&p);
    if (r == 0)
        r = parse_verb(&p);
    if (r == 0)
        r = check_seen(&p);
    if (r < 0)
        return r;
    ret->args = p.argv + p.at;
    while (ret->args[ret->arg_count])
        ret->arg_count++;
    return ret->help || ret->version ? 0 : check_words(&p);
}

void sbox_options_release(struct sbox_options *o)
{
    sbox_strv_release(&o->net_rules);
    sbox_strv_release(&o->publish);
    sbox_strv_release(&o->host_port);
    sbox_strv_release(&o->env);
    sbox_strv_release(&o->unmask);
    sbox_strv_release(&o->mask);
    sbox_strv_release(&o->ro);
    sbox_strv_release(&o->rw);
}
