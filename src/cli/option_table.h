/* The one list of verbs and options. The parser, --help, the man page and the completions are made
 * from it (options.c, help.c, docs_man.c, docs_completion.c): a word that is added here is
 * understood, explained and completed. */
#ifndef SBOX_CLI_OPTION_TABLE_H
#define SBOX_CLI_OPTION_TABLE_H

#include "cli/options.h"

/* How a value gets into struct sbox_options, at `offset`. */
enum sbox_setter {
    SBOX_SET_FLAG,   /* bool: true */
    SBOX_SET_INT,    /* int: `value` */
    SBOX_SET_CHOICE, /* int: index of the word in `argument` ("fast|full") */
    SBOX_SET_STRING, /* const char * */
    SBOX_SET_LIST,   /* struct sbox_strv: appended */
    SBOX_SET_ENV,    /* the same, NAME[=VALUE] */
    SBOX_SET_FD,     /* appended to pass_fd */
    SBOX_SET_HOSTS,  /* net_rules, split at commas; without a value open_network */
    SBOX_SET_NOTHING,
};

enum sbox_complete {
    SBOX_COMPLETE_NONE,
    SBOX_COMPLETE_DIRECTORY,
    SBOX_COMPLETE_FILE,
    SBOX_COMPLETE_VARIABLE, /* a name of the environment */
    SBOX_COMPLETE_CHOICE,   /* the words of `argument` */
    SBOX_COMPLETE_COMMAND,  /* of a verb: a command and its own arguments */
};

struct sbox_option {
    char short_name;       /* '\0': none */
    const char *long_name; /* without "--"; NULL: none */
    const char *argument;  /* NULL: takes no value */
    bool attached;         /* the long form takes a value only after "=", and may go without */
    unsigned verbs;        /* SBOX_FOR(verb) | ... */
    enum sbox_setter setter;
    size_t offset;
    int value;
    enum sbox_complete complete;
    const char *not_yet; /* why it is refused for now; NULL: it works */
    const char *help;    /* a phrase for --help and completions */
    const char *man;     /* a paragraph, plain text */
};

#define SBOX_FOR(verb) (1u << (verb))

struct sbox_verb_info {
    const char *name;
    const char *synopsis; /* what follows the options */
    enum sbox_complete complete;
    const char *help; /* a phrase */
    const char *man;  /* paragraphs, plain text, separated by an empty line */
};

extern const struct sbox_option sbox_option_table[];
extern const size_t sbox_option_count;

/* Indexed by enum sbox_verb; SBOX_VERB_NONE has no name. */
extern const struct sbox_verb_info sbox_verb_table[SBOX_VERB_COUNT];

/* Verbs of coming releases: reserved, so that they are never taken for a command to run.
 * NULL-terminated. */
extern const char *const sbox_future_verbs[];

/* SBOX_VERB_NONE when `word` is no verb. */
enum sbox_verb sbox_verb_find(const char *word);
bool sbox_verb_is_future(const char *word);
const struct sbox_option *sbox_option_find_long(const char *name, size_t size);
/* A letter may mean something of its own with one verb (restore -n); SBOX_VERB_NONE: the verb is
 * not known yet. */
const struct sbox_option *sbox_option_find_short(char name, enum sbox_verb verb);

/* How the option is written: "--offline", or "-C" where there is no long name. */
enum { SBOX_SPELLING_SIZE = 32 };
void sbox_option_spell(const struct sbox_option *option, char ret[SBOX_SPELLING_SIZE]);

#endif
