#include "cli/path_filter.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "lock/leaving.h"

static int add(const struct sbox_root *root, const char *typed, struct sbox_strv *ret)
{
    /* The path that a link with this text, in the current directory, names. */
    _cleanup_free_ char *full = sbox_leads_lexically(root->cwd, "link", typed);
    if (!full)
        return -ENOMEM;
    const char *below = sbox_path_below(full, root->path);
    return sbox_strv_add(ret, below ? below : full);
}

int sbox_path_filter_make(const struct sbox_root *root, char *const *typed, size_t count,
                          struct sbox_strv *ret, struct sbox_error *err)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++)
        r = add(root, typed[i], ret);
    return r < 0 ? sbox_error_set(err, -r, "PATH") : 0;
}

bool sbox_path_filter_passes(const struct sbox_strv *filter, const char *path)
{
    for (size_t i = 0; i < filter->count; i++) {
        const char *wanted = filter->items[i];
        size_t n = strlen(wanted);
        if (n == 0 || (strncmp(path, wanted, n) == 0 && (path[n] == '\0' || path[n] == '/')))
            return true;
    }
    return filter->count == 0;
}
