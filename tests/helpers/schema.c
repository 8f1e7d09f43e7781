/* Prints what migrations give together, after a new one: `schema manifest > db/schema.sql`,
 * `schema journal > db/journal.sql`. */
#include "base/cleanup.h"
#include "store/db.h"
#include "store/migrate.h"

#include <sqlite3.h>

int main(int argc, char **argv)
{
    bool journal = argc == 2 && strcmp(argv[1], "journal") == 0;
    const struct sbox_schema *schema = journal ? &sbox_journal_schema : &sbox_manifest_schema;
    _cleanup_db_ sqlite3 *db = NULL;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return 1;
    for (int i = 0; schema->migrations[i]; i++) {
        struct sbox_error err = SBOX_ERROR_INIT;
        if (sbox_db_exec(db, schema->migrations[i], &err) < 0) {
            (void)fprintf(stderr, "migration %d: %s\n", i + 1, err.message);
            return 1;
        }
    }
    _cleanup_free_ char *text = NULL;
    if (sbox_schema_dump(db, &text, NULL) < 0)
        return 1;
    return fputs(text, stdout) == EOF;
}
