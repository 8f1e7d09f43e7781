/* Completions for bash, zsh and fish. All three follow the parser's rule: options end at the first
 * word that is none; a first word that is no verb is a command, whose own arguments are completed
 * as if it stood alone. */
#include "base/error.h"
#include "cli/docs/docs.h"
#include "cli/option_table.h"

static const char header[] = "made by sbox-gendocs from src/cli/option_table.c\n";

typedef void each_option(struct sbox_buf *out, const struct sbox_option *option);

static void for_options(struct sbox_buf *out, unsigned verbs, each_option *each)
{
    for (size_t i = 0; i < sbox_option_count; i++)
        if (sbox_option_table[i].verbs & verbs)
            each(out, &sbox_option_table[i]);
}

/* Before a verb stand the options of sbox itself and those of run. */
static unsigned verbs_at(int v)
{
    return v == SBOX_VERB_NONE ? SBOX_FOR(SBOX_VERB_NONE) | SBOX_FOR(SBOX_VERB_RUN) : SBOX_FOR(v);
}

static void words_of(struct sbox_buf *out, const char *choice)
{
    for (; *choice; choice++)
        sbox_buf_add_byte(out, *choice == '|' ? ' ' : (uint8_t)*choice);
}

static void verb_names(struct sbox_buf *out)
{
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++)
        sbox_buf_addf(out, "%s%s", v > SBOX_VERB_NONE + 1 ? " " : "", sbox_verb_table[v].name);
}

/* ---- bash ---- */

static void bash_word(struct sbox_buf *out, const struct sbox_option *option)
{
    if (option->short_name)
        sbox_buf_addf(out, " -%c", option->short_name);
    if (option->long_name)
        sbox_buf_addf(out, " --%s", option->long_name);
}

/* "-C|--workspace": options whose value may be the next word. */
static void bash_takes_word(struct sbox_buf *out, const struct sbox_option *option)
{
    if (!option->argument)
        return;
    if (option->short_name)
        sbox_buf_addf(out, "|-%c", option->short_name);
    if (option->long_name && !option->attached)
        sbox_buf_addf(out, "|--%s", option->long_name);
}

static void bash_value(struct sbox_buf *out, const struct sbox_option *option)
{
    if (!option->argument || option->complete == SBOX_COMPLETE_NONE)
        return;
    struct sbox_buf names = {0};
    bash_takes_word(&names, option);
    char *text = sbox_buf_take_str(&names);
    sbox_buf_addf(out, "    %s) ", text ? text + 1 : "");
    free(text);
    switch (option->complete) {
    case SBOX_COMPLETE_DIRECTORY:
        sbox_buf_add_str(out, "COMPREPLY=($(compgen -d -- \"$cur\"))");
        break;
    case SBOX_COMPLETE_FILE:
        sbox_buf_add_str(out, "COMPREPLY=($(compgen -f -- \"$cur\"))");
        break;
    case SBOX_COMPLETE_VARIABLE:
        sbox_buf_add_str(out, "COMPREPLY=($(compgen -e -- \"$cur\"))");
        break;
    case SBOX_COMPLETE_CHOICE:
        sbox_buf_add_str(out, "COMPREPLY=($(compgen -W '");
        words_of(out, option->argument);
        sbox_buf_add_str(out, "' -- \"$cur\"))");
        break;
    case SBOX_COMPLETE_NONE:
    case SBOX_COMPLETE_COMMAND:
        break;
    }
    sbox_buf_add_str(out, " ;;\n");
}

static void bash_options(struct sbox_buf *out)
{
    sbox_buf_add_str(out, "_sbox_options()\n{\n    case $1 in\n");
    for (int v = SBOX_VERB_NONE; v < SBOX_VERB_COUNT; v++) {
        const char *name = v == SBOX_VERB_NONE ? "''" : sbox_verb_table[v].name;
        sbox_buf_addf(out, "    %s) echo '", name);
        for_options(out, verbs_at(v), bash_word);
        sbox_buf_add_str(out, "' ;;\n");
    }
    sbox_buf_add_str(out, "    esac\n}\n\n");
}

static void bash_values(struct sbox_buf *out)
{
    sbox_buf_add_str(out, "_sbox_value()\n{\n    local cur=$2\n    case $1 in\n");
    for (size_t i = 0; i < sbox_option_count; i++)
        bash_value(out, &sbox_option_table[i]);
    sbox_buf_add_str(out, "    esac\n}\n\n_sbox_takes_word()\n{\n    case $1 in\n    ''");
    for (size_t i = 0; i < sbox_option_count; i++)
        bash_takes_word(out, &sbox_option_table[i]);
    sbox_buf_add_str(out, ") return 0 ;;\n    esac\n    return 1\n}\n\n");
}

static void bash_walk(struct sbox_buf *out)
{
    sbox_buf_add_str(
        out, "# \"--name=value\" arrives as three words: '=' is in COMP_WORDBREAKS.\n"
             "_sbox()\n{\n"
             "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
             "    local verb='' i=1 word\n"
             "    COMPREPLY=()\n"
             "    while ((i < COMP_CWORD)); do\n"
             "        word=${COMP_WORDS[i]}\n"
             "        case $word in\n"
             "        --) ((i++)); break ;;\n"
             "        -*)\n"
             "            if [[ ${COMP_WORDS[i+1]-} == = ]]; then ((i += 3)); continue; fi\n"
             "            if _sbox_takes_word \"$word\"; then ((i += 2)); else ((i++)); fi\n"
             "            continue ;;\n"
             "        esac\n"
             "        if [[ $verb || \" $_sbox_verbs \" != *\" $word \"* ]]; then break; fi\n"
             "        verb=$word\n"
             "        ((i++))\n"
             "    done\n");
    sbox_buf_add_str(
        out,
        "    if [[ $cur == = ]]; then _sbox_value \"$prev\" ''; return; fi\n"
        "    if [[ $prev == = ]]; then\n"
        "        _sbox_value \"${COMP_WORDS[COMP_CWORD-2]}\" \"$cur\"; return\n"
        "    fi\n"
        "    if ((i > COMP_CWORD)); then _sbox_value \"$prev\" \"$cur\"; return; fi\n"
        "    case $verb in\n"
        "    ''|run) ;;\n"
        "    *) if [[ $cur != -* ]]; then COMPREPLY=($(compgen -d -- \"$cur\")); return; fi ;;\n"
        "    esac\n"
        "    if ((i < COMP_CWORD)); then\n"
        "        if declare -F _command_offset >/dev/null; then _command_offset \"$i\"\n"
        "        else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"
        "        return\n"
        "    fi\n"
        "    if [[ $cur == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$(_sbox_options \"$verb\")\" -- \"$cur\"))\n"
        "    elif [[ $verb ]]; then COMPREPLY=($(compgen -c -- \"$cur\"))\n"
        "    else COMPREPLY=($(compgen -W \"$_sbox_verbs\" -- \"$cur\") $(compgen -c -- "
        "\"$cur\")); fi\n"
        "}\n\ncomplete -F _sbox sbox\n");
}

void sbox_docs_bash(struct sbox_buf *out)
{
    sbox_buf_addf(out, "# bash completion for sbox; %s\n_sbox_verbs='", header);
    verb_names(out);
    sbox_buf_add_str(out, "'\n\n");
    bash_options(out);
    bash_values(out);
    bash_walk(out);
}

/* ---- zsh ---- */

/* Inside single quotes, and inside the brackets of an _arguments specification. */
static void zsh_text(struct sbox_buf *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'')
            sbox_buf_add_str(out, "'\\''");
        else if (strchr("[]:\\", *s))
            sbox_buf_addf(out, "\\%c", *s);
        else
            sbox_buf_add_byte(out, (uint8_t)*s);
    }
}

static void zsh_action(struct sbox_buf *out, const struct sbox_option *option)
{
    if (!option->argument)
        return;
    sbox_buf_add_byte(out, ':');
    zsh_text(out, option->argument);
    switch (option->complete) {
    case SBOX_COMPLETE_DIRECTORY:
        sbox_buf_add_str(out, ":_path_files -/");
        break;
    case SBOX_COMPLETE_FILE:
        sbox_buf_add_str(out, ":_files");
        break;
    case SBOX_COMPLETE_VARIABLE:
        sbox_buf_add_str(out, ":_parameters -g \"*export*\"");
        break;
    case SBOX_COMPLETE_CHOICE:
        sbox_buf_add_str(out, ":(");
        words_of(out, option->argument);
        sbox_buf_add_byte(out, ')');
        break;
    case SBOX_COMPLETE_NONE:
    case SBOX_COMPLETE_COMMAND:
        sbox_buf_add_str(out, ": ");
        break;
    }
}

/* `'*--ro=[help]:PATH:_files'`; "+" lets the value follow a short option, attached or not. */
static void zsh_spelling(struct sbox_buf *out, const struct sbox_option *option, bool is_short)
{
    bool repeats = option->setter == SBOX_SET_LIST || option->setter == SBOX_SET_ENV ||
                   option->setter == SBOX_SET_FD;
    sbox_buf_addf(out, "    '%s", repeats ? "*" : "");
    if (is_short)
        sbox_buf_addf(out, "-%c%s", option->short_name, option->argument ? "+" : "");
    else
        sbox_buf_addf(out, "--%s%s%s", option->long_name, option->argument ? "=" : "",
                      option->attached ? "-" : "");
    sbox_buf_add_byte(out, '[');
    zsh_text(out, option->help);
    sbox_buf_add_byte(out, ']');
    zsh_action(out, option);
    sbox_buf_add_str(out, "'\n");
}

static void zsh_option(struct sbox_buf *out, const struct sbox_option *option)
{
    if (option->short_name)
        zsh_spelling(out, option, true);
    if (option->long_name)
        zsh_spelling(out, option, false);
}

static void zsh_verb(struct sbox_buf *out, int v)
{
    const struct sbox_verb_info *info = &sbox_verb_table[v];
    sbox_buf_addf(out, "_sbox_%s()\n{\n    local -a specs=(\n", info->name);
    for_options(out, verbs_at(v), zsh_option);
    const char *rest = "";
    if (info->complete == SBOX_COMPLETE_COMMAND)
        rest = " '(-)1:command: _command_names -e' '(-)*::arguments: _normal'";
    else if (info->complete == SBOX_COMPLETE_DIRECTORY)
        rest = " '(-)*:tree:_path_files -/'";
    sbox_buf_addf(out, "    )\n    _arguments -S $specs%s\n}\n\n", rest);
}

static void zsh_top(struct sbox_buf *out)
{
    sbox_buf_add_str(out, "_sbox_first()\n{\n    local -a verbs=(\n");
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++) {
        sbox_buf_addf(out, "    '%s:", sbox_verb_table[v].name);
        zsh_text(out, sbox_verb_table[v].help);
        sbox_buf_add_str(out, "'\n");
    }
    sbox_buf_add_str(out,
                     "    )\n    _describe -t verbs 'sbox command' verbs\n"
                     "    _command_names -e\n}\n\n"
                     "_sbox()\n{\n    local curcontext=$curcontext state\n    local -a specs=(\n");
    for_options(out, verbs_at(SBOX_VERB_NONE), zsh_option);
    sbox_buf_add_str(out, "    )\n"
                          "    _arguments -C -S $specs '(-)1: :_sbox_first' '(-)*:: :->rest'\n"
                          "    [[ $state == rest ]] || return\n"
                          "    if (( $+functions[_sbox_$words[1]] )) && [[ $words[1] != first ]]\n"
                          "    then _sbox_$words[1]\n"
                          "    else _normal\n"
                          "    fi\n}\n\n_sbox \"$@\"\n");
}

void sbox_docs_zsh(struct sbox_buf *out)
{
    sbox_buf_addf(out, "#compdef sbox\n# %s\n", header);
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++)
        zsh_verb(out, v);
    zsh_top(out);
}

/* ---- fish ---- */

static void fish_text(struct sbox_buf *out, const char *s)
{
    sbox_buf_add_byte(out, '\'');
    for (; *s; s++)
        sbox_buf_addf(out, "%s%c", *s == '\'' || *s == '\\' ? "\\" : "", *s);
    sbox_buf_add_byte(out, '\'');
}

static void fish_value(struct sbox_buf *out, const struct sbox_option *option)
{
    if (!option->argument)
        return;
    sbox_buf_add_str(out, option->attached ? "" : " -r");
    switch (option->complete) {
    case SBOX_COMPLETE_DIRECTORY:
        sbox_buf_add_str(out, " -f -a '(__fish_complete_directories)'");
        break;
    case SBOX_COMPLETE_FILE:
        sbox_buf_add_str(out, " -F");
        break;
    case SBOX_COMPLETE_VARIABLE:
        sbox_buf_add_str(out, " -f -a '(set -nx)'");
        break;
    case SBOX_COMPLETE_CHOICE:
        sbox_buf_add_str(out, " -f -a '");
        words_of(out, option->argument);
        sbox_buf_add_byte(out, '\'');
        break;
    case SBOX_COMPLETE_NONE:
    case SBOX_COMPLETE_COMMAND:
        sbox_buf_add_str(out, " -f");
        break;
    }
}

static void fish_option(struct sbox_buf *out, const struct sbox_option *option)
{
    sbox_buf_add_str(out, "complete -c sbox -n '__sbox_at");
    for (int v = SBOX_VERB_NONE; v < SBOX_VERB_COUNT; v++)
        if (option->verbs & verbs_at(v))
            sbox_buf_addf(out, " %s", v == SBOX_VERB_NONE ? "none" : sbox_verb_table[v].name);
    sbox_buf_add_byte(out, '\'');
    if (option->short_name)
        sbox_buf_addf(out, " -s %c", option->short_name);
    if (option->long_name)
        sbox_buf_addf(out, " -l %s", option->long_name);
    fish_value(out, option);
    sbox_buf_add_str(out, " -d ");
    fish_text(out, option->help);
    sbox_buf_add_byte(out, '\n');
}

static void fish_separate(struct sbox_buf *out, const struct sbox_option *option)
{
    if (option->argument && option->short_name)
        sbox_buf_addf(out, " -%c", option->short_name);
    if (option->argument && option->long_name && !option->attached)
        sbox_buf_addf(out, " --%s", option->long_name);
}

static void fish_state(struct sbox_buf *out)
{
    sbox_buf_add_str(out, "# Prints where the cursor is: none (before the first word), a verb, or "
                          "command; then\n# the number of the word that begins the command.\n"
                          "function __sbox_state\n    set -l state none\n    set -l skip 0\n"
                          "    set -l words (commandline -opc)\n    set -l i 1\n"
                          "    for word in $words[2..-1]\n        set i (math $i + 1)\n"
                          "        if test $skip = 1\n            set skip 0\n"
                          "            continue\n        end\n        switch $word\n"
                          "            case --\n"
                          "                contains -- $state none run; and set state command\n"
                          "                set i (math $i + 1)\n                break\n"
                          "            case");
    for (size_t i = 0; i < sbox_option_count; i++)
        fish_separate(out, &sbox_option_table[i]);
    sbox_buf_add_str(out, "\n                set skip 1\n            case '-*'\n            case ");
    verb_names(out);
    sbox_buf_add_str(out, "\n                if test $state = run\n"
                          "                    set state command\n                end\n"
                          "                test $state = none; or break\n"
                          "                set state $word\n            case '*'\n"
                          "                contains -- $state none run; and set state command\n"
                          "                break\n        end\n    end\n"
                          "    echo $state\n    echo $i\nend\n\n");
    sbox_buf_add_str(out, "function __sbox_at\n    set -l state (__sbox_state)\n"
                          "    contains -- $state[1] $argv\nend\n\n"
                          "# The command and its arguments, as if they stood alone.\n"
                          "function __sbox_command\n    set -l state (__sbox_state)\n"
                          "    set -l words (commandline -opc)\n    set -l line\n"
                          "    if test $state[1] = command; and test $state[2] -le (count $words)\n"
                          "        set line (string escape -- $words[$state[2]..-1])\n    end\n"
                          "    complete -C (string join ' ' -- $line (commandline -ct))\nend\n\n");
}

void sbox_docs_fish(struct sbox_buf *out)
{
    sbox_buf_addf(out, "# fish completion for sbox; %s\n", header);
    fish_state(out);
    sbox_buf_add_str(out, "complete -c sbox -f\n");
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++) {
        sbox_buf_addf(out, "complete -c sbox -n '__sbox_at none' -a %s -d ",
                      sbox_verb_table[v].name);
        fish_text(out, sbox_verb_table[v].help);
        sbox_buf_add_byte(out, '\n');
    }
    sbox_buf_add_str(out, "complete -c sbox -n '__sbox_at none run command' -a "
                          "'(__sbox_command)'\n"
                          "complete -c sbox -n '__sbox_at lock verify' -a "
                          "'(__fish_complete_directories)'\n");
    for (size_t i = 0; i < sbox_option_count; i++)
        fish_option(out, &sbox_option_table[i]);
}
