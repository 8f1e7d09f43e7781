/* The settings of package clients in $HOME and in /etc, with their secrets out (project/conf.h).
 * The user's own links are followed (dotfile managers): nothing here lies in the workspace. */
#include "sandbox/facts.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "project/conf.h"

#include <fcntl.h>
#include <limits.h>

/* Not in this list: what holds logins only (.netrc, .pypirc, .docker/config.json, Composer's
 * auth.json, cargo's credentials.toml), which therefore does not exist inside. */
static const char *const home_files[] = {
    ".npmrc",
    ".config/pnpm/rc",
    ".yarnrc",
    ".yarnrc.yml",
    ".bunfig.toml",
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    ".config/uv/uv.toml",
    ".config/pypoetry/config.toml",
    ".cargo/config.toml",
    ".cargo/config",
    ".bundle/config",
    ".condarc",
};

/* Shown with the rest of /etc and /usr; covered only when one holds a secret. */
static const char *const system_files[] = {
    "/etc/npmrc",    "/usr/etc/npmrc",        "/usr/local/etc/npmrc",
    "/etc/pip.conf", "/etc/xdg/pip/pip.conf", "/etc/gitconfig",
};

static enum sbox_conf_syntax syntax_of(const char *path)
{
    char dir[64] = "";
    const char *name = strrchr(path, '/');
    if (strcmp(path, "/etc/gitconfig") == 0)
        return SBOX_CONF_GIT;
    if (!name)
        return sbox_conf_syntax_of(dir, path);
    const char *before = name;
    while (before > path && before[-1] != '/')
        before--;
    (void)snprintf(dir, sizeof dir, "%.*s", (int)(name - before), before);
    /* npm's own file for the whole machine has no dot */
    return strcmp(name, "/npmrc") == 0 ? SBOX_CONF_NPMRC : sbox_conf_syntax_of(dir, name + 1);
}

/* 0 when there is no such file, or none that can be read: then it is of no use outside either. One
 * that is too large is told by its first bytes. */
static int filter(const char *path, struct sbox_conf *ret)
{
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int r = fd < 0 ? -errno : sbox_read_file_fd(fd, SBOX_CONF_MAX, &data, &size);
    if (r == -EFBIG) {
        ret->verdict = SBOX_CONF_HIDDEN;
        ret->why = "too large to take secrets out, so hidden whole";
        return 1;
    }
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    r = sbox_conf_filter(syntax_of(path), data, size, ret);
    if (r == 0 && ret->verdict == SBOX_CONF_CLEAN) {
        ret->text = TAKE_PTR(data);
        return size > 0;
    }
    return r < 0 ? r : 1;
}

static int add(struct sbox_facts *f, const char *path, struct sbox_conf *conf)
{
    struct sbox_facts_setting *s = &f->settings[f->setting_count];
    for (size_t i = 0; i < conf->names.count; i++)
        if (!sbox_strv_contains(&f->conf_names, conf->names.items[i]) &&
            sbox_strv_add(&f->conf_names, conf->names.items[i]) < 0)
            return -ENOMEM;
    *s = (struct sbox_facts_setting){.path = path,
                                     .text = TAKE_PTR(conf->text),
                                     .filtered = conf->verdict != SBOX_CONF_CLEAN,
                                     .why = conf->why};
    f->setting_count++;
    return 0;
}

static int gather(struct sbox_facts *f, const char *home, const char *name)
{
    char path[PATH_MAX];
    _cleanup_conf_ struct sbox_conf conf = {.verdict = SBOX_CONF_CLEAN};
    if ((size_t)snprintf(path, sizeof path, "%s%s%s", home, *home ? "/" : "", name) >= sizeof path)
        return 0;
    int r = filter(path, &conf);
    /* A file of the system that holds no secret is shown as it is. */
    if (r <= 0 || (!*home && conf.verdict == SBOX_CONF_CLEAN))
        return r < 0 ? r : 0;
    return add(f, name, &conf);
}

int sbox_facts_conf(const char *home, struct sbox_facts *facts)
{
    int r = 0;
    for (size_t i = 0; home && r == 0 && i < sizeof home_files / sizeof *home_files; i++)
        r = gather(facts, home, home_files[i]);
    for (size_t i = 0; r == 0 && i < sizeof system_files / sizeof *system_files; i++)
        r = gather(facts, "", system_files[i]);
    return r;
}
