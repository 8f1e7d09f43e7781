/* What the process itself carries: capabilities, no_new_privs, the filter, limits. A row is OK when
 * something is left that an attacker could use. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The value of a line of /proc/self/status, as a word. */
static int status_line(const char *label, char *value, size_t size)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "re");
    if (!f)
        return -errno;
    while (fgets(line, sizeof line, f)) {
        size_t length = strlen(label);
        if (strncmp(line, label, length) == 0 && line[length] == ':') {
            line[strcspn(line, "\n")] = 0;
            snprintf(value, size, "%s", line + length + 1 + strspn(line + length + 1, "\t "));
            fclose(f);
            return 0;
        }
    }
    fclose(f);
    return -ENOENT;
}

static int capabilities_left(const struct probe_row *row)
{
    char value[128];
    int r = status_line(row->path, value, sizeof value);
    if (r < 0)
        return r;
    return strcmp(value, "0000000000000000") == 0 ? probe_word("0") : 0;
}

/* OK when the protection is not on: its value is 0. */
static int protection_missing(const struct probe_row *row)
{
    char value[64];
    int r = status_line(row->path, value, sizeof value);
    if (r < 0)
        return r;
    return strcmp(value, "0") == 0 ? 0 : probe_word("%s", value);
}

static int raises_capability(const struct probe_row *row)
{
    (void)row;
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{1u << CAP_SYS_ADMIN, 1u << CAP_SYS_ADMIN, 0}};
    return probe_result(syscall(SYS_capset, &head, data));
}

static int raises_ambient(const struct probe_row *row)
{
    (void)row;
    return probe_result(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_ADMIN, 0, 0));
}

static int clears_no_new_privs(const struct probe_row *row)
{
    (void)row;
    return probe_result(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

static int drops_seccomp(const struct probe_row *row)
{
    (void)row;
    return probe_result(prctl(PR_SET_SECCOMP, 0, 0, 0, 0));
}

static int changes_securebits(const struct probe_row *row)
{
    (void)row;
    return probe_result(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
}

/* A setuid bit must mean nothing: nosuid where files can be made, no_new_privs everywhere. */
static int honours_setuid(const struct probe_row *row)
{
    struct statvfs v;
    if (statvfs(row->path, &v) < 0)
        return -errno;
    return v.f_flag & ST_NOSUID ? probe_word("nosuid") : 0;
}

static int honours_devices(const struct probe_row *row)
{
    struct statvfs v;
    if (statvfs(row->path, &v) < 0)
        return -errno;
    return v.f_flag & ST_NODEV ? probe_word("nodev") : 0;
}

/* 1 stops a file as well as a handler that core_pattern pipes to (core(5): the kernel gives its
 * helper that limit, against recursion); 0 stops only the file. */
static int core_limit(const struct probe_row *row)
{
    struct rlimit l;
    (void)row;
    if (getrlimit(RLIMIT_CORE, &l) < 0)
        return -errno;
    return l.rlim_cur <= 1 && l.rlim_max <= 1 ? probe_word("%d", (int)l.rlim_cur) : 0;
}

static int raises_core_limit(const struct probe_row *row)
{
    (void)row;
    struct rlimit l = {4096, 4096};
    int r = probe_result(setrlimit(RLIMIT_CORE, &l));
    if (r < 0)
        return r;
    getrlimit(RLIMIT_CORE, &l);
    return l.rlim_cur == 4096 ? 0 : probe_word("kept");
}

/* From 1 down to 0 a piped handler of the host would be started again. */
static int lowers_core_limit(const struct probe_row *row)
{
    (void)row;
    struct rlimit l = {0, 0};
    int r = probe_result(setrlimit(RLIMIT_CORE, &l));
    if (r < 0)
        return r;
    getrlimit(RLIMIT_CORE, &l);
    return l.rlim_max == 0 ? 0 : probe_word("kept");
}

static int dumps_core(const struct probe_row *row)
{
    (void)row;
    int status;
    pid_t child = fork();
    if (child == 0)
        abort();
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return -errno;
    return WCOREDUMP(status) ? 0 : probe_word("no core");
}

static int raises_hard_limit(const struct probe_row *row)
{
    struct rlimit l;
    if (getrlimit((enum __rlimit_resource)row->number, &l) < 0)
        return -errno;
    if (l.rlim_max == RLIM_INFINITY)
        return probe_word("unlimited");
    l.rlim_max++;
    return probe_result(setrlimit((enum __rlimit_resource)row->number, &l));
}

static int raises_priority(const struct probe_row *row)
{
    (void)row;
    return probe_result(setpriority(PRIO_PROCESS, 0, -5));
}

static const struct probe_row probe_limits_rows[] = {
    {"cap.effective", capabilities_left, "CapEff", 0, 0},
    {"cap.permitted", capabilities_left, "CapPrm", 0, 0},
    {"cap.inheritable", capabilities_left, "CapInh", 0, 0},
    {"cap.bounding", capabilities_left, "CapBnd", 0, 0},
    {"cap.ambient", capabilities_left, "CapAmb", 0, 0},
    {"cap.raise", raises_capability, NULL, 0, 0},
    {"cap.raise-ambient", raises_ambient, NULL, 0, 0},
    {"cap.securebits", changes_securebits, NULL, 0, 0},
    {"self.no-new-privs", protection_missing, "NoNewPrivs", 0, 0},
    {"self.no-new-privs-clear", clears_no_new_privs, NULL, 0, 0},
    {"self.seccomp", protection_missing, "Seccomp", 0, 0},
    {"self.seccomp-off", drops_seccomp, NULL, 0, 0},
    {"self.suid.workspace", honours_setuid, ".", 0, 0},
    {"self.suid.usr", honours_setuid, "/usr", 0, 0},
    {"self.suid.tmp", honours_setuid, "/tmp", 0, 0},
    {"self.dev.workspace", honours_devices, ".", 0, 0},
    {"self.dev.tmp", honours_devices, "/tmp", 0, 0},
    {"self.core-limit", core_limit, NULL, 0, 0},
    {"self.core-limit-raise", raises_core_limit, NULL, 0, 0},
    {"self.core-limit-lower", lowers_core_limit, NULL, 0, 0},
    {"self.core", dumps_core, NULL, 0, 0},
    {"self.nofile-raise", raises_hard_limit, NULL, RLIMIT_NOFILE, 0},
    {"self.nice-raise", raises_priority, NULL, 0, 0},
};
PROBE_TABLE(probe_limits);
