#include "project/mark.h"

#include "base/fd.h"

#include <unistd.h>

int sbox_mark_set(int project_dirfd, const char *what, struct sbox_error *err)
{
    int r = sbox_write_file_atomic(project_dirfd, "marked", what, strlen(what), 0600, true);
    return r < 0 ? sbox_error_set(err, -r, "mark the project") : 0;
}

int sbox_mark_get(int project_dirfd, char **ret, struct sbox_error *err)
{
    *ret = NULL;
    int r = sbox_read_file_at(project_dirfd, "marked", 65536, ret, NULL);
    return r < 0 && r != -ENOENT ? sbox_error_set(err, -r, "read the project's mark") : 0;
}

int sbox_mark_clear(int project_dirfd, struct sbox_error *err)
{
    if (unlinkat(project_dirfd, "marked", 0) < 0 && errno != ENOENT)
        return sbox_error_set(err, errno, "take the project's mark away");
    return 0;
}
