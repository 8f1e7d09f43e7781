#include "cli/in_path.h"

#include "base/error.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

bool sbox_in_path(const char *name)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t size = strcspn(path, ":");
        char file[PATH_MAX];
        struct stat st;
        int n = snprintf(file, sizeof file, "%.*s/%s", (int)size, path, name);
        if (size > 0 && n > 0 && (size_t)n < sizeof file && stat(file, &st) == 0 &&
            S_ISREG(st.st_mode) && access(file, X_OK) == 0)
            return true;
        path += size + (path[size] == ':');
    }
    return false;
}
