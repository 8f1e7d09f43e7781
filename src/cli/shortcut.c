#include "cli/shortcut.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "cli/in_path.h"
#include "cli/shortcut_cache.h"
#include "net/address.h"
#include "project/hosts.h"
#include "store/jsonurls.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>

/* -- where a client's hosts stand ---------------------------------------------------------------
 */

enum place { WORKSPACE, HOME, SYSTEM };
enum form { LINES, JSON, GIT };

struct source {
    enum place place;
    enum form form;
    const char *name; /* in the workspace a pattern, fnmatch(3), without a directory or with one */
    struct sbox_hosts_reader reader; /* JSON: its first key */
};

#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct source npm_sources[] = {
    {WORKSPACE, LINES, ".npmrc", {KEYS("registry"), "registry", false}},
    {WORKSPACE, LINES, ".yarnrc", {KEYS("registry"), "registry", false}},
    {WORKSPACE, LINES, ".yarnrc.yml", {KEYS("registryserver"), NULL, false}},
    {WORKSPACE, LINES, "bunfig.toml", {KEYS("registry", "url"), NULL, false}},
    {HOME, LINES, ".npmrc", {KEYS("registry"), "registry", false}},
    {HOME, LINES, ".config/pnpm/rc", {KEYS("registry"), NULL, false}},
    {HOME, LINES, ".yarnrc", {KEYS("registry"), NULL, false}},
    {HOME, LINES, ".yarnrc.yml", {KEYS("registryserver"), NULL, false}},
    {HOME, LINES, ".bunfig.toml", {KEYS("registry", "url"), NULL, false}},
    {SYSTEM, LINES, "/etc/npmrc", {KEYS("registry"), "registry", false}},
    {SYSTEM, LINES, "/usr/etc/npmrc", {KEYS("registry"), "registry", false}},
    {SYSTEM, LINES, "/usr/local/etc/npmrc", {KEYS("registry"), "registry", false}},
    {WORKSPACE, JSON, "package-lock.json", {KEYS("resolved"), NULL, false}},
    {WORKSPACE, JSON, "npm-shrinkwrap.json", {KEYS("resolved"), NULL, false}},
    {WORKSPACE, LINES, "yarn.lock", {KEYS("resolved", "resolution"), NULL, false}},
    {WORKSPACE, LINES, "pnpm-lock.yaml", {KEYS("tarball", "registry"), NULL, false}},
};

static const struct source pip_sources[] = {
    {HOME, LINES, ".config/pip/pip.conf", {KEYS("index", "find-links"), "index-url", true}},
    {HOME, LINES, ".pip/pip.conf", {KEYS("index", "find-links"), "index-url", true}},
    {HOME, LINES, ".config/uv/uv.toml", {KEYS("index", "url", "find-links"), NULL, false}},
    {SYSTEM, LINES, "/etc/pip.conf", {KEYS("index", "find-links"), "index-url", true}},
    {SYSTEM, LINES, "/etc/xdg/pip/pip.conf", {KEYS("index", "find-links"), "index-url", true}},
    {WORKSPACE, LINES, "uv.toml", {KEYS("index", "url", "find-links"), NULL, false}},
    {WORKSPACE, LINES, "Pipfile", {KEYS("url"), NULL, false}},
    {WORKSPACE, LINES, "requirements*.txt", {NULL, "--index-url", false}},
    {WORKSPACE, LINES, "uv.lock", {KEYS("registry", "url"), NULL, false}},
    {WORKSPACE, LINES, "poetry.lock", {KEYS("url"), NULL, false}},
    {WORKSPACE, JSON, "Pipfile.lock", {KEYS("url"), NULL, false}},
};

static const struct source cargo_sources[] = {
    {HOME, LINES, ".cargo/config.toml", {KEYS("registry", "index"), "registry", false}},
    {HOME, LINES, ".cargo/config", {KEYS("registry", "index"), "registry", false}},
    {WORKSPACE, LINES, ".cargo/config.toml", {KEYS("registry", "index"), "registry", false}},
    {WORKSPACE, LINES, "Cargo.lock", {KEYS("source"), NULL, false}},
};

static const struct source git_sources[] = {
    {HOME, GIT, ".gitconfig", {NULL, NULL, false}},
    {HOME, GIT, ".config/git/config", {NULL, NULL, false}},
    {SYSTEM, GIT, "/etc/gitconfig", {NULL, NULL, false}},
    {WORKSPACE, GIT, ".git/config", {NULL, NULL, false}},
    {WORKSPACE, LINES, ".gitmodules", {KEYS("url"), NULL, false}},
};

/* How a client says what its registry is when nothing else does. */
struct question {
    const char *program;
    const char *const *argv;
    const char *after; /* the answer is the first URL behind this */
};

static const struct question npm_questions[] = {
    {"npm", KEYS("npm", "config", "get", "registry"), ""},
    {NULL, NULL, NULL},
};

/* yarn 1 and yarn 4; each says nothing to the other's question. */
static const struct question yarn_questions[] = {
    {"yarn", KEYS("yarn", "config", "get", "registry"), ""},
    {"yarn", KEYS("yarn", "config", "get", "npmRegistryServer"), ""},
    {NULL, NULL, NULL},
};

static const struct question pip_questions[] = {
    {"pip", KEYS("pip", "install", "--help"), "--index-url"},
    {"pip3", KEYS("pip3", "install", "--help"), "--index-url"},
    {NULL, NULL, NULL},
};

/* cargo has no command for it; without a network it says which address it could not reach. */
static const struct question cargo_questions[] = {
    {"cargo", KEYS("cargo", "search", "--limit", "1", "--config", "net.retry=0", "x"), ""},
    {NULL, NULL, NULL},
};

static const struct word {
    const char *name;
    const struct source *sources;
    size_t source_count;
    const char *const *variables; /* of the environment, patterns */
    size_t defaults;              /* so many of them, from the first, name the default */
    const struct question *questions;
    const char *hint;
} words[] = {
    {"@npm", npm_sources, sizeof npm_sources / sizeof *npm_sources,
     KEYS("npm_config_registry", "NPM_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER",
          "npm_config_*:registry"),
     3, npm_questions, "registry=URL into .npmrc"},
    {"@pip", pip_sources, sizeof pip_sources / sizeof *pip_sources,
     KEYS("PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL",
          "PIP_FIND_LINKS", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"),
     3, pip_questions, "index-url = URL into pip.conf"},
    {"@cargo", cargo_sources, sizeof cargo_sources / sizeof *cargo_sources,
     KEYS("CARGO_REGISTRIES_*_INDEX"), 0, cargo_questions, "a registry into .cargo/config.toml"},
    {"@git", git_sources, sizeof git_sources / sizeof *git_sources, (const char *const[]){NULL}, 0,
     NULL, "a remote into .git/config (git remote add)"},
};

/* -- collecting -------------------------------------------------------------------------------- */

struct collector {
    const struct word *word;
    const struct sbox_root *root;
    const char *home;
    struct sbox_shortcut *found;
    const char *file; /* what is being read, for `why` */
    bool trusted;     /* it does not lie in the workspace */
    bool has_default; /* the client's own registry was named */
    struct sbox_error *err;
};

static bool is_public(const char *host_port)
{
    char host[SBOX_HOST_PORT_SIZE];
    struct sbox_address address;
    (void)snprintf(host, sizeof host, "%.*s", (int)(strrchr(host_port, ':') - host_port),
                   host_port);
    int r = sbox_address_parse_any(host, &address);
    return r == -EINVAL || (r == 0 && sbox_address_classify(&address) == SBOX_ADDRESS_PUBLIC);
}

static void remove_item(struct sbox_strv *v, const char *s)
{
    for (size_t i = 0; i < v->count; i++)
        if (strcmp(v->items[i], s) == 0) {
            free(v->items[i]);
            memmove(&v->items[i], &v->items[i + 1], (v->count - i) * sizeof *v->items);
            v->count--;
            return;
        }
}

static int take_host(const char *host, bool setting, void *context)
{
    struct collector *c = context;
    struct sbox_shortcut *s = c->found;
    c->has_default |= setting;
    if (!c->trusted && !is_public(host))
        return 0;
    if (c->trusted)
        remove_item(&s->workspace, host);
    if (sbox_strv_contains(&s->hosts, host))
        return 0;
    if (s->hosts.count == SBOX_SHORTCUT_HOSTS_MAX)
        return sbox_error_say(c->err, E2BIG, "%s: '%s' and others name more than %d hosts",
                              c->word->name, sbox_esc(c->file), SBOX_SHORTCUT_HOSTS_MAX);
    if (sbox_strv_add(&s->hosts, host) < 0 ||
        sbox_strv_addf(&s->why, "%s: %s, by %s", c->word->name, host, c->file) < 0 ||
        (!c->trusted && sbox_strv_add(&s->workspace, host) < 0))
        return sbox_error_set(c->err, ENOMEM, "%s", c->word->name);
    return 0;
}

static int take_json(const char *text, size_t size, void *context)
{
    return sbox_hosts_in_value(text, size, false, take_host, context);
}

/* A file that cannot be read or understood names nothing; the client will say what is wrong with
 * it. */
static int take_text(struct collector *c, const struct source *s, const char *data, size_t size)
{
    int r = 0;
    switch (s->form) {
    case LINES:
        r = sbox_hosts_in_lines(&s->reader, data, size, take_host, c);
        break;
    case JSON:
        r = sbox_jsonurls_walk(data, size, s->reader.keys[0], take_json, c, c->err);
        break;
    case GIT:
        r = sbox_hosts_in_git(data, size, take_host, c);
        break;
    }
    return r == -EBADMSG || r == -EFBIG ? 0 : r;
}

static int take_file(struct collector *c, const struct source *s, int fd, const char *name)
{
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    if (sbox_read_file_fd(fd, SBOX_HOSTS_FILE_MAX, &data, &size) < 0)
        return 0;
    c->file = name;
    /* Not .git/config either: where there was no repository, a command could make one. */
    c->trusted = s->place != WORKSPACE;
    return take_text(c, s, data, size);
}

/* -- places ------------------------------------------------------------------------------------ */

/* The user's own links are followed (dotfile managers). */
static int take_path(struct collector *c, const struct source *s)
{
    char path[PATH_MAX];
    bool home = s->place == HOME;
    if ((home && !c->home) || (size_t)snprintf(path, sizeof path, "%s%s%s", home ? c->home : "",
                                               home ? "/" : "", s->name) >= sizeof path)
        return 0;
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return fd < 0 ? 0 : take_file(c, s, fd, path);
}

/* In the workspace no link is followed. */
static int take_beneath(struct collector *c, const struct source *s, int dir, const char *name)
{
    _cleanup_close_ int fd =
        sbox_open_beneath(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    return fd < 0 ? 0 : take_file(c, s, fd, name);
}

static int take_matching(struct collector *c, const struct source *s, int dir)
{
    int fd = sbox_open_beneath(dir, ".", O_RDONLY | O_DIRECTORY);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    int r = 0;
    if (!d) {
        sbox_close(fd);
        return 0;
    }
    for (const struct dirent *e; r == 0 && (e = readdir(d));)
        if (fnmatch(s->name, e->d_name, FNM_PERIOD) == 0)
            r = take_beneath(c, s, dir, e->d_name);
    (void)closedir(d);
    return r;
}

static int take_directory(struct collector *c, const struct source *s, int dir)
{
    return strchr(s->name, '*') ? take_matching(c, s, dir) : take_beneath(c, s, dir, s->name);
}

/* The workspace's root, and the directory in it that the command starts in. */
static int take_workspace(struct collector *c, const struct source *s)
{
    const char *below = sbox_path_below(c->root->cwd, c->root->path);
    int r = take_directory(c, s, c->root->fd);
    if (r < 0 || !below || !*below)
        return r;
    _cleanup_close_ int dir = sbox_open_beneath(c->root->fd, below, O_PATH | O_DIRECTORY);
    return dir < 0 ? 0 : take_directory(c, s, dir);
}

static int take_variables(struct collector *c)
{
    c->trusted = true;
    for (size_t i = 0; environ[i]; i++) {
        const char *equals = strchr(environ[i], '=');
        _cleanup_free_ char *name =
            equals ? strndup(environ[i], (size_t)(equals - environ[i])) : NULL;
        for (size_t k = 0; name && c->word->variables[k]; k++) {
            if (fnmatch(c->word->variables[k], name, 0) != 0)
                continue;
            c->file = name;
            c->has_default |= k < c->word->defaults;
            int r = sbox_hosts_in_text(equals + 1, strlen(equals + 1), take_host, c);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* -- the client -------------------------------------------------------------------------------- */

/* The first URL behind `after`, up to where it ends. NULL when there is none. */
static char *find_url(const char *text, const char *after)
{
    const char *at = strstr(text, after);
    const char *begin = at ? strstr(at, "://") : NULL;
    if (!begin)
        return NULL;
    while (begin > at && isalnum((unsigned char)begin[-1]))
        begin--;
    return strndup(begin, strcspn(begin, " \t\r\n\"'`)"));
}

static char *ask_program(const struct sbox_shortcut_asking *asking, const struct question *q)
{
    _cleanup_free_ char *key = sbox_shortcut_cache_key(q->program);
    _cleanup_free_ char *text = NULL;
    char *url = sbox_shortcut_cache_get(asking->data_fd, key);
    if (url || asking->ask(q->argv, &text) < 0)
        return url;
    url = find_url(text, q->after);
    if (url)
        sbox_shortcut_cache_put(asking->data_fd, key, url);
    return url;
}

static int ask_client(struct collector *c, const struct sbox_shortcut_asking *asking,
                      const struct question *q)
{
    for (; asking && q && q->program; q++) {
        char file[64];
        if (!sbox_in_path(q->program))
            continue;
        _cleanup_free_ char *url = ask_program(asking, q);
        if (!url)
            continue;
        (void)snprintf(file, sizeof file, "what %s itself says", q->program);
        c->file = file;
        c->trusted = true;
        return sbox_hosts_in_text(url, strlen(url), take_host, c);
    }
    return 0;
}

/* yarn has a registry of its own beside npm's, in variables and files that the key of a kept answer
 * knows nothing of: it is asked each time. */
static int ask_yarn(struct collector *c, const struct sbox_shortcut_asking *asking)
{
    bool due = asking && asking->client && strcmp(asking->client, "yarn") == 0 &&
               c->word->questions == npm_questions;
    if (!due)
        return 0;
    const struct sbox_shortcut_asking anew = {.ask = asking->ask, .data_fd = -1};
    return ask_client(c, &anew, yarn_questions);
}

static const struct word *find_word(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, name) == 0)
            return &words[i];
    return NULL;
}

static int collect(struct collector *c, const struct sbox_shortcut_asking *asking)
{
    int r = take_variables(c);
    for (size_t i = 0; r == 0 && i < c->word->source_count; i++) {
        const struct source *s = &c->word->sources[i];
        r = s->place == WORKSPACE ? take_workspace(c, s) : take_path(c, s);
    }
    if (r == 0 && !c->has_default)
        r = ask_client(c, asking, c->word->questions);
    return r == 0 ? ask_yarn(c, asking) : r;
}

int sbox_shortcut_hosts(const char *word, const struct sbox_root *root, const char *home,
                        const struct sbox_shortcut_asking *asking, struct sbox_shortcut *ret,
                        struct sbox_error *err)
{
    struct sbox_shortcut found = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};
    struct collector c = {
        .word = find_word(word), .root = root, .home = home, .found = &found, .err = err};
    if (!c.word)
        return sbox_error_say(err, EINVAL,
                              "'%s' is no shortcut: there are @npm, @pip, @cargo and @git",
                              sbox_esc(word));
    int r = collect(&c, asking);
    if (r == 0 && found.hosts.count == 0)
        r = sbox_error_say(err, ENOENT,
                           "%s: nothing names a host: no setting, no lockfile, and the client was "
                           "not there to be asked; list the host (-o HOST), or write %s",
                           word, c.word->hint);
    if (r < 0) {
        sbox_shortcut_release(&found);
        return r;
    }
    *ret = found;
    return 0;
}

void sbox_shortcut_release(struct sbox_shortcut *s)
{
    sbox_strv_release(&s->hosts);
    sbox_strv_release(&s->why);
    sbox_strv_release(&s->workspace);
}
