/* The history: which locks there are, which units they refer to, and forgetting them. */
#include "base/cleanup.h"
#include "store/db.h"
#include "store/manifest_impl.h"

static int bind_root(sqlite3_stmt *s, const char *root)
{
    return sqlite3_bind_blob64(s, 1, root, strlen(root), SQLITE_STATIC) == SQLITE_OK ? 0 : -ENOMEM;
}

static bool take_digest(sqlite3_stmt *s, int column, struct sbox_digest *ret)
{
    const void *data = sqlite3_column_blob(s, column);
    if (!data || sqlite3_column_bytes(s, column) != SBOX_SHA256_SIZE)
        return false;
    memcpy(ret->bytes, data, SBOX_SHA256_SIZE);
    return true;
}

/* -- list -------------------------------------------------------------------------------------- */

/* No SQL function is allowed in this database, count() neither. */
static int count_up(struct sbox_manifest *m, struct sbox_lock_summary *sum, struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *trees = NULL;
    _cleanup_statement_ sqlite3_stmt *members = NULL;
    int r = sbox_db_prepare(m->db, "SELECT entries, bytes FROM tree WHERE lock = ?1", &trees, err);
    if (r == 0)
        r = sbox_db_prepare(m->db,
                            "SELECT m.name FROM tree AS t JOIN member AS m ON m.tree = t.id"
                            " WHERE t.lock = ?1",
                            &members, err);
    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(trees, 1, sum->id);
    (void)sqlite3_bind_int64(members, 1, sum->id);
    int step;
    while ((step = sqlite3_step(trees)) == SQLITE_ROW) {
        sum->trees++;
        sum->entries += (uint64_t)sqlite3_column_int64(trees, 0);
        sum->bytes += (uint64_t)sqlite3_column_int64(trees, 1);
    }
    if (step == SQLITE_DONE)
        while ((step = sqlite3_step(members)) == SQLITE_ROW)
            sum->packages += sqlite3_column_bytes(members, 0) > 0;
    return step == SQLITE_DONE ? 0 : sbox_db_error(m->db, err, "read");
}

int sbox_manifest_each(struct sbox_manifest *m, const char *root, unsigned limit,
                       sbox_manifest_each_fn *each, void *context, struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(m->db,
                            "SELECT id, time, fingerprint, local FROM lock WHERE root = ?1"
                            " ORDER BY id DESC LIMIT ?2",
                            &s, err);
    if (r < 0 || bind_root(s, root) < 0)
        return r < 0 ? r : -ENOMEM;
    (void)sqlite3_bind_int64(s, 2, limit);
    int step = SQLITE_DONE;
    while (r == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct sbox_lock_summary sum = {.id = sqlite3_column_int64(s, 0),
                                        .time = sqlite3_column_int64(s, 1)};
        if (!take_digest(s, 2, &sum.fingerprint) || !take_digest(s, 3, &sum.local))
            return sbox_error_say(err, EBADMSG, "manifest.db is damaged: a digest is not one");
        r = count_up(m, &sum, err);
        if (r == 0)
            r = each(&sum, context);
    }
    return r < 0 || step == SQLITE_DONE ? r : sbox_db_error(m->db, err, "read");
}

int sbox_manifest_refers(struct sbox_manifest *m, const struct sbox_digest *digest,
                         struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(m->db,
                            "SELECT 1 FROM unit AS u JOIN member AS m ON m.unit = u.id"
                            " WHERE u.digest = ?1 LIMIT 1",
                            &s, err);
    if (r < 0)
        return r;
    (void)sqlite3_bind_blob64(s, 1, digest->bytes, sizeof digest->bytes, SQLITE_STATIC);
    int step = sqlite3_step(s);
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        return sbox_db_error(m->db, err, "read");
    return step == SQLITE_ROW;
}

/* -- forget ------------------------------------------------------------------------------------ */

static int run_with_root(struct sbox_manifest *m, const char *sql, const char *root,
                         struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(m->db, sql, &s, err);
    if (r == 0 && root)
        r = bind_root(s, root);
    return r == 0 ? sbox_db_run(m->db, s, err) : r;
}

/* From the leaves up: nothing is left to cascades. */
static int delete_all(struct sbox_manifest *m, const char *root, uint64_t *ret_locks,
                      struct sbox_error *err)
{
#define TREES_OF_ROOT "SELECT id FROM tree WHERE lock IN (SELECT id FROM lock WHERE root = ?1)"
    static const char *const statements[] = {
        "DELETE FROM stat WHERE tree IN (" TREES_OF_ROOT ")",
        "DELETE FROM member WHERE tree IN (" TREES_OF_ROOT ")",
        "DELETE FROM tree WHERE lock IN (SELECT id FROM lock WHERE root = ?1)",
        "DELETE FROM lock WHERE root = ?1",
    };
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof statements / sizeof *statements; i++)
        r = run_with_root(m, statements[i], root, err);
    *ret_locks = r == 0 ? (uint64_t)sqlite3_changes(m->db) : 0;
    return r;
}

static int in_transaction(struct sbox_manifest *m, const char *root, uint64_t *ret_locks,
                          struct sbox_error *err)
{
    int r = sbox_db_exec(m->db, "BEGIN IMMEDIATE", err);
    if (r < 0)
        return r;
    if (root)
        r = delete_all(m, root, ret_locks, err);
    if (r == 0)
        r = run_with_root(m, "DELETE FROM unit WHERE id NOT IN (SELECT unit FROM member)", NULL,
                          err);
    if (r == 0)
        r = sbox_db_exec(m->db, "COMMIT", err);
    if (r < 0)
        (void)sqlite3_exec(m->db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}

int sbox_manifest_forget(struct sbox_manifest *m, const char *root, uint64_t *ret_locks,
                         struct sbox_error *err)
{
    return in_transaction(m, root, ret_locks, err);
}

int sbox_manifest_drop_units(struct sbox_manifest *m, struct sbox_error *err)
{
    return in_transaction(m, NULL, NULL, err);
}
