#include "store/migrate.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "store/db.h"

#include <sqlite3.h>

int sbox_schema_version(const struct sbox_schema *schema)
{
    int n = 0;
    while (schema->migrations[n])
        n++;
    return n;
}

static int read_version(sqlite3 *db, int *ret, struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(db, "PRAGMA user_version", &s, err);
    if (r < 0)
        return r;
    if (sqlite3_step(s) != SQLITE_ROW)
        return sbox_db_error(db, err, "read the schema version");
    *ret = sqlite3_column_int(s, 0);
    return 0;
}

/* PRAGMA takes no parameters, and no SQL is built by formatting: one text per version. */
static const char *const set_version[] = {"PRAGMA user_version = 0", "PRAGMA user_version = 1",
                                          "PRAGMA user_version = 2", "PRAGMA user_version = 3",
                                          "PRAGMA user_version = 4"};

static int apply(sqlite3 *db, const struct sbox_schema *schema, int from, int to,
                 struct sbox_error *err)
{
    if ((size_t)to >= sizeof set_version / sizeof set_version[0])
        return sbox_error_say(err, EINVAL, "migration %d has no statement that sets it", to);
    int r = 0;
    for (int i = from; r == 0 && i < to; i++)
        r = sbox_db_exec(db, schema->migrations[i], err);
    return r == 0 ? sbox_db_exec(db, set_version[to], err) : r;
}

int sbox_migrate(sqlite3 *db, const struct sbox_schema *schema, struct sbox_error *err)
{
    int have = 0;
    int want = sbox_schema_version(schema);
    int r = read_version(db, &have, err);
    if (r < 0 || have == want)
        return r;
    r = sbox_db_exec(db, "BEGIN IMMEDIATE", err);
    if (r < 0)
        return r;
    /* Another process may have migrated while this one waited for the write lock. */
    r = read_version(db, &have, err);
    if (r == 0 && (have > want || have < 0))
        r = sbox_error_say(err, EPROTONOSUPPORT, "%s is from a newer sbox (schema %d, known: %d)",
                           schema->file, have, want);
    if (r == 0 && have < want)
        r = apply(db, schema, have, want, err);
    if (r == 0)
        r = sbox_schema_check(db, schema, err);
    if (r == 0)
        r = sbox_db_exec(db, "COMMIT", err);
    if (r < 0)
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

int sbox_schema_dump(sqlite3 *db, char **ret, struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    /* Objects without text are sqlite's own indexes for UNIQUE and PRIMARY KEY. */
    int r = sbox_db_prepare(
        db, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid", &s, err);
    if (r < 0)
        return r;
    _cleanup_buf_ struct sbox_buf text = {0};
    sbox_buf_add_str(&text,
                     "-- Generated from db/migrations by tests/helpers/schema. Do not edit.\n");
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        sbox_buf_add(&text, sqlite3_column_text(s, 0), (size_t)sqlite3_column_bytes(s, 0));
        sbox_buf_add_str(&text, ";\n");
    }
    if (step != SQLITE_DONE)
        return sbox_db_error(db, err, "read the schema");
    *ret = sbox_buf_take_str(&text);
    return *ret ? 0 : -ENOMEM;
}

int sbox_schema_check(sqlite3 *db, const struct sbox_schema *schema, struct sbox_error *err)
{
    _cleanup_free_ char *text = NULL;
    int r = sbox_schema_dump(db, &text, err);
    if (r < 0 || !text)
        return r < 0 ? r : -ENOMEM;
    if (strcmp(text, schema->text) != 0)
        return sbox_error_say(err, EBADMSG,
                              "%s does not have sbox's schema: it is damaged or was changed",
                              schema->file);
    return 0;
}
