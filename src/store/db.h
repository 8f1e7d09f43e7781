/* manifest.db and journal.db, opened as hostile input. The one place that opens sqlite files.
 *
 * Theory of operation.
 *
 *  1. The file is looked at before sqlite is: not through a link, a regular file, ours, not
 *     writable by others, not empty, sqlite's magic, sbox's application_id, a schema version that
 *     this sbox knows. What fails here is refused and has not been touched.
 *  2. sqlite is told to trust nothing in it: no triggers, views, extensions, attached files; small
 *     limits; DEFENSIVE; and the text of the whole schema must be the text that the migrations
 *     give, byte for byte.
 *  3. An authorizer allows reading and writing of these tables and nothing else.
 *
 * Journal: mode DELETE with synchronous=EXTRA. The old content of every page is on disk before the
 * page is overwritten, and the journal's removal, the moment of commit, is on disk before commit
 * returns; kill -9, a full disk or a power cut therefore leave either the lock before or the lock
 * after. WAL would give the same but needs a shared memory file beside the database, which a
 * read-only directory cannot have. A new database is made in memory, written to a file without a
 * name and linked to its place: a half-made manifest.db can never be seen.
 */
#ifndef SBOX_STORE_DB_H
#define SBOX_STORE_DB_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct sqlite3;
struct sqlite3_stmt;

enum {
    SBOX_DB_APPLICATION_ID = 0x53626f78, /* "Sbox" */
    SBOX_DB_BUSY_MS = 10000,
};

struct sbox_schema; /* migrate.h */

/* Opens the schema's file in `path`; `dirfd` is the same directory, opened and judged by the
 * caller. -ENOENT: there is none and `create` is false. -EBADMSG: damaged, empty, foreign. -EPERM:
 * not ours, or others can write it. -ELOOP: a link. -EPROTONOSUPPORT: from a newer sbox. -EBUSY:
 * kept locked by another process for 10 s. The file is untouched in all these cases. */
int sbox_db_open(int dirfd, const char *path, const struct sbox_schema *schema, bool create,
                 struct sqlite3 **ret, struct sbox_error *err);
void sbox_db_close(struct sqlite3 *db); /* accepts NULL */
void sbox_db_closep(struct sqlite3 **db);

/* Reports the connection's last error as `what: ...` and translates the code. */
int sbox_db_error(struct sqlite3 *db, struct sbox_error *err, const char *what);

int sbox_db_prepare(struct sqlite3 *db, const char *sql, struct sqlite3_stmt **ret,
                    struct sbox_error *err);
void sbox_db_finalizep(struct sqlite3_stmt **statement);
/* A statement without parameters and rows: BEGIN, COMMIT ... */
int sbox_db_exec(struct sqlite3 *db, const char *sql, struct sbox_error *err);
/* Steps a statement that yields no rows, and makes it ready for the next use. */
int sbox_db_run(struct sqlite3 *db, struct sqlite3_stmt *statement, struct sbox_error *err);

/* Waits at most that long for other writers; SBOX_DB_BUSY_MS at first. */
void sbox_db_patience(struct sqlite3 *db, int milliseconds);

#define _cleanup_db_        __attribute__((cleanup(sbox_db_closep)))
#define _cleanup_statement_ __attribute__((cleanup(sbox_db_finalizep)))

#endif
