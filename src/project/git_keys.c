/* Which keys may stand in a repository's config that a sandboxed command wrote. An allowlist: git
 * grows keys that run programs (core.fsmonitor, *.textconv, filter.*, credential.helper, alias.*,
 * include.path ...) faster than a list of those could follow. */
#include "project/git.h"

#include "base/strv.h"

static bool plain_url(const char *value)
{
    static const char *const schemes[] = {"https://", "http://", "ssh://", "git://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (sbox_str_starts(value, schemes[i]))
            return value[strlen(schemes[i])] != '-';
    /* user@host:path; "ext::" and a leading dash would start a program. */
    return value[0] != '-' && !strstr(value, "::") && value[0] != '\0';
}

static bool between(const char *key, const char *section, const char *name)
{
    return sbox_str_starts(key, section) && sbox_str_ends(key, name) &&
           strlen(key) > strlen(section) + strlen(name);
}

bool sbox_git_config_key_harmless(const char *key, const char *value)
{
    static const char *const plain[] = {"core.repositoryformatversion",
                                        "core.filemode",
                                        "core.logallrefupdates",
                                        "core.ignorecase",
                                        "core.symlinks",
                                        "core.precomposeunicode",
                                        "core.autocrlf",
                                        "core.eol",
                                        "core.quotepath",
                                        "extensions.objectformat",
                                        "user.name",
                                        "user.email",
                                        "init.defaultbranch",
                                        "pull.rebase",
                                        "pull.ff",
                                        "push.default",
                                        "fetch.prune",
                                        "gc.auto",
                                        "color.ui",
                                        "commit.gpgsign",
                                        "tag.gpgsign",
                                        "merge.conflictstyle",
                                        "rebase.autostash",
                                        "rebase.autosquash"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(key, plain[i]) == 0)
            return true;
    if (strcmp(key, "core.bare") == 0)
        return value && strcmp(value, "false") == 0;
    if (between(key, "remote.", ".url") || between(key, "remote.", ".pushurl") ||
        between(key, "submodule.", ".url"))
        return value && plain_url(value);
    return between(key, "remote.", ".fetch") || between(key, "branch.", ".remote") ||
           between(key, "branch.", ".merge") || between(key, "branch.", ".rebase") ||
           between(key, "submodule.", ".active");
}
