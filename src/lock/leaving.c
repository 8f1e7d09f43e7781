#include "lock/leaving.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/strv.h"

#include <sys/stat.h>

/* Appends the components of `path` to the absolute path in `out`, ".." taken as text. */
static void append(struct sbox_buf *out, const char *path, size_t size)
{
    for (size_t start = 0; start < size;) {
        const char *slash = memchr(path + start, '/', size - start);
        size_t end = slash ? (size_t)(slash - path) : size;
        size_t n = end - start;
        if (n == 2 && memcmp(path + start, "..", 2) == 0) {
            while (out->size > 0 && out->data[out->size - 1] != '/')
                out->size--;
            if (out->size > 0)
                out->size--;
        } else if (n > 0 && !(n == 1 && path[start] == '.')) {
            sbox_buf_add_byte(out, '/');
            sbox_buf_add(out, path + start, n);
        }
        start = end + 1;
    }
}

char *sbox_leads_lexically(const char *base, const char *path, const char *target)
{
    struct sbox_buf out = {0};
    if (target[0] != '/') {
        const char *slash = strrchr(path, '/');
        append(&out, base, strlen(base));
        append(&out, path, slash ? (size_t)(slash - path) : 0);
    }
    append(&out, target, strlen(target));
    if (out.size == 0)
        sbox_buf_add_byte(&out, '/');
    char *s = sbox_buf_take_str(&out);
    if (!s)
        sbox_buf_release(&out);
    return s;
}

static bool within_any(const char *path, const char *const *dirs)
{
    for (; *dirs; dirs++)
        if (sbox_path_within(path, *dirs))
            return true;
    return false;
}

static bool inside(const char *path, const char *root, const char *base)
{
    return sbox_path_within(path, root) || sbox_path_within(path, base);
}

static enum sbox_leads judge_real(const char *real)
{
    static const char *const system_dirs[] = {"/usr",   "/bin", "/sbin", "/lib", "/lib32",
                                              "/lib64", "/dev", "/proc", "/sys", NULL};
    struct stat st;
    if (within_any(real, system_dirs))
        return SBOX_LEADS_SYSTEM;
    if (stat(real, &st) < 0)
        return SBOX_LEADS_NOWHERE;
    return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? SBOX_LEADS_OUTSIDE : SBOX_LEADS_SYSTEM;
}

int sbox_leads(const char *root, const char *base, const char *path, const char *target,
               enum sbox_leads *ret, char **ret_real)
{
    _cleanup_free_ char *text = sbox_leads_lexically(base, path, target);
    if (!text)
        return -ENOMEM;
    if (inside(text, root, base)) {
        /* A link on the way that leaves is judged where it lies itself. */
        *ret = SBOX_LEADS_INSIDE;
        return 0;
    }
    _cleanup_free_ char *link = NULL;
    if (asprintf(&link, "%s/%s", base, path) < 0)
        return -ENOMEM;
    _cleanup_free_ char *real = realpath(link, NULL);
    if (!real) {
        *ret = SBOX_LEADS_NOWHERE;
        return errno == ENAMETOOLONG || errno == ENOMEM ? -errno : 0;
    }
    *ret = inside(real, root, base) ? SBOX_LEADS_INSIDE : judge_real(real);
    if (*ret == SBOX_LEADS_SYSTEM || *ret == SBOX_LEADS_OUTSIDE)
        *ret_real = TAKE_PTR(real);
    return 0;
}

/* Below a dot directory of $HOME, but not a toolchain? */
static bool is_private(const char *real, const char *home)
{
    static const char *const toolchains[] = {".local/share/uv",
                                             ".local/share/mise",
                                             ".local/share/pnpm",
                                             ".local/share/pipx",
                                             ".pyenv",
                                             ".asdf",
                                             ".rye",
                                             ".nvm",
                                             ".volta",
                                             ".fnm",
                                             NULL};
    const char *below = home && *home ? sbox_path_below(real, home) : NULL;
    if (!below || *below != '.')
        return false;
    for (const char *const *t = toolchains; *t; t++) {
        size_t n = strlen(*t);
        if (strncmp(below, *t, n) == 0 && below[n] == '/')
            return false;
    }
    return true;
}

int sbox_leads_allowed(const char *real, const char *root, const char *home, struct sbox_error *err)
{
    static const char *const whole[] = {"/",    "/etc",   "/home", "/opt", "/root",
                                        "/run", "/srv",   "/tmp",  "/var", "/var/tmp",
                                        "/mnt", "/media", NULL};
    for (const char *const *w = whole; *w; w++)
        if (strcmp(real, *w) == 0)
            return sbox_error_say(err, EPERM, "'%s' is a system directory", sbox_esc(real));
    if (sbox_path_within(root, real))
        return sbox_error_say(err, EPERM, "'%s' holds the workspace", sbox_esc(real));
    if (home && *home == '/' && sbox_path_within(home, real))
        return sbox_error_say(err, EPERM, "'%s' holds your home directory", sbox_esc(real));
    if (is_private(real, home))
        return sbox_error_say(err, EPERM, "'%s' lies in a private directory of your home",
                              sbox_esc(real));
    return 0;
}
