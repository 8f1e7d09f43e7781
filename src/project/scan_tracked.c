#include "project/scan_tracked.h"

#include "base/cleanup.h"
#include "project/git.h"

#include <fcntl.h>

enum { INDEX_MAX = 256 << 20 };

static int compare(const struct sbox_scan_entry *e, const char *path, size_t size)
{
    size_t n = strlen(e->path);
    int c = memcmp(e->path, path, n < size ? n : size);
    return c != 0 ? c : (n > size) - (n < size);
}

/* Is the index's path the entry or below it? */
static bool covers(const struct sbox_scan_entry *e, const char *path, size_t size)
{
    size_t n = strlen(e->path);
    return size >= n && memcmp(e->path, path, n) == 0 && (size == n || path[n] == '/');
}

/* Entries are sorted by path: only the last one that is not after the index's path can cover it, or
 * one of those that are prefixes of that. */
static int mark(const char *path, size_t size, unsigned mode, void *context)
{
    struct sbox_scan *scan = context;
    size_t low = 0;
    size_t high = scan->count;
    (void)mode;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&scan->entries[middle], path, size) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i-- > 0;) {
        struct sbox_scan_entry *e = &scan->entries[i];
        if (covers(e, path, size))
            e->tracked = true;
        else if (e->path[0] != path[0])
            break;
        else if (low - i > 64)
            break;
    }
    return 0;
}

static bool worth_it(const struct sbox_scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        if (scan->entries[i].kind == SBOX_SCAN_SECRET || scan->entries[i].kind == SBOX_SCAN_CONF ||
            scan->entries[i].kind == SBOX_SCAN_TREE)
            return true;
    return false;
}

static size_t hash_size(int git)
{
    _cleanup_free_ char *config = NULL;
    if (sbox_read_file_at(git, "config", 1 << 20, &config, NULL) < 0)
        return 20;
    return strcasestr(config, "objectformat = sha256") ? 32 : 20;
}

void sbox_scan_mark_tracked(int root_fd, struct sbox_scan *scan)
{
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    if (!worth_it(scan))
        return;
    _cleanup_close_ int git = sbox_open_beneath(root_fd, ".git", O_RDONLY | O_DIRECTORY);
    if (git < 0 || sbox_read_file_at(git, "index", INDEX_MAX, &data, &size) < 0)
        return;
    if (sbox_git_index_walk(data, size, hash_size(git), mark, scan, NULL) < 0)
        for (size_t i = 0; i < scan->count; i++)
            scan->entries[i].tracked = false;
    else
        scan->has_index = true;
}
