/* The schema: db/migrations/NNNN.sql, embedded at build time. */
#ifndef SBOX_STORE_MIGRATE_H
#define SBOX_STORE_MIGRATE_H

#include "base/error.h"

struct sqlite3;

/* One kind of database: its file in the data directory, the texts of its migrations 1, 2, ...
 * (NULL-terminated), and what they give together (generated, committed, checked by a test). */
struct sbox_schema {
    const char *file;
    const char *const *migrations;
    const char *text;
};

/* Made by CMake from db/migrations, db/schema.sql and db/journal, db/journal.sql. */
extern const struct sbox_schema sbox_manifest_schema;
extern const struct sbox_schema sbox_journal_schema;

int sbox_schema_version(const struct sbox_schema *schema); /* how many migrations there are */

/* Applies what is missing, in one transaction together with user_version: an interruption leaves
 * the old schema, and the next start does it again. -EPROTONOSUPPORT when the file is newer. */
int sbox_migrate(struct sqlite3 *db, const struct sbox_schema *schema, struct sbox_error *err);

/* The schema as the database tells it, in the form of db/schema.sql; malloc'ed. */
int sbox_schema_dump(struct sqlite3 *db, char **ret, struct sbox_error *err);

/* -EBADMSG unless the database's schema is exactly ours: a trigger or view that somebody added, a
 * column that was changed. */
int sbox_schema_check(struct sqlite3 *db, const struct sbox_schema *schema, struct sbox_error *err);

#endif
