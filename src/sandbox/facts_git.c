/* The user's git settings, reduced. `git commit` inside needs a name and an address; it must not
 * get aliases, helpers, pagers, signing programs, includes or credentials. */
#include "sandbox/facts.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/strv.h"
#include "project/git.h"

#include <fcntl.h>
#include <limits.h>

enum { CONFIG_MAX = 256 << 10 };

static bool kept(const char *key)
{
    static const char *const keys[] = {"user.name",
                                       "user.email",
                                       "init.defaultbranch",
                                       "core.autocrlf",
                                       "core.eol",
                                       "core.filemode",
                                       "core.quotepath",
                                       "core.ignorecase",
                                       "core.precomposeunicode",
                                       "push.default",
                                       "push.autosetupremote",
                                       "pull.rebase",
                                       "pull.ff",
                                       "merge.conflictstyle",
                                       "merge.ff",
                                       "rebase.autostash",
                                       "rebase.autosquash",
                                       "fetch.prune",
                                       "color.ui",
                                       "diff.algorithm",
                                       "safe.directory",
                                       "log.date",
                                       "status.short",
                                       "commit.verbose",
                                       "advice.detachedhead"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static int keep(const char *key, const char *value, void *context)
{
    struct sbox_buf *out = context;
    const char *dot = strchr(key, '.');
    if (!kept(key) || !value || !dot)
        return 0;
    sbox_buf_addf(out, "[%.*s]\n\t%s = \"", (int)(dot - key), key, dot + 1);
    for (; *value; value++) {
        if (*value == '\n') {
            sbox_buf_add_str(out, "\\n");
            continue;
        }
        if (*value == '"' || *value == '\\')
            sbox_buf_add_byte(out, '\\');
        sbox_buf_add_byte(out, (uint8_t)*value);
    }
    sbox_buf_add_str(out, "\"\n");
    return 0;
}

static void keep_file(const char *home, const char *name, struct sbox_buf *out)
{
    char path[PATH_MAX];
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", home, name) >= sizeof path)
        return;
    /* The user's own link (dotfile managers) is followed: home is not the workspace. */
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || sbox_read_file_fd(fd, CONFIG_MAX, &data, &size) < 0)
        return;
    size_t before = out->size;
    if (sbox_git_config_walk(data, size, keep, out) < 0)
        out->size = before; /* what is not understood is left out whole */
}

int sbox_facts_git_config(const char *home, char **ret)
{
    _cleanup_buf_ struct sbox_buf out = {0};
    keep_file(home, ".config/git/config", &out);
    keep_file(home, ".gitconfig", &out);
    if (out.size == 0)
        return 0;
    sbox_buf_add_str(&out, "[commit]\n\tgpgsign = false\n[tag]\n\tgpgsign = false\n");
    *ret = sbox_buf_take_str(&out);
    return *ret ? 0 : -ENOMEM;
}
