/* The lock is flock(2)'s; the file `holders` beside it only serves to name who has it. Each holder
 * appends one line "verb pid nanoseconds" (CLOCK_BOOTTIME when it got the lease); who holds it
 * alone starts the file anew. Lines of the dead stay until then and are told from the living by
 * /proc/PID/stat: a process that started after the line was written is another one with its pid. */
#include "project/lease.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <time.h>

enum {
    HOLDERS_MAX = 16384, /* bytes; a longer list starts anew */
    VERB_SIZE = 32,
    NSEC_PER_SEC = 1000000000,
    PAUSE_MIN_NSEC = 2000000,
    PAUSE_MAX_NSEC = 100000000,
};

struct holder {
    char verb[VERB_SIZE];
    pid_t pid;
    uint64_t since; /* CLOCK_BOOTTIME, ns */
    char state;     /* as in proc(5): 'T' is stopped */
};

static uint64_t boottime(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/* State and start time (ns since boot) of a process from /proc/PID/stat. The name in brackets may
 * hold anything, so the fields are counted from the last ')'. */
static bool process_stat(pid_t pid, char *ret_state, uint64_t *ret_start)
{
    char path[64];
    char *text = NULL;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (sbox_read_file_at(AT_FDCWD, path, 4096, &text, NULL) < 0)
        return false;
    _cleanup_free_ char *owned = text;
    const char *at = strrchr(owned, ')');
    unsigned long long ticks = 0;
    /* state is field 3, starttime field 22 */
    /* The kernel wrote it: the numbers fit. NOLINTNEXTLINE(cert-err34-c) */
    if (!at || sscanf(at + 1,
                      " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                      "%*d %llu",
                      ret_state, &ticks) != 2)
        return false;
    long rate = sysconf(_SC_CLK_TCK);
    *ret_start = (uint64_t)ticks * (uint64_t)(NSEC_PER_SEC / (rate > 0 ? rate : 100));
    return true;
}

static bool parse_holder(const char *line, struct holder *ret)
{
    int pid = 0;
    struct holder h = {0};
    /* A wrong number only names no process. NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "%31[a-z] %d %" SCNu64, h.verb, &pid, &h.since) != 3 || pid <= 0)
        return false;
    h.pid = pid;
    *ret = h;
    return true;
}

/* The latest line whose process still lives. */
static bool find_holder(int project_dirfd, struct holder *ret)
{
    char *text = NULL;
    if (sbox_read_file_at(project_dirfd, "holders", 2 * HOLDERS_MAX, &text, NULL) < 0)
        return false;
    _cleanup_free_ char *owned = text;
    bool found = false;
    for (char *rest = owned; rest;) {
        char *line = strsep(&rest, "\n");
        struct holder h;
        uint64_t start = 0;
        if (parse_holder(line, &h) && h.pid != getpid() && process_stat(h.pid, &h.state, &start) &&
            h.state != 'Z' && h.state != 'X' && start <= h.since) {
            *ret = h;
            found = true;
        }
    }
    return found;
}

/* Best effort: a lease without a name is still a lease. */
static void sign(int project_dirfd, bool exclusive, const char *verb)
{
    _cleanup_close_ int fd = openat(
        project_dirfd, "holders",
        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (exclusive ? O_TRUNC : 0), 0600);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return;
    if (st.st_size > HOLDERS_MAX && ftruncate(fd, 0) < 0)
        return;
    char line[VERB_SIZE + 64];
    int n = snprintf(line, sizeof line, "%.*s %d %" PRIu64 "\n", VERB_SIZE - 1, verb, (int)getpid(),
                     boottime());
    (void)sbox_write_full(fd, line, (size_t)n);
}

static int busy(int project_dirfd, unsigned waited, struct sbox_error *err)
{
    struct holder h;
    if (!find_holder(project_dirfd, &h))
        return sbox_error_say(err, EBUSY,
                              "the project is busy: another process has held it for more than %u s",
                              waited);
    uint64_t now = boottime();
    uint64_t seconds = now > h.since ? (now - h.since) / NSEC_PER_SEC : 0;
    if (h.state == 'T' || h.state == 't')
        return sbox_error_say(err, EBUSY,
                              "the project is busy: sbox %s (pid %d) has held it for %" PRIu64
                              " s and is stopped: continue it with 'kill -CONT %d' or end it",
                              h.verb, (int)h.pid, seconds, (int)h.pid);
    return sbox_error_say(err, EBUSY,
                          "the project is busy: sbox %s (pid %d) has held it for %" PRIu64 " s",
                          h.verb, (int)h.pid, seconds);
}

/* Read-only is enough for flock(2) on a local file system, and all that a read-only data directory
 * allows. */
static int open_lease(int project_dirfd, struct sbox_error *err)
{
    int fd = openat(project_dirfd, "lease", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && (errno == EROFS || errno == EACCES))
        fd = openat(project_dirfd, "lease", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? sbox_error_set(err, errno, "open the project's lease") : fd;
}

/* Polling, because a blocking flock could only be bounded by a signal, and signals belong to the
 * caller. 0, -EBUSY when the time is over, or another error. */
static int lock_until(int fd, int operation, uint64_t deadline)
{
    long pause = PAUSE_MIN_NSEC;
    for (;;) {
        if (flock(fd, operation | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -errno;
        if (boottime() >= deadline)
            return -EBUSY;
        (void)nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        pause = pause * 2 < PAUSE_MAX_NSEC ? pause * 2 : PAUSE_MAX_NSEC;
    }
}

int sbox_lease_acquire(int project_dirfd, bool exclusive, const char *verb, unsigned wait_seconds,
                       struct sbox_error *err)
{
    uint64_t deadline = boottime() + (uint64_t)wait_seconds * NSEC_PER_SEC;
    for (;;) {
        _cleanup_close_ int fd = open_lease(project_dirfd, err);
        if (fd < 0)
            return fd;
        int r = lock_until(fd, exclusive ? LOCK_EX : LOCK_SH, deadline);
        if (r == -EBUSY)
            return busy(project_dirfd, wait_seconds, err);
        if (r < 0)
            return sbox_error_set(err, -r, "lock the project's lease");
        struct stat st;
        if (fstat(fd, &st) < 0)
            return sbox_error_set(err, errno, "stat the project's lease");
        if (st.st_nlink == 0) /* removed while we waited: others lock a new file by now */
            continue;
        sign(project_dirfd, exclusive, verb);
        return TAKE_FD(fd);
    }
}
