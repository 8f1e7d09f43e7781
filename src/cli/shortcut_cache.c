#include "cli/shortcut_cache.h"

#include "base/error.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/strv.h"
#include "cli/in_path.h"

#include <limits.h>
#include <strings.h>

enum { CACHE_MAX = 32 << 10, LINES_MAX = 16 };

static const char cache_name[] = "clients";

/* Variables that lead a client to settings which the key knows nothing of. */
static bool environment_leads_elsewhere(void)
{
    static const char *const names[] = {"npm_config_userconfig=",
                                        "npm_config_globalconfig=",
                                        "npm_config_prefix=",
                                        "PIP_CONFIG_FILE=",
                                        "CARGO_HOME=",
                                        "XDG_CONFIG_HOME="};
    for (size_t i = 0; environ[i]; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strncasecmp(environ[i], names[k], strlen(names[k])) == 0)
                return true;
    return false;
}

static void add_state(struct sbox_buf *out, const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        sbox_buf_add_str(out, " -");
    else
        sbox_buf_addf(out, " %llu:%llu:%lld.%09ld", (unsigned long long)st.st_ino,
                      (unsigned long long)st.st_size, (long long)st.st_mtim.tv_sec,
                      st.st_mtim.tv_nsec);
}

char *sbox_shortcut_cache_key(const char *program)
{
    static const char *const beside[] = {"etc/npmrc", "pip.conf"};
    char path[PATH_MAX];
    char settings[PATH_MAX + 16];
    struct sbox_buf out = {0};
    if (environment_leads_elsewhere() || !sbox_find_in_path(program, path, sizeof path) ||
        strpbrk(path, " \t\n"))
        return NULL;
    sbox_buf_add_str(&out, path);
    add_state(&out, path);
    /* PREFIX/bin/npm reads PREFIX/etc/npmrc */
    for (int up = 0; up < 2 && strrchr(path, '/'); up++)
        *strrchr(path, '/') = '\0';
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        (void)snprintf(settings, sizeof settings, "%s/%s", path, beside[i]);
        add_state(&out, settings);
    }
    return sbox_buf_take_str(&out);
}

static char *load(int data_fd)
{
    char *text = NULL;
    size_t size = 0;
    if (data_fd < 0 || sbox_read_file_at(data_fd, cache_name, CACHE_MAX, &text, &size) < 0)
        return NULL;
    return text;
}

/* A line is KEY TAB URL. */
static const char *url_of(const char *line, const char *key)
{
    size_t n = strlen(key);
    return strncmp(line, key, n) == 0 && line[n] == '\t' ? line + n + 1 : NULL;
}

char *sbox_shortcut_cache_get(int data_fd, const char *key)
{
    _cleanup_free_ char *text = load(data_fd);
    for (const char *line = text; line && *line;) {
        size_t size = strcspn(line, "\n");
        const char *url = key ? url_of(line, key) : NULL;
        if (url && url < line + size)
            return strndup(url, (size_t)(line + size - url));
        line += size + (line[size] == '\n');
    }
    return NULL;
}

/* The newest line comes first; the oldest fall off the end. */
void sbox_shortcut_cache_put(int data_fd, const char *key, const char *url)
{
    _cleanup_free_ char *text = load(data_fd);
    _cleanup_buf_ struct sbox_buf out = {0};
    if (data_fd < 0 || !key || strpbrk(url, "\t\n"))
        return;
    sbox_buf_addf(&out, "%s\t%s\n", key, url);
    const char *line = text;
    for (int lines = 1; line && *line && lines < LINES_MAX; lines++) {
        size_t size = strcspn(line, "\n");
        sbox_buf_add(&out, line, size);
        sbox_buf_add_byte(&out, '\n');
        line += size + (line[size] == '\n');
    }
    if (!sbox_buf_failed(&out) && out.size <= CACHE_MAX)
        (void)sbox_write_file_atomic(data_fd, cache_name, out.data, out.size, 0600, false);
}
