#include "base/cleanup.h"
#include "store/db.h"
#include "store/manifest_impl.h"

/* The statements of one write, prepared once. */
struct writer {
    sqlite3 *db;
    sqlite3_stmt *lock;
    sqlite3_stmt *tree;
    sqlite3_stmt *unit;
    sqlite3_stmt *member;
    sqlite3_stmt *stat;
};

static void writer_release(struct writer *w)
{
    (void)sqlite3_finalize(w->lock);
    (void)sqlite3_finalize(w->tree);
    (void)sqlite3_finalize(w->unit);
    (void)sqlite3_finalize(w->member);
    (void)sqlite3_finalize(w->stat);
}

static int writer_init(struct writer *w, sqlite3 *db, struct sbox_error *err)
{
    w->db = db;
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } all[] = {
        {&w->lock, "INSERT INTO lock (root, time, fingerprint, local) VALUES (?1, ?2, ?3, ?4)"},
        {&w->tree, "INSERT INTO tree (lock, path, kind, flags, link, fingerprint, local, entries,"
                   " bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"},
        {&w->unit, "INSERT INTO unit (digest, records) VALUES (?1, ?2)"
                   " ON CONFLICT (digest) DO NOTHING"},
        {&w->member, "INSERT INTO member (tree, path, unit, name, version, hooks, doubts)"
                     " VALUES (?1, ?2, (SELECT id FROM unit WHERE digest = ?3), ?4, ?5, ?6, ?7)"},
        {&w->stat, "INSERT OR REPLACE INTO stat (tree, data) VALUES (?1, ?2)"},
    };
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof all / sizeof all[0]; i++)
        r = sbox_db_prepare(db, all[i].sql, all[i].statement, err);
    return r;
}

static void bind_bytes(sqlite3_stmt *s, int at, struct sbox_bytes bytes)
{
    if (bytes.data)
        (void)sqlite3_bind_blob64(s, at, bytes.data, bytes.size, SQLITE_STATIC);
    else
        (void)sqlite3_bind_null(s, at);
}

static void bind_digest(sqlite3_stmt *s, int at, const struct sbox_digest *digest)
{
    (void)sqlite3_bind_blob64(s, at, digest->bytes, sizeof digest->bytes, SQLITE_STATIC);
}

/* Absent bytes as an empty value: the column is NOT NULL. */
static struct sbox_bytes present(struct sbox_bytes bytes)
{
    return bytes.data ? bytes : (struct sbox_bytes){.data = "", .size = 0};
}

static int write_member(struct writer *w, int64_t tree, const struct sbox_stored_member *member,
                        struct sbox_error *err)
{
    bind_digest(w->unit, 1, &member->digest);
    bind_bytes(w->unit, 2, member->records);
    int r = sbox_db_run(w->db, w->unit, err);
    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(w->member, 1, tree);
    bind_bytes(w->member, 2, present(member->path));
    bind_digest(w->member, 3, &member->digest);
    bind_bytes(w->member, 4, present(member->name));
    bind_bytes(w->member, 5, present(member->version));
    bind_bytes(w->member, 6, present(member->hooks));
    (void)sqlite3_bind_int64(w->member, 7, member->doubts);
    return sbox_db_run(w->db, w->member, err);
}

static int write_stat(struct writer *w, int64_t tree, struct sbox_bytes stat,
                      struct sbox_error *err)
{
    if (!stat.data)
        return 0;
    (void)sqlite3_bind_int64(w->stat, 1, tree);
    bind_bytes(w->stat, 2, stat);
    return sbox_db_run(w->db, w->stat, err);
}

static int write_tree(struct writer *w, int64_t lock, const struct sbox_stored_tree *tree,
                      struct sbox_error *err)
{
    (void)sqlite3_bind_int64(w->tree, 1, lock);
    bind_bytes(w->tree, 2, present(tree->path));
    (void)sqlite3_bind_int64(w->tree, 3, tree->kind);
    (void)sqlite3_bind_int64(w->tree, 4, tree->flags);
    bind_bytes(w->tree, 5, tree->link);
    bind_digest(w->tree, 6, &tree->fingerprint);
    bind_digest(w->tree, 7, &tree->local);
    (void)sqlite3_bind_int64(w->tree, 8, (int64_t)tree->entries);
    (void)sqlite3_bind_int64(w->tree, 9, (int64_t)tree->bytes);
    int r = sbox_db_run(w->db, w->tree, err);
    int64_t id = sqlite3_last_insert_rowid(w->db);
    for (size_t i = 0; r == 0 && i < tree->member_count; i++)
        r = write_member(w, id, &tree->members[i], err);
    return r == 0 ? write_stat(w, id, tree->stat, err) : r;
}

static int write_all(struct writer *w, const char *root, const struct sbox_stored_lock *lock,
                     int64_t *ret_id, struct sbox_error *err)
{
    (void)sqlite3_bind_blob64(w->lock, 1, root, strlen(root), SQLITE_STATIC);
    (void)sqlite3_bind_int64(w->lock, 2, lock->time);
    bind_digest(w->lock, 3, &lock->fingerprint);
    bind_digest(w->lock, 4, &lock->local);
    int r = sbox_db_run(w->db, w->lock, err);
    *ret_id = sqlite3_last_insert_rowid(w->db);
    for (size_t i = 0; r == 0 && i < lock->tree_count; i++)
        r = write_tree(w, *ret_id, &lock->trees[i], err);
    return r;
}

int sbox_manifest_write(struct sbox_manifest *m, const char *root,
                        const struct sbox_stored_lock *lock, int64_t *ret_id,
                        struct sbox_error *err)
{
    __attribute__((cleanup(writer_release))) struct writer w = {0};
    int r = writer_init(&w, m->db, err);
    /* IMMEDIATE: wait for another writer now, not half-way with a snapshot that got old. */
    if (r == 0)
        r = sbox_db_exec(m->db, "BEGIN IMMEDIATE", err);
    if (r < 0)
        return r;
    int64_t id = 0;
    r = write_all(&w, root, lock, &id, err);
    if (r == 0)
        r = sbox_db_exec(m->db, "COMMIT", err);
    if (r < 0) {
        (void)sqlite3_exec(m->db, "ROLLBACK", NULL, NULL, NULL);
        return r;
    }
    *ret_id = id;
    return 0;
}

int sbox_manifest_refresh(struct sbox_manifest *m, int64_t tree_id, const void *stat, size_t size,
                          struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(m->db,
                            "INSERT OR REPLACE INTO stat (tree, data)"
                            " SELECT id, ?2 FROM tree WHERE id = ?1",
                            &s, err);
    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, tree_id);
    (void)sqlite3_bind_blob64(s, 2, stat, size, SQLITE_STATIC);
    sbox_db_patience(m->db, 0);
    r = sbox_db_run(m->db, s, err);
    sbox_db_patience(m->db, SBOX_DB_BUSY_MS);
    return r;
}
