/* journal.db: what networked runs reached and what they were refused. Nothing is decided by it, so
 * it is apart from the locks and the oldest runs are dropped. */
#ifndef SBOX_STORE_JOURNAL_H
#define SBOX_STORE_JOURNAL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SBOX_JOURNAL_RUNS_KEPT = 200 }; /* a project */

struct sbox_journal_connection {
    const char *host;    /* not escaped; "" when the request named none */
    const char *address; /* text; "" */
    int64_t port;
    int64_t verdict; /* enum sbox_wire_verdict */
    int64_t way;     /* enum sbox_wire_way */
    int64_t error;
    int64_t started_us;
    int64_t duration_us;
    int64_t bytes_out;
    int64_t bytes_in;
};

struct sbox_journal_run {
    int64_t id; /* when read */
    const char *program;
    int64_t started_us;
    int64_t duration_us;
    int64_t status;
    int64_t omitted;
};

struct sbox_journal;

/* As sbox_db_open(): -ENOENT when there is none and `create` is false. */
int sbox_journal_open(int dirfd, const char *path, bool create, struct sbox_journal **ret,
                      struct sbox_error *err);
void sbox_journal_close(struct sbox_journal *j); /* accepts NULL */
void sbox_journal_closep(struct sbox_journal **j);

/* One run in one transaction; drops the oldest beyond SBOX_JOURNAL_RUNS_KEPT. */
int sbox_journal_write(struct sbox_journal *j, const char *root, const struct sbox_journal_run *run,
                       const struct sbox_journal_connection *connections, size_t count,
                       struct sbox_error *err);

/* The latest `limit` runs of the project, oldest first, each followed by its connections. What is
 * handed over lives until the callback returns. A callback that returns non-zero ends the walk and
 * gives the result. */
struct sbox_journal_reader {
    int (*run)(const struct sbox_journal_run *run, void *context);
    int (*connection)(const struct sbox_journal_connection *connection, void *context);
    void *context;
};
int sbox_journal_read(struct sbox_journal *j, const char *root, unsigned limit,
                      const struct sbox_journal_reader *reader, struct sbox_error *err);

#define _cleanup_journal_ __attribute__((cleanup(sbox_journal_closep)))

#endif
