#include "project/git.h"

enum { GIT_FILE_MAX = 4096 + 16 };

int sbox_git_file_parse(const char *data, size_t size, char **ret_path)
{
    static const char head[] = "gitdir: ";
    size_t skip = sizeof head - 1;
    if (size > GIT_FILE_MAX || size <= skip || memcmp(data, head, skip) != 0)
        return -EBADMSG;
    data += skip;
    size -= skip;
    while (size > 0 && (data[size - 1] == '\n' || data[size - 1] == '\r'))
        size--;
    if (size == 0 || memchr(data, '\0', size) || memchr(data, '\n', size))
        return -EBADMSG;
    char *path = strndup(data, size);
    if (!path)
        return -ENOMEM;
    *ret_path = path;
    return 0;
}
