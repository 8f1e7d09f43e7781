#include "probe.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROW_LIMIT_MS = 5000, ROWS_MAX = 1024 };

extern char probe_word_text[128];

static const struct probe_table *const tables[] = {
    &probe_files,    &probe_writes,    &probe_git,    &probe_net,    &probe_sockets,
    &probe_syscalls, &probe_processes, &probe_mounts, &probe_limits, &probe_allowed,
};

static const struct probe_row *rows[ROWS_MAX];
static size_t row_count;

static int by_name(const void *a, const void *b)
{
    const struct probe_row *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static void collect_rows(void)
{
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (size_t i = 0; i < tables[t]->count && row_count < ROWS_MAX; i++)
            rows[row_count++] = &tables[t]->rows[i];
    qsort(rows, row_count, sizeof rows[0], by_name);
}

/* In the child: the result as one word, sent in one write so that a kill leaves all or nothing. */
static void attempt(const struct probe_row *row, int report)
{
    int r = row->attempt(row);
    if (r == 0)
        probe_word("OK");
    else if (r < 0)
        probe_word("%s", strerrorname_np(-r) ? strerrorname_np(-r) : "E?");
    if (write(report, probe_word_text, strlen(probe_word_text)) < 0)
        _exit(1);
    _exit(0);
}

/* The row's word, or how the child ended when it had none. */
static void run_row(const struct probe_row *row, char *word, size_t size)
{
    int pipe_fds[2], status;
    if (pipe(pipe_fds) < 0) {
        snprintf(word, size, "no pipe");
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        close(pipe_fds[0]);
        attempt(row, pipe_fds[1]);
    }
    close(pipe_fds[1]);
    struct pollfd ready = {.fd = pipe_fds[0], .events = POLLIN};
    int in_time = poll(&ready, 1, ROW_LIMIT_MS);
    ssize_t n = in_time > 0 ? read(pipe_fds[0], word, size - 1) : 0;
    word[n > 0 ? n : 0] = 0;
    close(pipe_fds[0]);
    if (child < 0)
        snprintf(word, size, "no fork");
    else if (in_time <= 0)
        kill(child, SIGKILL);
    if (child > 0)
        waitpid(child, &status, 0);
    if (in_time <= 0)
        snprintf(word, size, "TIMEOUT");
    else if (word[0] == 0 && child > 0)
        snprintf(word, size, "%s",
                 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "ended without a word");
}

static void print_row(const struct probe_row *row)
{
    char word[sizeof probe_word_text];
    fflush(stdout);
    run_row(row, word, sizeof word);
    printf("%s\t%s\n", row->name, word);
}

static const struct probe_row *find(const char *name)
{
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i]->name, name) == 0)
            return rows[i];
    return NULL;
}

static int run_named(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct probe_row *row = find(argv[i]);
        if (!row) {
            fprintf(stderr, "probe: no row %s\n", argv[i]);
            return 2;
        }
        print_row(row);
    }
    return 0;
}

/* As root with capabilities some rows would hit the machine: kill(1), vhangup, core_pattern. */
static int dangerous(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    syscall(SYS_capget, &head, data);
    return geteuid() == 0 && data[0].effective != 0;
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    collect_rows();
    if (strcmp(command, "serve") == 0 && argc == 3)
        return probe_serve(argv[2]);
    if (strcmp(command, "without") == 0 && argc > 3)
        return probe_without(argv[2], argv + 3);
    if (strcmp(command, "swap") == 0 && argc == 4)
        return probe_swap(argv[2], argv[3]);
    if (strcmp(command, "list") != 0 && dangerous()) {
        fputs("probe: not as root with capabilities: some rows would hurt this machine\n", stderr);
        return 2;
    }
    if (strcmp(command, "all") != 0 && strcmp(command, "list") != 0)
        return argc > 1 ? run_named(argc, argv) : 2;
    for (size_t i = 0; i < row_count; i++) {
        if (strcmp(command, "list") == 0)
            puts(rows[i]->name);
        else if (!rows[i]->alone)
            print_row(rows[i]);
    }
    return 0;
}
