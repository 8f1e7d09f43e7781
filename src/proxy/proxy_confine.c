/* In this order, each from what the next one takes away:
 *
 * 1. Limits: no process, no file that grows, no core.
 * 2. Not dumpable: processes of the same user can neither trace it nor read its memory, which holds
 *    the credentials of the host's proxy.
 * 3. Capabilities: none, if sbox was started by root.
 * 4. no_new_privs, for the two that follow.
 * 5. Landlock: no file but /etc/hosts, to read; no TCP port to bind; no signal and no abstract
 *    socket beyond this process. /etc/hosts stays because c-ares reads it with each lookup: a name
 *    that the user changes there counts while a server runs, as it does outside.
 * 6. seccomp: the calls that serving needs (confine/seccomp_proxy.h); any other ends the process.
 *
 * Landlock and seccomp must be there: the sandbox itself refuses to start without them. */
#include "proxy/server.h"

#include "base/cleanup.h"
#include "confine/landlock.h"
#include "confine/rlimit.h"
#include "confine/seccomp.h"
#include "confine/self.h"

#include <fcntl.h>

static int set_limits(void)
{
    int r = sbox_rlimit_no_core();
    if (r >= 0)
        r = sbox_self_limit(RLIMIT_NPROC, 0);
    return r < 0 ? r : sbox_self_limit(RLIMIT_FSIZE, 0);
}

static int allow_hosts(struct sbox_landlock *l)
{
    _cleanup_close_ int fd = open("/etc/hosts", O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    return sbox_landlock_allow_rights(l, fd, SBOX_LL_READ_FILE);
}

static int enforce_landlock(void)
{
    struct sbox_landlock l;
    int r = sbox_landlock_begin_unbound(&l);
    if (r < 0)
        return r;
    r = allow_hosts(&l);
    if (r == 0)
        return sbox_landlock_enforce(&l);
    sbox_landlock_end(&l);
    return r;
}

static int load_filter(void)
{
    return sbox_seccomp_load(sbox_seccomp_program(SBOX_SECCOMP_PROXY));
}

int sbox_proxy_confine(struct sbox_error *err)
{
    static const struct sbox_self_step steps[] = {
        {"limits", set_limits},
        {"not dumpable", sbox_set_undumpable},
        {"capabilities", sbox_self_drop_capabilities},
        {"no new privileges", sbox_self_no_new_privs},
        {"Landlock", enforce_landlock},
        {"seccomp", load_filter},
    };
    return sbox_self_confine("sbox-proxy", steps, sizeof steps / sizeof *steps, err);
}
