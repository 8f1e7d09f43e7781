#include "store/db.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "store/file.h"
#include "store/migrate.h"

#include <fcntl.h>
#include <sqlite3.h>

void sbox_db_close(sqlite3 *db)
{
    (void)sqlite3_close_v2(db);
}

void sbox_db_closep(sqlite3 **db)
{
    sbox_db_close(*db);
}

void sbox_db_finalizep(sqlite3_stmt **statement)
{
    (void)sqlite3_finalize(*statement);
}

static int errno_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return EBUSY;
    case SQLITE_FULL:
        return ENOSPC;
    case SQLITE_NOMEM:
        return ENOMEM;
    case SQLITE_READONLY:
        return EROFS;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return EACCES;
    case SQLITE_TOOBIG:
        return EFBIG;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_AUTH:
        return EBADMSG;
    default:
        return EIO;
    }
}

/* Its file's name, for messages. */
static const char *name_of(sqlite3 *db)
{
    const char *path = sqlite3_db_filename(db, "main");
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : "the database";
}

int sbox_db_error(sqlite3 *db, struct sbox_error *err, const char *what)
{
    int code = errno_of(sqlite3_errcode(db));
    const char *name = name_of(db);
    bool locks = strcmp(name, sbox_manifest_schema.file) == 0;
    switch (code) {
    case EBUSY:
        return sbox_error_say(err, code, "%s: another process holds %s, waited %d s%s", what, name,
                              SBOX_DB_BUSY_MS / 1000, locks ? "; the last lock stands" : "");
    case ENOSPC:
        return sbox_error_say(err, code, "%s: no space left for %s%s", what, name,
                              locks ? "; the last lock stands" : "");
    case EBADMSG:
        return sbox_error_say(err, code, "%s: %s is damaged: %s", what, name,
                              sbox_esc(sqlite3_errmsg(db)));
    default:
        return sbox_error_say(err, code, "%s: %s: %s", what, name, sbox_esc(sqlite3_errmsg(db)));
    }
}

int sbox_db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct sbox_error *err)
{
    if (sqlite3_prepare_v2(db, sql, -1, ret, NULL) != SQLITE_OK)
        return sbox_db_error(db, err, "prepare");
    return 0;
}

int sbox_db_exec(sqlite3 *db, const char *sql, struct sbox_error *err)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return sbox_db_error(db, err, "write");
    return 0;
}

int sbox_db_run(sqlite3 *db, sqlite3_stmt *statement, struct sbox_error *err)
{
    int r = 0;
    if (sqlite3_step(statement) != SQLITE_DONE)
        r = sbox_db_error(db, err, "write");
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return r;
}

void sbox_db_patience(sqlite3 *db, int milliseconds)
{
    (void)sqlite3_busy_timeout(db, milliseconds);
}

/* What a statement may do. Everything that is not named here is refused when it is prepared. */
static int authorize(void *context, int action, const char *a, const char *b, const char *schema,
                     const char *trigger)
{
    (void)context;
    (void)b;
    (void)schema;
    if (trigger)
        return SQLITE_DENY;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_TRANSACTION:
    case SQLITE_READ:
        return SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return sqlite3_strlike("sqlite%", a, 0) == 0 ? SQLITE_DENY : SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

static int harden(sqlite3 *db, struct sbox_error *err)
{
    static const struct {
        int op;
        int value;
    } config[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
    };
    for (size_t i = 0; i < sizeof config / sizeof config[0]; i++)
        if (sqlite3_db_config(db, config[i].op, config[i].value, NULL) != SQLITE_OK)
            return sbox_error_say(err, ENOTSUP, "sqlite lacks a protection (%d)", config[i].op);
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 300 << 20);
    (void)sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 16 << 10);
    (void)sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 50);
    (void)sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 5);
    /* One level: ON DELETE CASCADE counts as a trigger. Real ones are off, see above. */
    (void)sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    (void)sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
    sbox_db_patience(db, SBOX_DB_BUSY_MS);
    return 0;
}

static int set_up(sqlite3 *db, struct sbox_error *err)
{
    static const char *const pragmas[] = {
        "PRAGMA cell_size_check = ON",  "PRAGMA mmap_size = 0",       "PRAGMA temp_store = MEMORY",
        "PRAGMA journal_mode = DELETE", "PRAGMA synchronous = EXTRA",
    };
    int r = harden(db, err);
    for (size_t i = 0; r == 0 && i < sizeof pragmas / sizeof pragmas[0]; i++)
        r = sbox_db_exec(db, pragmas[i], err);
    return r;
}

/* A new, complete database as the bytes of its file. */
static int make_image(const struct sbox_schema *schema, unsigned char **ret,
                      sqlite3_int64 *ret_size, struct sbox_error *err)
{
    _cleanup_db_ sqlite3 *db = NULL;
    if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK)
        return sbox_db_error(db, err, "make");
    int r = harden(db, err);
    if (r == 0)
        r = sbox_db_exec(db, "PRAGMA application_id = 0x53626f78", err);
    if (r == 0)
        r = sbox_migrate(db, schema, err);
    if (r < 0)
        return r;
    *ret = sqlite3_serialize(db, "main", ret_size, 0);
    return *ret ? 0 : -ENOMEM;
}

static int create(int dirfd, const struct sbox_schema *schema, struct sbox_error *err)
{
    unsigned char *image = NULL;
    sqlite3_int64 size = 0;
    int r = make_image(schema, &image, &size, err);
    if (r == 0)
        r = sbox_store_file_create(dirfd, schema->file, image, (size_t)size, err);
    sqlite3_free(image);
    return r;
}

/* sqlite opens by name; the directory of that name must be the one that was judged. */
static int same_directory(int dirfd, const char *path, struct sbox_error *err)
{
    struct stat a;
    struct stat b;
    if (fstat(dirfd, &a) < 0 || fstatat(AT_FDCWD, path, &b, AT_SYMLINK_NOFOLLOW) < 0)
        return sbox_error_set(err, errno, "look at the data directory");
    if (!sbox_fileid_equal(sbox_fileid_of(&a), sbox_fileid_of(&b)))
        return sbox_error_say(err, EAGAIN, "the data directory was replaced while it was opened");
    return 0;
}

static int open_checked(const char *file, const struct sbox_schema *schema, sqlite3 **ret,
                        struct sbox_error *err)
{
    _cleanup_db_ sqlite3 *db = NULL;
    /* Readers too open for writing: a journal that a killed writer left must be rolled back. On a
     * read-only file system sqlite falls back to reading. */
    if (sqlite3_open_v2(file, &db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX |
                            SQLITE_OPEN_PRIVATECACHE,
                        NULL) != SQLITE_OK)
        return sbox_db_error(db, err, "open");
    int r = set_up(db, err);
    if (r == 0)
        r = sbox_migrate(db, schema, err);
    if (r == 0)
        r = sbox_schema_check(db, schema, err);
    if (r < 0)
        return r;
    (void)sqlite3_set_authorizer(db, authorize, NULL);
    *ret = TAKE_PTR(db);
    return 0;
}

int sbox_db_open(int dirfd, const char *path, const struct sbox_schema *schema, bool make,
                 sqlite3 **ret, struct sbox_error *err)
{
    int r = same_directory(dirfd, path, err);
    if (r < 0)
        return r;
    r = sbox_store_file_check(dirfd, schema->file, sbox_schema_version(schema), err);
    if (r == -ENOENT && make) {
        r = create(dirfd, schema, err);
        if (r == 0)
            r = sbox_store_file_check(dirfd, schema->file, sbox_schema_version(schema), err);
    }
    if (r < 0)
        return r;
    _cleanup_free_ char *file = NULL;
    if (asprintf(&file, "%s/%s", path, schema->file) < 0)
        return -ENOMEM;
    return open_checked(file, schema, ret, err);
}
