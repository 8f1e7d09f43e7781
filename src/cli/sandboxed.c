#include "cli/sandboxed.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

enum { PIECE = 32768, OWN_WORDS = 16, FD_ABOVE = 16 };

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

/* All that is printed, the first bytes of it kept, until the end or the time is over. */
static int read_output(struct sbox_sandboxed *s, int fd, struct sbox_buf *out)
{
    struct timespec until;
    char data[PIECE];
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += s->milliseconds / 1000;
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
        size_t room = s->output_max - out->size;
        s->cut |= (size_t)size > room;
        sbox_buf_add(out, data, (size_t)size < room ? (size_t)size : room);
    }
}

static size_t make_words(const struct sbox_sandboxed *s, const char *directory,
                         const char *words[OWN_WORDS + SBOX_SANDBOXED_WORDS])
{
    static const char *const first[] = {"sbox", "run", "-q", "-n", "--no-install", "--workspace"};
    static const char *const pass[] = {"--pass-fd=3", "--pass-fd=4"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        words[count++] = first[i];
    words[count++] = directory;
    for (size_t i = 0; i < s->fd_count; i++)
        words[count++] = pass[i];
    words[count++] = "--";
    for (size_t i = 0; s->argv[i] && i < SBOX_SANDBOXED_WORDS - 1; i++)
        words[count++] = s->argv[i];
    words[count] = NULL;
    return count;
}

/* The descriptors come from above those that they become: none is closed before it was copied. */
static int add_descriptors(posix_spawn_file_actions_t *actions, const int high[])
{
    int r = 0;
    for (int i = 0; r == 0 && i < SBOX_SANDBOXED_FDS; i++)
        if (high[i] >= 0)
            r = posix_spawn_file_actions_adddup2(actions, high[i], SBOX_SANDBOXED_FIRST_FD + i);
    return r;
}

static int spawn(const struct sbox_sandboxed *s, const char *directory, int output,
                 const int high[], pid_t *ret)
{
    const char *words[OWN_WORDS + SBOX_SANDBOXED_WORDS];
    posix_spawn_file_actions_t actions;
    (void)make_words(s, directory, words);
    int r = posix_spawn_file_actions_init(&actions);
    if (r != 0)
        return -r;
    r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, output, 2);
    if (r == 0)
        r = add_descriptors(&actions, high);
    if (r == 0)
        r = posix_spawn_file_actions_addchdir_np(&actions, directory);
    if (r == 0)
        r = posix_spawn(ret, "/proc/self/exe", &actions, NULL, (char *const *)(uintptr_t)words,
                        environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

static int start(const struct sbox_sandboxed *s, const char *directory, int output, pid_t *ret)
{
    int high[SBOX_SANDBOXED_FDS + 1] = {-1, -1, -1};
    int r = 0;
    for (size_t i = 0; r == 0 && i <= s->fd_count; i++) {
        high[i] = fcntl(i < s->fd_count ? s->fds[i] : output, F_DUPFD_CLOEXEC, FD_ABOVE);
        r = high[i] < 0 ? -errno : 0;
    }
    int out = high[s->fd_count];
    high[s->fd_count] = -1;
    if (r == 0)
        r = spawn(s, directory, out, high, ret);
    sbox_close(out);
    for (size_t i = 0; i < s->fd_count; i++)
        sbox_close(high[i]);
    return r;
}

static int run(struct sbox_sandboxed *s, const char *directory, struct sbox_buf *out)
{
    int ends[2];
    int status = 0;
    pid_t pid = -1;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    int r = start(s, directory, ends[1], &pid);
    sbox_close(ends[1]);
    if (r == 0) {
        r = read_output(s, ends[0], out);
        if (r < 0)
            (void)kill(pid, SIGKILL); /* everything inside dies with it */
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    sbox_close(ends[0]);
    if (r < 0)
        return r;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int sbox_sandboxed_run(struct sbox_sandboxed *s, struct sbox_buf *out)
{
    char directory[PATH_MAX];
    int r = make_directory(directory, sizeof directory);
    if (r < 0)
        return r;
    r = run(s, directory, out);
    (void)rmdir(directory);
    return r;
}
