#include "base/helper.h"

#include "base/cleanup.h"
#include "base/escape.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static int program_path(const char *name, char path[PATH_MAX], struct sbox_error *err)
{
    static const char *const places[] = {"../libexec/sbox/", ""};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return sbox_error_set(err, errno, "find sbox's own program");
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    size_t directory = slash ? (size_t)(slash - self) : 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int size = snprintf(path, PATH_MAX, "%.*s/%s%s", (int)directory, self, places[i], name);
        if (size > 0 && size < PATH_MAX && access(path, X_OK) == 0)
            return 0;
    }
    return sbox_error_say(err, ENOENT,
                          "%s is not there: looked for it beside '%s' and in "
                          "../libexec/sbox; install sbox whole",
                          name, sbox_esc(self));
}

/* In the child, until exec. */
static _Noreturn void become(const char *path, const char *name, int control)
{
    char *const argv[] = {(char *)(uintptr_t)name, NULL};
    char *const environment[] = {NULL};
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    /* The control socket out of the way first: it may be 0 or 1 when the caller had those closed.
     */
    int moved = fcntl(control, F_DUPFD_CLOEXEC, SBOX_HELPER_CONTROL_FD + 1);
    if (null < 0 || moved < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        dup2(moved, SBOX_HELPER_CONTROL_FD) < 0)
        _exit(127);
    /* Its own process group: Ctrl-C is for sbox and the command, which decide when it ends. */
    (void)setpgid(0, 0);
    (void)close_range(SBOX_HELPER_CONTROL_FD + 1, ~0U, 0);
    (void)execve(path, argv, environment);
    _exit(127);
}

int sbox_helper_start(const char *name, int *ret_control, pid_t *ret_pid, struct sbox_error *err)
{
    char path[PATH_MAX];
    int pair[2];
    int r = program_path(name, path, err);
    if (r < 0)
        return r;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return sbox_error_set(err, errno, "socketpair");
    pid_t pid = fork();
    if (pid == 0)
        become(path, name, pair[1]);
    int saved = errno;
    (void)close(pair[1]);
    if (pid < 0) {
        (void)close(pair[0]);
        return sbox_error_set(err, saved, "start %s", name);
    }
    *ret_control = pair[0];
    *ret_pid = pid;
    return 0;
}
