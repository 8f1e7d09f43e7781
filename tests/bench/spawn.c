/* Measures commands against each other: spawn [-n ROUNDS] [-w WARMUP] --case NAME CMD [ARG...]
 * [--case NAME CMD ...]...
 *
 * Theory of operation. Noise on a shared machine comes in stretches of seconds. So the commands
 * take turns, A B C A B C ..., and whatever slows the machine slows all of them; medians are
 * compared, never the times of two runs of this program. A measured time runs from before
 * posix_spawn(3) (glibc: clone with CLONE_VM | CLONE_VFORK, so that this program's size does not
 * count) to the return of wait4(2). The first WARMUP rounds fill the caches and are thrown away.
 *
 * stdin and stdout of a command are /dev/null; its stderr is a memory file, shown when the command
 * fails, which ends the measurement: a failed command measures nothing.
 *
 * Output, one line a case, tab-separated: name, then microseconds: median, minimum, maximum, median
 * of CPU time (user + system, of the command and of the descendants it waited for).
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CASES_MAX = 32, ROUNDS_MAX = 100000 };

struct sample {
    int64_t wall_ns, cpu_ns;
};

struct test_case {
    const char *name;
    char **argv;
    struct sample *samples;
};

struct bench {
    struct test_case cases[CASES_MAX];
    size_t count;
    long rounds, warmup;
    int stderr_fd;
    posix_spawn_file_actions_t actions;
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t cpu_ns(const struct rusage *usage)
{
    return ((int64_t)usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000 +
           ((int64_t)usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
}

static void show_stderr(int fd)
{
    off_t start = 0;

    while (sendfile(STDERR_FILENO, fd, &start, 64 * 1024) > 0)
        ;
}

static int fail(const struct bench *bench, const struct test_case *c, int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "spawn: %s: signal %d\n", c->name, WTERMSIG(status));
    else
        fprintf(stderr, "spawn: %s: exit status %d\n", c->name, WEXITSTATUS(status));
    show_stderr(bench->stderr_fd);
    return -ECHILD;
}

static int run_once(const struct bench *bench, const struct test_case *c, struct sample *ret)
{
    struct rusage usage;
    int64_t start = now_ns();
    int status, r;
    pid_t pid;

    r = posix_spawn(&pid, c->argv[0], &bench->actions, NULL, c->argv, environ);
    if (r != 0) {
        fprintf(stderr, "spawn: %s: %s: %s\n", c->name, c->argv[0], strerror(r));
        return -r;
    }
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            return -errno;
    ret->wall_ns = now_ns() - start;
    ret->cpu_ns = cpu_ns(&usage);
    return status == 0 ? 0 : fail(bench, c, status);
}

static int run_all(struct bench *bench)
{
    for (long round = -bench->warmup; round < bench->rounds; round++) {
        for (size_t i = 0; i < bench->count; i++) {
            struct sample sample;
            int r = run_once(bench, &bench->cases[i], &sample);

            if (r < 0)
                return r;
            if (round >= 0)
                bench->cases[i].samples[round] = sample;
            if (ftruncate(bench->stderr_fd, 0) < 0 || lseek(bench->stderr_fd, 0, SEEK_SET) < 0)
                return -errno;
        }
    }
    return 0;
}

static int by_wall(const void *a, const void *b)
{
    int64_t x = ((const struct sample *)a)->wall_ns, y = ((const struct sample *)b)->wall_ns;

    return (x > y) - (x < y);
}

static int by_cpu(const void *a, const void *b)
{
    int64_t x = ((const struct sample *)a)->cpu_ns, y = ((const struct sample *)b)->cpu_ns;

    return (x > y) - (x < y);
}

static double us(int64_t ns)
{
    return (double)ns / 1000;
}

static void report(const struct test_case *c, long rounds)
{
    size_t n = (size_t)rounds, middle = n / 2;
    double median, least, most;

    qsort(c->samples, n, sizeof(*c->samples), by_wall);
    median = us(c->samples[middle].wall_ns);
    least = us(c->samples[0].wall_ns);
    most = us(c->samples[n - 1].wall_ns);
    qsort(c->samples, n, sizeof(*c->samples), by_cpu);
    printf("%s\t%.1f\t%.1f\t%.1f\t%.1f\n", c->name, median, least, most,
           us(c->samples[middle].cpu_ns));
}

/* Cuts the words after the options into cases, in place: each "--case" ends the argv before it. */
static int parse_cases(struct bench *bench, char **words)
{
    while (*words != NULL) {
        struct test_case *c = &bench->cases[bench->count];

        if (bench->count == CASES_MAX || strcmp(words[0], "--case") != 0 || words[1] == NULL ||
            words[2] == NULL || strcmp(words[2], "--case") == 0)
            return -EINVAL;
        words[0] = NULL;
        c->name = words[1];
        c->argv = words + 2;
        c->samples = calloc((size_t)bench->rounds, sizeof(*c->samples));
        if (c->samples == NULL)
            return -ENOMEM;
        bench->count++;
        for (words += 2; *words != NULL && strcmp(*words, "--case") != 0; words++)
            ;
    }
    return bench->count > 0 ? 0 : -EINVAL;
}

/* getopt would take "--case" for an option of its own: the options are the pairs before it. */
static int parse(struct bench *bench, char **argv)
{
    char **word = argv + 1;

    bench->rounds = 11;
    bench->warmup = 1;
    for (; word[0] != NULL && word[1] != NULL; word += 2) {
        if (strcmp(word[0], "-n") == 0)
            bench->rounds = strtol(word[1], NULL, 10);
        else if (strcmp(word[0], "-w") == 0)
            bench->warmup = strtol(word[1], NULL, 10);
        else
            break;
    }
    if (bench->rounds < 1 || bench->rounds > ROUNDS_MAX || bench->warmup < 0 ||
        bench->warmup > ROUNDS_MAX)
        return -EINVAL;
    return parse_cases(bench, word);
}

static int prepare(struct bench *bench)
{
    int r;

    bench->stderr_fd = memfd_create("stderr", MFD_CLOEXEC);
    if (bench->stderr_fd < 0)
        return -errno;
    r = posix_spawn_file_actions_init(&bench->actions);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&bench->actions, STDIN_FILENO, "/dev/null", O_RDONLY,
                                             0);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&bench->actions, STDOUT_FILENO, "/dev/null", O_WRONLY,
                                             0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&bench->actions, bench->stderr_fd, STDERR_FILENO);
    return -r;
}

static void release(struct bench *bench)
{
    for (size_t i = 0; i < bench->count; i++)
        free(bench->cases[i].samples);
    posix_spawn_file_actions_destroy(&bench->actions);
    close(bench->stderr_fd);
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    int r;

    (void)argc;
    if (parse(&bench, argv) < 0) {
        fprintf(stderr, "usage: spawn [-n ROUNDS] [-w WARMUP] --case NAME CMD [ARG...]...\n");
        return 2;
    }
    if (prepare(&bench) < 0) {
        perror("spawn");
        return 2;
    }
    r = run_all(&bench);
    for (size_t i = 0; r == 0 && i < bench.count; i++)
        report(&bench.cases[i], bench.rounds);
    release(&bench);
    return r == 0 ? 0 : 1;
}
