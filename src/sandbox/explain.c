#include "sandbox/explain.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/strv.h"
#include "sandbox/gateway.h"
#include "sandbox/guard.h"

#include <fcntl.h>

/* A sysctl's value as a number; -1 when this kernel has no such switch. */
static long long sysctl_value(const char *path)
{
    _cleanup_free_ char *text = NULL;
    if (sbox_read_file_at(AT_FDCWD, path, 64, &text, NULL) < 0)
        return -1;
    text[strcspn(text, "\n")] = '\0';
    unsigned long long value = 0;
    return sbox_parse_u64(text, INT32_MAX, &value) < 0 ? -1 : (long long)value;
}

static const char *userns_fix(void)
{
    if (sysctl_value("/proc/sys/user/max_user_namespaces") == 0)
        return "user.max_user_namespaces is 0; as root: sysctl user.max_user_namespaces=15000";
    if (sysctl_value("/proc/sys/kernel/unprivileged_userns_clone") == 0)
        return "kernel.unprivileged_userns_clone is 0; as root: sysctl "
               "kernel.unprivileged_userns_clone=1";
    if (sysctl_value("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
        return "AppArmor restricts them (kernel.apparmor_restrict_unprivileged_userns); install "
               "sbox's AppArmor profile, or as root set that sysctl to 0";
    return "a container's seccomp profile or a security module forbids them; allow user "
           "namespaces there (docker: --security-opt seccomp=unconfined)";
}

int sbox_explain_clone(int code, struct sbox_error *err)
{
    if (code == EAGAIN)
        return sbox_error_say(err, code,
                              "cannot start a process: the limit on processes is "
                              "reached (ulimit -u); raise it or end some processes");
    if (code == ENOMEM)
        return sbox_error_say(err, code, "cannot start a process: out of memory (ulimit -v?)");
    if (code == ENOSYS)
        return sbox_error_say(err, code,
                              "layer namespaces: clone3 is missing; sbox needs Linux "
                              "5.13 or later and a container that does not forbid it");
    return sbox_error_say(err, code, "layer user namespaces: %s", userns_fix());
}

int sbox_explain_step(int code, const char *step, struct sbox_error *err)
{
    const char *text = sbox_esc(step);
    if (code == ESTALE)
        return sbox_error_say(err, code,
                              "%s: it changed while the sandbox was built (another "
                              "command is at work here); try again",
                              text);
    if (strcmp(step, "landlock") == 0 && (code == ENOSYS || code == EOPNOTSUPP))
        return sbox_error_say(err, code,
                              "layer landlock: this kernel has none or it is switched "
                              "off; add 'landlock' to the lsm= boot parameter");
    if (strcmp(step, "seccomp") == 0)
        return sbox_error_set(err, code, "layer seccomp: the kernel takes no system-call filter");
    if (strcmp(step, "proc 'proc'") == 0)
        return sbox_error_say(err, code,
                              "layer /proc: a fresh procfs is not allowed because this "
                              "one is masked (a container?); docker: --security-opt "
                              "systempaths=unconfined");
    if (code == ENOSPC && strstr(step, "network namespace"))
        return sbox_error_say(err, code,
                              "%s: the limit on network namespaces is reached; as root: sysctl "
                              "user.max_net_namespaces=15000",
                              text);
    if (strcmp(step, SBOX_GATEWAY_STAGE_WAIT) == 0 && code == EPIPE)
        return sbox_error_say(err, code,
                              "layer network: sbox-proxy ended before the command began");
    if (code == EMFILE || code == ENFILE)
        return sbox_error_say(err, code,
                              "%s: too few descriptors (ulimit -n); raise the limit to "
                              "256 or more",
                              text);
    if (code == EPERM || code == EACCES)
        return sbox_error_say(err, code, "%s: %s; user namespaces: %s", text, strerror(code),
                              userns_fix());
    return sbox_error_set(err, code, "%s", text);
}

char *sbox_explain_guard(int event, int code, const char *path)
{
    char *text = NULL;
    int n = -1;
    const char *name = sbox_esc(path);
    if (event == SBOX_GUARD_LOST)
        n = asprintf(&text,
                     "'%s' was replaced from outside while the command ran; what protected "
                     "it is gone, so the run was ended",
                     name);
    else if (event == SBOX_GUARD_PLANTED)
        n = asprintf(&text,
                     "the command made '%s', which git would obey outside the sandbox; it "
                     "was removed and the run ended",
                     name);
    else
        n = asprintf(&text, "the guard failed (%s: %s)", name, strerror(code));
    return n < 0 ? NULL : text;
}
