/* What an ordinary run wrote into locked trees and loses now. init looks at the upper layers when
 * nothing else is alive inside; caches are expected there and not counted. */
#include "base/cleanup.h"
#include "project/scan.h"
#include "sandbox/init.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

enum { DEPTH_MAX = 40, NAMED_MAX = 3 };

struct discard {
    int socket;
    uint64_t count;
    char path[900]; /* of what is being looked at; good enough when cut */
};

static bool expected(const char *name, int depth)
{
    return (depth == 0 && sbox_is_tree_cache(name)) || strcmp(name, "__pycache__") == 0;
}

static void found(struct discard *d)
{
    if (d->count++ < NAMED_MAX)
        sbox_init_send(d->socket, SBOX_INIT_DISCARDED, 0, 0, d->path, NULL);
}

static void walk(struct discard *d, int dir, int depth);

static void look_at(struct discard *d, int dir, const char *name, unsigned char type, int depth)
{
    size_t used = strlen(d->path);
    (void)snprintf(d->path + used, sizeof d->path - used, "/%s", name);
    if (type != DT_DIR) {
        found(d);
    } else if (depth < DEPTH_MAX) {
        _cleanup_close_ int sub =
            openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub >= 0)
            walk(d, sub, depth + 1);
        else
            found(d);
    }
    d->path[used] = '\0';
}

static void walk(struct discard *d, int dir, int depth)
{
    _Alignas(struct dirent64) char buffer[2048];
    for (;;) {
        long n = syscall(SYS_getdents64, dir, buffer, sizeof buffer);
        if (n <= 0)
            return;
        for (long at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(buffer + at);
            at += entry->d_reclen;
            const char *name = entry->d_name;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || expected(name, depth))
                continue;
            look_at(d, dir, name, entry->d_type, depth);
        }
    }
}

uint64_t sbox_discard_report(const struct sbox_view *view, int socket)
{
    struct discard d = {.socket = socket};
    for (size_t i = 0; i < view->overlay_count; i++) {
        (void)snprintf(d.path, sizeof d.path, "%s", view->overlays[i].path);
        walk(&d, view->overlays[i].upper, 0);
    }
    return d.count;
}
