/* Prints what db/migrations give together: `schema > db/schema.sql` after a new migration. */
#include "base/cleanup.h"
#include "store/db.h"
#include "store/migrate.h"

#include <sqlite3.h>

int main(void)
{
    _cleanup_db_ sqlite3 *db = NULL;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return 1;
    for (int i = 0; sbox_migrations[i]; i++) {
        struct sbox_error err = SBOX_ERROR_INIT;
        if (sbox_db_exec(db, sbox_migrations[i], &err) < 0) {
            (void)fprintf(stderr, "migration %d: %s\n", i + 1, err.message);
            return 1;
        }
    }
    _cleanup_free_ char *text = NULL;
    if (sbox_schema_dump(db, &text, NULL) < 0)
        return 1;
    return fputs(text, stdout) == EOF;
}
