/* Floor of a cached scan: the directories of a workspace, known by name beforehand, stat'ed once
 * each. Usage: stat_list LIST, where LIST holds absolute paths that end in NUL (find -print0). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_list(const char *path, const char **ret_data, size_t *ret_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *data;

    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED)
        return -errno;
    *ret_data = data;
    *ret_size = (size_t)st.st_size;
    return 0;
}

int main(int argc, char **argv)
{
    const char *data = NULL;
    size_t size = 0, count = 0;

    if (argc != 2 || map_list(argv[1], &data, &size) < 0 || size == 0 || data[size - 1] != '\0') {
        fprintf(stderr, "usage: stat_list LIST (paths that end in NUL)\n");
        return 2;
    }
    for (const char *path = data; path < data + size; path += strlen(path) + 1, count++) {
        struct statx st;

        if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC,
                  STATX_TYPE | STATX_INO | STATX_MTIME | STATX_CTIME, &st) < 0) {
            fprintf(stderr, "stat_list: %s: %s\n", path, strerror(errno));
            return 1;
        }
    }
    printf("dirs %zu\n", count);
    return 0;
}
