#include "base/cleanup.h"
#include "base/escape.h"
#include "store/db.h"
#include "store/manifest_impl.h"
#include "store/migrate.h"

int sbox_manifest_open(int dirfd, const char *path, bool create, struct sbox_manifest **ret,
                       struct sbox_error *err)
{
    _cleanup_manifest_ struct sbox_manifest *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    m->hash = sbox_sha256_new();
    if (!m->hash)
        return sbox_error_say(err, ENOTSUP, "libcrypto gives no SHA-256");
    int r = sbox_db_open(dirfd, path, &sbox_manifest_schema, create, &m->db, err);
    if (r < 0)
        return r;
    *ret = TAKE_PTR(m);
    return 0;
}

void sbox_manifest_close(struct sbox_manifest *m)
{
    if (!m)
        return;
    sbox_db_close(m->db);
    sbox_sha256_free(m->hash);
    free(m);
}

void sbox_manifest_closep(struct sbox_manifest **m)
{
    sbox_manifest_close(*m);
}

void sbox_stored_lock_release(struct sbox_stored_lock *lock)
{
    sbox_arena_release(&lock->memory);
    *lock = (struct sbox_stored_lock){0};
}

/* sqlite's memory is good until the next step: copy. */
static int take_bytes(sqlite3_stmt *s, int column, struct sbox_arena *memory,
                      struct sbox_bytes *ret)
{
    *ret = (struct sbox_bytes){0};
    if (sqlite3_column_type(s, column) == SQLITE_NULL)
        return 0;
    const void *data = sqlite3_column_blob(s, column);
    size_t size = (size_t)sqlite3_column_bytes(s, column);
    if (!data && size > 0)
        return -ENOMEM;
    ret->data = sbox_arena_copy(memory, data, size);
    ret->size = size;
    return ret->data ? 0 : -ENOMEM;
}

static int take_digest(sqlite3_stmt *s, int column, struct sbox_digest *ret)
{
    const void *data = sqlite3_column_blob(s, column);
    if (!data || sqlite3_column_bytes(s, column) != SBOX_SHA256_SIZE)
        return -EBADMSG;
    memcpy(ret->bytes, data, SBOX_SHA256_SIZE);
    return 0;
}

static int damaged(struct sbox_error *err, const char *what)
{
    return sbox_error_say(err, EBADMSG, "%s is damaged: %s", sbox_manifest_schema.file, what);
}

/* Rows of one query into an array of `size` bytes an element. */
typedef int take_row(struct sbox_manifest *m, sqlite3_stmt *s, struct sbox_arena *memory, void *row,
                     struct sbox_error *err);

static int take_rows(struct sbox_manifest *m, sqlite3_stmt *s, struct sbox_arena *memory,
                     size_t size, take_row *take, void **ret, size_t *ret_count,
                     struct sbox_error *err)
{
    _cleanup_buf_ struct sbox_buf rows = {0};
    _cleanup_free_ char *row = malloc(size);
    if (!row)
        return -ENOMEM;
    size_t count = 0;
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        memset(row, 0, size);
        int r = take(m, s, memory, row, err);
        if (r < 0)
            return r;
        sbox_buf_add(&rows, row, size);
        count++;
    }
    if (step != SQLITE_DONE)
        return sbox_db_error(m->db, err, "read");
    if (sbox_buf_failed(&rows))
        return -ENOMEM;
    *ret = sbox_arena_copy(memory, rows.data, rows.size);
    *ret_count = count;
    return *ret ? 0 : -ENOMEM;
}

static int take_member(struct sbox_manifest *m, sqlite3_stmt *s, struct sbox_arena *memory,
                       void *row, struct sbox_error *err)
{
    struct sbox_stored_member *member = row;
    int r = take_bytes(s, 0, memory, &member->path);
    if (r == 0)
        r = take_digest(s, 1, &member->digest);
    if (r == 0)
        r = take_bytes(s, 2, memory, &member->records);
    if (r == 0)
        r = take_bytes(s, 3, memory, &member->name);
    if (r == 0)
        r = take_bytes(s, 4, memory, &member->version);
    if (r == 0)
        r = take_bytes(s, 5, memory, &member->hooks);
    member->doubts = sqlite3_column_int64(s, 6);
    struct sbox_digest now;
    if (r == 0)
        r = sbox_sha256_of(m->hash, member->records.data, member->records.size, &now);
    if (r == 0 && memcmp(&now, &member->digest, sizeof now) != 0)
        return damaged(err, "a package's record does not have its digest");
    return r == -EBADMSG ? damaged(err, "a digest is not one") : r;
}

static int read_members(struct sbox_manifest *m, struct sbox_arena *memory,
                        struct sbox_stored_tree *tree, struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(
        m->db,
        "SELECT m.path, u.digest, u.records, m.name, m.version, m.hooks, m.doubts"
        " FROM member AS m JOIN unit AS u ON u.id = m.unit WHERE m.tree = ?1 ORDER BY m.path",
        &s, err);
    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, tree->id);
    void *rows = NULL;
    r = take_rows(m, s, memory, sizeof *tree->members, take_member, &rows, &tree->member_count,
                  err);
    tree->members = rows;
    return r;
}

static int take_tree(struct sbox_manifest *m, sqlite3_stmt *s, struct sbox_arena *memory, void *row,
                     struct sbox_error *err)
{
    (void)m;
    struct sbox_stored_tree *tree = row;
    tree->id = sqlite3_column_int64(s, 0);
    tree->kind = sqlite3_column_int64(s, 2);
    tree->flags = sqlite3_column_int64(s, 3);
    tree->entries = (uint64_t)sqlite3_column_int64(s, 7);
    tree->bytes = (uint64_t)sqlite3_column_int64(s, 8);
    int r = take_bytes(s, 1, memory, &tree->path);
    if (r == 0)
        r = take_bytes(s, 4, memory, &tree->link);
    if (r == 0)
        r = take_digest(s, 5, &tree->fingerprint);
    if (r == 0)
        r = take_digest(s, 6, &tree->local);
    if (r == 0)
        r = take_bytes(s, 9, memory, &tree->stat);
    return r == -EBADMSG ? damaged(err, "a digest is not one") : r;
}

static int read_trees(struct sbox_manifest *m, struct sbox_stored_lock *lock,
                      struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(m->db,
                            "SELECT t.id, t.path, t.kind, t.flags, t.link, t.fingerprint, t.local,"
                            " t.entries, t.bytes, s.data FROM tree AS t LEFT JOIN stat AS s"
                            " ON s.tree = t.id WHERE t.lock = ?1 ORDER BY t.path",
                            &s, err);
    if (r < 0)
        return r;
    (void)sqlite3_bind_int64(s, 1, lock->id);
    void *rows = NULL;
    r = take_rows(m, s, &lock->memory, sizeof *lock->trees, take_tree, &rows, &lock->tree_count,
                  err);
    lock->trees = rows;
    for (size_t i = 0; r == 0 && i < lock->tree_count; i++)
        r = read_members(m, &lock->memory, &lock->trees[i], err);
    return r;
}

/* id 0: the latest. */
static int read_head(struct sbox_manifest *m, const char *root, int64_t id,
                     struct sbox_stored_lock *lock, struct sbox_error *err)
{
    _cleanup_statement_ sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(m->db,
                            "SELECT id, time, fingerprint, local FROM lock WHERE root = ?1"
                            " AND (?2 = 0 OR id = ?2) ORDER BY id DESC LIMIT 1",
                            &s, err);
    if (r < 0)
        return r;
    (void)sqlite3_bind_blob64(s, 1, root, strlen(root), SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 2, id);
    switch (sqlite3_step(s)) {
    case SQLITE_ROW:
        break;
    case SQLITE_DONE:
        return sbox_error_say(err, ENODATA, "no lock of '%s' is recorded", sbox_esc(root));
    default:
        return sbox_db_error(m->db, err, "read");
    }
    lock->id = sqlite3_column_int64(s, 0);
    lock->time = sqlite3_column_int64(s, 1);
    r = take_digest(s, 2, &lock->fingerprint);
    if (r == 0)
        r = take_digest(s, 3, &lock->local);
    return r == -EBADMSG ? damaged(err, "a digest is not one") : r;
}

int sbox_manifest_read(struct sbox_manifest *m, const char *root, struct sbox_stored_lock *ret,
                       struct sbox_error *err)
{
    return sbox_manifest_read_lock(m, root, 0, ret, err);
}

int sbox_manifest_read_lock(struct sbox_manifest *m, const char *root, int64_t id,
                            struct sbox_stored_lock *ret, struct sbox_error *err)
{
    struct sbox_stored_lock lock = {0};
    /* One read transaction, so that all statements see the same lock. */
    int r = sbox_db_exec(m->db, "BEGIN", err);
    if (r < 0)
        return r;
    r = read_head(m, root, id, &lock, err);
    if (r == 0)
        r = read_trees(m, &lock, err);
    (void)sqlite3_exec(m->db, "COMMIT", NULL, NULL, NULL);
    if (r < 0) {
        sbox_stored_lock_release(&lock);
        return r == -ENOMEM ? sbox_error_set(err, ENOMEM, "read %s", sbox_manifest_schema.file) : r;
    }
    *ret = lock;
    return 0;
}
