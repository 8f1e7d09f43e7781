#include "cli/in_path.h"

#include "base/error.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

bool sbox_in_path(const char *name)
{
    char file[PATH_MAX];
    return sbox_find_in_path(name, file, sizeof file);
}

bool sbox_find_in_path(const char *name, char *ret, size_t room)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t size = strcspn(path, ":");
        struct stat st;
        int n = snprintf(ret, room, "%.*s/%s", (int)size, path, name);
        if (size > 0 && n > 0 && (size_t)n < room && stat(ret, &st) == 0 && S_ISREG(st.st_mode) &&
            access(ret, X_OK) == 0)
            return true;
        path += size + (path[size] == ':');
    }
    return false;
}
