/* Asking a client for its registry. It is a program like any other, and the answer is only as good
 * as what it reads: so it runs as `sbox run --offline` runs it, in an empty directory, with nothing
 * of the project in sight; the answer is bounded in size and time. */
#include "cli/shortcut.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

enum { ANSWER_MAX = 32768, ANSWER_MS = 20000, WORDS_MAX = 16 };

/* Not below /tmp: others could see it come and go. */
static int make_directory(char *ret, size_t size)
{
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    bool own = base && base[0] == '/';
    if (!own && !(home && home[0] == '/'))
        return -ENOENT;
    int n = snprintf(ret, size, "%s%s/sbox", own ? base : home, own ? "" : "/.cache");
    if (n < 0 || (size_t)n + sizeof "/ask-XXXXXX" > size)
        return -ENAMETOOLONG;
    int r = sbox_mkdir_parents(AT_FDCWD, ret, 0700);
    if (r < 0)
        return r;
    (void)snprintf(ret + n, size - (size_t)n, "/ask-XXXXXX");
    return mkdtemp(ret) ? 0 : -errno;
}

static long left_ms(const struct timespec *until)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (until->tv_sec - now.tv_sec) * 1000 + (until->tv_nsec - now.tv_nsec) / 1000000;
}

/* All that is printed, the first ANSWER_MAX bytes of it kept, until the end or the time is over. */
static int read_answer(int fd, struct sbox_buf *out)
{
    struct timespec until;
    char data[ANSWER_MAX];
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ANSWER_MS / 1000;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        long left = left_ms(&until);
        int n = left > 0 ? poll(&p, 1, (int)left) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        ssize_t size = n > 0 ? read(fd, data, sizeof data) : -1;
        if (n <= 0 || size < 0)
            return n == 0 ? -ETIMEDOUT : -errno;
        if (size == 0)
            return 0;
        size_t room = ANSWER_MAX - out->size;
        sbox_buf_add(out, data, (size_t)size < room ? (size_t)size : room);
    }
}

static int start(const char *directory, const char *const *argv, int output, pid_t *ret)
{
    const char *words[WORDS_MAX + 8] = {"sbox",         "run",         "-q",      "-n",
                                        "--no-install", "--workspace", directory, "--"};
    size_t count = 8;
    posix_spawn_file_actions_t actions;
    for (size_t i = 0; argv[i] && i < WORDS_MAX - 1; i++)
        words[count++] = argv[i];
    words[count] = NULL;
    int r = posix_spawn_file_actions_init(&actions);
    if (r != 0)
        return -r;
    r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, output, 2);
    if (r == 0)
        r = posix_spawn_file_actions_addchdir_np(&actions, directory);
    if (r == 0)
        r = posix_spawn(ret, "/proc/self/exe", &actions, NULL, (char *const *)(uintptr_t)words,
                        environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

static int run(const char *directory, const char *const *argv, struct sbox_buf *out)
{
    int ends[2];
    pid_t pid = -1;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    int r = start(directory, argv, ends[1], &pid);
    sbox_close(ends[1]);
    if (r == 0) {
        r = read_answer(ends[0], out);
        if (r < 0)
            (void)kill(pid, SIGKILL); /* everything inside dies with it */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    sbox_close(ends[0]);
    return r;
}

int sbox_shortcut_ask_client(const char *const *argv, char **ret_text)
{
    char directory[PATH_MAX];
    _cleanup_buf_ struct sbox_buf out = {0};
    int r = make_directory(directory, sizeof directory);
    if (r < 0)
        return r;
    r = run(directory, argv, &out);
    (void)rmdir(directory);
    if (r < 0)
        return r;
    *ret_text = sbox_buf_take_str(&out);
    return *ret_text ? 0 : -ENOMEM;
}
