#include "store/journal.h"

#include "base/cleanup.h"
#include "store/db.h"
#include "store/migrate.h"

#include <sqlite3.h>

struct sbox_journal {
    sqlite3 *db;
};

int sbox_journal_open(int dirfd, const char *path, bool create, struct sbox_journal **ret,
                      struct sbox_error *err)
{
    struct sbox_journal *j = calloc(1, sizeof *j);
    if (!j)
        return sbox_error_set(err, ENOMEM, "journal");
    int r = sbox_db_open(dirfd, path, &sbox_journal_schema, create, &j->db, err);
    if (r < 0) {
        free(j);
        return r;
    }
    *ret = j;
    return 0;
}

void sbox_journal_close(struct sbox_journal *j)
{
    if (j)
        sbox_db_close(j->db);
    free(j);
}

void sbox_journal_closep(struct sbox_journal **j)
{
    sbox_journal_close(*j);
}

/* -- write ------------------------------------------------------------------------------------- */

static void bind_bytes(sqlite3_stmt *s, int at, const char *text)
{
    (void)sqlite3_bind_blob(s, at, text, (int)strlen(text), SQLITE_STATIC);
}

static void bind_integers(sqlite3_stmt *s, int at, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)sqlite3_bind_int64(s, at + (int)i, values[i]);
}

static int insert_run(sqlite3 *db, const char *root, const struct sbox_journal_run *run,
                      struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(db,
                            "INSERT INTO run (root, program, started_us, duration_us, status, "
                            "omitted) VALUES (?, ?, ?, ?, ?, ?)",
                            &s, err);
    if (r < 0)
        return r;
    const int64_t integers[] = {run->started_us, run->duration_us, run->status, run->omitted};
    bind_bytes(s, 1, root);
    bind_bytes(s, 2, run->program);
    bind_integers(s, 3, integers, sizeof integers / sizeof *integers);
    return sbox_db_run(db, s, err);
}

static int insert_connections(sqlite3 *db, const struct sbox_journal_connection *c, size_t count,
                              struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int64_t run = sqlite3_last_insert_rowid(db);
    int r = sbox_db_prepare(db,
                            "INSERT INTO connection (host, address, run, port, verdict, way, "
                            "error, started_us, duration_us, bytes_out, bytes_in) "
                            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                            &s, err);
    for (size_t i = 0; r == 0 && i < count; i++) {
        const int64_t integers[] = {run,          c[i].port,       c[i].verdict,     c[i].way,
                                    c[i].error,   c[i].started_us, c[i].duration_us, c[i].bytes_out,
                                    c[i].bytes_in};
        bind_bytes(s, 1, c[i].host);
        bind_bytes(s, 2, c[i].address);
        bind_integers(s, 3, integers, sizeof integers / sizeof *integers);
        r = sbox_db_run(db, s, err);
    }
    return r;
}

static int drop_old(sqlite3 *db, const char *root, struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(db,
                            "DELETE FROM run WHERE root = ?1 AND id NOT IN "
                            "(SELECT id FROM run WHERE root = ?1 ORDER BY id DESC LIMIT ?2)",
                            &s, err);
    if (r < 0)
        return r;
    bind_bytes(s, 1, root);
    (void)sqlite3_bind_int(s, 2, SBOX_JOURNAL_RUNS_KEPT);
    return sbox_db_run(db, s, err);
}

int sbox_journal_write(struct sbox_journal *j, const char *root, const struct sbox_journal_run *run,
                       const struct sbox_journal_connection *connections, size_t count,
                       struct sbox_error *err)
{
    int r = sbox_db_exec(j->db, "BEGIN IMMEDIATE", err);
    if (r < 0)
        return r;
    r = insert_run(j->db, root, run, err);
    if (r == 0)
        r = insert_connections(j->db, connections, count, err);
    if (r == 0)
        r = drop_old(j->db, root, err);
    if (r == 0)
        r = sbox_db_exec(j->db, "COMMIT", err);
    if (r < 0)
        (void)sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

/* -- read -------------------------------------------------------------------------------------- */

/* A column's bytes as a string: sqlite ends its own copy of a text with NUL. */
static const char *text_of(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text : "";
}

static int read_connections(sqlite3 *db, int64_t run, const struct sbox_journal_reader *reader,
                            struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(db,
                            "SELECT host, address, port, verdict, way, error, started_us, "
                            "duration_us, bytes_out, bytes_in FROM connection WHERE run = ? "
                            "ORDER BY started_us",
                            &s, err);
    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, run);
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        const struct sbox_journal_connection c = {
            .host = text_of(s, 0),
            .address = text_of(s, 1),
            .port = sqlite3_column_int64(s, 2),
            .verdict = sqlite3_column_int64(s, 3),
            .way = sqlite3_column_int64(s, 4),
            .error = sqlite3_column_int64(s, 5),
            .started_us = sqlite3_column_int64(s, 6),
            .duration_us = sqlite3_column_int64(s, 7),
            .bytes_out = sqlite3_column_int64(s, 8),
            .bytes_in = sqlite3_column_int64(s, 9),
        };
        r = reader->connection(&c, reader->context);
        if (r != 0)
            return r;
    }
    return step == SQLITE_DONE ? 0 : sbox_db_error(db, err, "read");
}

int sbox_journal_read(struct sbox_journal *j, const char *root, unsigned limit,
                      const struct sbox_journal_reader *reader, struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(j->db,
                            "SELECT id, program, started_us, duration_us, status, omitted FROM "
                            "(SELECT * FROM run WHERE root = ? ORDER BY id DESC LIMIT ?) "
                            "ORDER BY id",
                            &s, err);
    if (r < 0)
        return r;
    bind_bytes(s, 1, root);
    (void)sqlite3_bind_int64(s, 2, limit);
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        const struct sbox_journal_run run = {
            .id = sqlite3_column_int64(s, 0),
            .program = text_of(s, 1),
            .started_us = sqlite3_column_int64(s, 2),
            .duration_us = sqlite3_column_int64(s, 3),
            .status = sqlite3_column_int64(s, 4),
            .omitted = sqlite3_column_int64(s, 5),
        };
        r = reader->run(&run, reader->context);
        if (r == 0)
            r = read_connections(j->db, run.id, reader, err);
        if (r != 0)
            return r;
    }
    return step == SQLITE_DONE ? 0 : sbox_db_error(j->db, err, "read");
}
