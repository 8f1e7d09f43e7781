#include "confine/rlimit.h"

#include "base/banned.h"

#include <errno.h>
#include <sys/prctl.h>

/* The limit is 1, not 0. Below one page no file is written either way; but when core_pattern
 * starts with '|' the kernel takes no notice of the limit and starts the handler, as root and on
 * the host, also at 0. Only 1 makes it give up: that value marks the handler itself, whose own
 * crash must not start another one (fs/coredump.c). A process inside could still lower its limit to
 * 0, so the seccomp filter makes setting RLIMIT_CORE do nothing. */
enum { NO_CORE = 1 };

int sbox_rlimit_no_core(void)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_CORE, &now) < 0)
        return -errno;
    if (now.rlim_max < NO_CORE)
        return 1;
    const struct rlimit wanted = {.rlim_cur = NO_CORE, .rlim_max = NO_CORE};
    return setrlimit(RLIMIT_CORE, &wanted) < 0 ? -errno : 0;
}

int sbox_rlimit_raise_nofile(struct rlimit *ret_saved)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) < 0)
        return -errno;
    const struct rlimit wanted = {.rlim_cur = now.rlim_max, .rlim_max = now.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &wanted) < 0)
        return -errno;
    *ret_saved = now;
    return 0;
}

int sbox_rlimit_restore_nofile(const struct rlimit *saved)
{
    return setrlimit(RLIMIT_NOFILE, saved) < 0 ? -errno : 0;
}

int sbox_set_undumpable(void)
{
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}
