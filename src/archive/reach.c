#include "archive/reach.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <fcntl.h>
#include <limits.h>

int sbox_reach(int dirfd, const char *path, size_t size, int flags)
{
    _cleanup_close_ int held = -1;
    char piece[PATH_MAX];
    int at = dirfd;
    while (size >= sizeof piece) {
        const char *slash = memrchr(path, '/', sizeof piece - 1);
        size_t n = slash ? (size_t)(slash - path) : 0;
        if (n == 0)
            return -ENAMETOOLONG;
        memcpy(piece, path, n);
        piece[n] = '\0';
        int next = sbox_open_beneath(at, piece, O_PATH | O_DIRECTORY);
        if (next < 0)
            return next;
        sbox_close(held);
        at = held = next;
        path += n + 1;
        size -= n + 1;
    }
    memcpy(piece, path, size);
    piece[size] = '\0';
    return sbox_open_beneath(at, size > 0 ? piece : ".", flags | O_NOFOLLOW);
}
