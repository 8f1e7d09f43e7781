#include "lock/xattr.h"

#include "base/cleanup.h"
#include "base/strv.h"

#include <sys/xattr.h>

enum { LIST_MAX = 65536, VALUE_MAX = 65536, NAMES_MAX = 4096 }; /* xattr(7): both are 64 KiB */

static bool matters(const char *name)
{
    return sbox_str_starts(name, "user.") || strcmp(name, "security.capability") == 0 ||
           sbox_str_starts(name, "system.posix_acl_");
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_value(int fd, const char *name, struct sbox_buf *out)
{
    char value[256];
    char *at = value;
    _cleanup_free_ char *big = NULL;
    ssize_t n = fgetxattr(fd, name, value, sizeof value);
    if (n < 0 && errno == ERANGE) {
        at = big = malloc(VALUE_MAX);
        if (!big)
            return -ENOMEM;
        n = fgetxattr(fd, name, big, VALUE_MAX);
    }
    if (n < 0)
        return -errno;
    sbox_buf_add_le32(out, (uint32_t)strlen(name));
    sbox_buf_add_str(out, name);
    sbox_buf_add_le32(out, (uint32_t)n);
    sbox_buf_add(out, at, (size_t)n);
    return 0;
}

static int digest_of_names(int fd, char *list, size_t size, struct sbox_sha256 *hash,
                           struct sbox_buf *scratch, struct sbox_digest *ret)
{
    struct sbox_strv names = {0};
    int r = 0;
    for (char *at = list; r == 0 && at < list + size; at += strlen(at) + 1)
        if (matters(at))
            r = names.count < NAMES_MAX ? sbox_strv_add(&names, at) : -E2BIG;
    if (r == 0 && names.count > 0) {
        qsort(names.items, names.count, sizeof *names.items, by_bytes);
        sbox_buf_clear(scratch);
        for (size_t i = 0; r == 0 && i < names.count; i++)
            r = add_value(fd, names.items[i], scratch);
        if (r == 0 && sbox_buf_failed(scratch))
            r = -ENOMEM;
        if (r == 0)
            r = sbox_sha256_of(hash, scratch->data, scratch->size, ret);
        if (r == 0)
            r = 1;
    }
    sbox_strv_release(&names);
    return r;
}

int sbox_xattr_digest(int fd, struct sbox_sha256 *hash, struct sbox_buf *scratch,
                      struct sbox_digest *ret)
{
    char small[512];
    ssize_t n = flistxattr(fd, small, sizeof small);
    if (n == 0 || (n < 0 && errno == ENOTSUP))
        return 0; /* nearly always */
    if (n > 0)
        return digest_of_names(fd, small, (size_t)n, hash, scratch, ret);
    if (errno != ERANGE)
        return -errno;
    _cleanup_free_ char *list = malloc(LIST_MAX);
    if (!list)
        return -ENOMEM;
    n = flistxattr(fd, list, LIST_MAX);
    return n < 0 ? -errno : digest_of_names(fd, list, (size_t)n, hash, scratch, ret);
}
