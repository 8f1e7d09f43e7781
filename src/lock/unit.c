#include "lock/unit.h"

#include "base/banned.h"

/* The component of `path` that begins at `start` ends here. */
static size_t end_of(const char *path, size_t size, size_t start)
{
    const char *slash = memchr(path + start, '/', size - start);
    return slash ? (size_t)(slash - path) : size;
}

static bool is(const char *path, size_t start, size_t end, const char *name)
{
    return end - start == strlen(name) && memcmp(path + start, name, end - start) == 0;
}

/* Directly below node_modules: where does the package end? 0: it is none (`.bin`, a bare scope). */
static size_t package_end(const char *path, size_t size, size_t start)
{
    size_t end = end_of(path, size, start);
    if (path[start] == '.')
        return 0;
    if (path[start] == '@')
        return end == size ? 0 : end_of(path, size, end + 1);
    return end;
}

static size_t node_unit(const char *path, size_t size, bool is_directory)
{
    size_t unit = 0;
    bool in_modules = true;
    for (size_t start = 0; start < size;) {
        size_t end = end_of(path, size, start);
        if (in_modules) {
            size_t package = package_end(path, size, start);
            /* A file or link in the place of a package belongs to what holds it. */
            if (package > 0 && (package < size || is_directory))
                unit = end = package;
        }
        in_modules = is(path, start, end, "node_modules");
        start = end + 1;
    }
    return unit;
}

static size_t python_unit(const char *path, size_t size)
{
    static const char *const want[] = {"lib", "python", "site-packages"};
    size_t start = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t end = end_of(path, size, start);
        bool fits = i == 1 ? end - start > 6 && memcmp(path + start, want[1], 6) == 0
                           : is(path, start, end, want[i]);
        if (!fits || end == size)
            return 0;
        start = end + 1;
    }
    return end_of(path, size, start);
}

size_t sbox_unit_of(enum sbox_tree_kind kind, const char *path, size_t size, bool is_directory)
{
    switch (kind) {
    case SBOX_TREE_NODE_MODULES:
        return node_unit(path, size, is_directory);
    case SBOX_TREE_VENV:
        return python_unit(path, size);
    case SBOX_TREE_VENDOR:
    case SBOX_TREE_YARN:
        return 0;
    }
    return 0;
}
