/* probe: tries forbidden things, one a row, and says what the kernel answered.
 *
 *     probe NAME…        prints NAME<TAB>RESULT for each
 *     probe all          every row but those marked `alone`, sorted by name
 *     probe list         the names
 *     probe serve DIR    outside of the sandbox: the services that rows try to reach
 *     probe without FEATURE CMD…, probe swap A B: see probe_modes.c
 *
 * RESULT is OK when the forbidden thing worked, else the errno's name, or a word of the row's own
 * (SIGSYS, TIMEOUT, "masked" ...). Rows called allow.* are things that must work. Each row runs in
 * a forked child, so that it may break whatever it likes of itself; a row that succeeds puts back
 * what it changed in the file system, for the rows after it.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stddef.h>
#include <sys/types.h>

/* What a row returns: 0 for OK, else -errno; PROBE_WORD: it has filled the word. */
enum { PROBE_WORD = 1 };

struct probe_row {
    const char *name;
    int (*attempt)(const struct probe_row *row);
    const char *path; /* "~/x" below $HOME, "$NAME/x" below the value of NAME in probe.conf */
    long number;      /* for rows that differ by a number only */
    int alone;        /* ends other processes or the run itself: not part of `all` */
};

struct probe_table {
    const struct probe_row *rows;
    size_t count;
};
#define PROBE_TABLE(name) \
    const struct probe_table name = {name##_rows, sizeof name##_rows / sizeof name##_rows[0]}

extern const struct probe_table probe_files, probe_writes, probe_git, probe_net, probe_sockets,
    probe_syscalls, probe_processes, probe_mounts, probe_limits, probe_allowed;

int probe_without(const char *feature, char **command);
int probe_swap(const char *a, const char *b);
int probe_serve(const char *scratch); /* a directory in /tmp that exists */

/* The secret text that the tests plant in every file and variable that must stay hidden. */
#define PROBE_CANARY "sbox-test-canary"

/* Tools of the rows (probe_tools.c). */
int probe_word(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *probe_path(const char *path); /* expanded; static buffer, one at a time */
const char *probe_conf(const char *name); /* value in ./probe.conf, or NULL */
long probe_conf_number(const char *name); /* -1 when absent */
int probe_result(long value);             /* of a system call: 0 or -errno */
int probe_holds_canary(int fd);           /* 1, 0 or -errno; reads 64 KB at most */
int probe_write_text(const char *path, const char *text); /* open, write, close: 0 or -errno */

#endif
