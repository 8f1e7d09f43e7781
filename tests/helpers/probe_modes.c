/* What the tests need besides rows: a kernel that lacks something, and a sibling that swaps
 * directories. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS_MAX = 4 };

/* The answers are those of a kernel (or a container's profile) without the feature. */
static const struct feature {
    const char *name;
    int answer;
    int calls[CALLS_MAX];
    int prctl_option; /* refuse this prctl(2) too, with EINVAL */
} features[] = {
    {"landlock", ENOSYS, {SYS_landlock_create_ruleset, SYS_landlock_restrict_self}, 0},
    {"seccomp", EINVAL, {SYS_seccomp}, PR_SET_SECCOMP},
    {"namespaces", EPERM, {SYS_unshare, SYS_clone3, SYS_setns}, 0},
    {"mount-api", ENOSYS, {SYS_open_tree, SYS_move_mount, SYS_mount_setattr}, 0},
};

static int deny(const struct feature *f)
{
    struct sock_filter code[2 * CALLS_MAX + 6];
    unsigned short n = 0;
    unsigned refuse = SECCOMP_RET_ERRNO | ((unsigned)f->answer & SECCOMP_RET_DATA);
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALLS_MAX && f->calls[i]; i++) {
        code[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)f->calls[i], 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refuse);
    }
    if (f->prctl_option) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                 offsetof(struct seccomp_data, args[0]));
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 (unsigned)f->prctl_option, 0, 1);
        code[n++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)EINVAL);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* probe without FEATURE CMD…: CMD on a kernel that lacks the feature. */
int probe_without(const char *name, char **command)
{
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        if (strcmp(features[i].name, name) == 0) {
            if (deny(&features[i]) < 0)
                return 125;
            execvp(command[0], command);
            return 127;
        }
    fprintf(stderr, "probe: no feature %s\n", name);
    return 125;
}

/* probe swap A B: exchanges the two names until killed, in bursts: without a pause between them no
 * start would ever find the workspace at rest, and nothing would be tested. */
int probe_swap(const char *a, const char *b)
{
    for (unsigned n = 1;; n++) {
        if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) < 0 && errno != EBUSY)
            return 1;
        if (n % 101 == 0)
            (void)usleep(1000 + n % 4000);
    }
}
