#include "store/pkgjson.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "store/db.h"

#include <sqlite3.h>

enum query { VALID, TOP, SCRIPTS, DUPLICATES, QUERIES };

static const char *const sql_of[QUERIES] = {
    [VALID] = "SELECT json_valid(?1) AND json_type(?1) = 'object'",
    /* The last one wins, as in npm. */
    [TOP] = "SELECT key, value FROM json_each(?1)"
            " WHERE key IN ('name', 'version') AND type = 'text' ORDER BY id",
    [SCRIPTS] = "SELECT s.key, s.value FROM json_each(?1) AS t, json_each(t.value) AS s"
                " WHERE t.key = 'scripts' AND t.type = 'object' AND s.type = 'text' AND s.key IN"
                " ('preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare',"
                " 'postprepare') ORDER BY s.key, s.id",
    [DUPLICATES] = "SELECT (SELECT count(*) > count(DISTINCT key) FROM json_each(?1)) OR"
                   " (SELECT count(*) > count(DISTINCT s.key) FROM json_each(?1) AS t,"
                   " json_each(t.value) AS s WHERE t.key = 'scripts' AND t.type = 'object')",
};

struct sbox_pkgjson_reader {
    sqlite3 *db;
    sqlite3_stmt *queries[QUERIES];
};

int sbox_pkgjson_reader_new(struct sbox_pkgjson_reader **ret, struct sbox_error *err)
{
    __attribute__((cleanup(sbox_pkgjson_reader_freep))) struct sbox_pkgjson_reader *r =
        calloc(1, sizeof *r);
    if (!r)
        return -ENOMEM;
    if (sqlite3_open_v2(":memory:", &r->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
                        NULL) != SQLITE_OK)
        return sbox_db_error(r->db, err, "open a JSON reader");
    /* Twice: a value may be asked for as a piece of the text that it came from. */
    (void)sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, 2 * SBOX_PKGJSON_MAX);
    for (int i = 0; i < QUERIES; i++) {
        int code = sbox_db_prepare(r->db, sql_of[i], &r->queries[i], err);
        if (code < 0)
            return code;
    }
    *ret = TAKE_PTR(r);
    return 0;
}

void sbox_pkgjson_reader_free(struct sbox_pkgjson_reader *r)
{
    if (!r)
        return;
    for (int i = 0; i < QUERIES; i++)
        (void)sqlite3_finalize(r->queries[i]);
    sbox_db_close(r->db);
    free(r);
}

void sbox_pkgjson_reader_freep(struct sbox_pkgjson_reader **r)
{
    sbox_pkgjson_reader_free(*r);
}

void sbox_pkgjson_release(struct sbox_pkgjson *p)
{
    free(p->name);
    free(p->version);
    sbox_buf_release(&p->hooks);
    *p = (struct sbox_pkgjson){0};
}

struct text {
    const char *data;
    size_t size;
};

static sqlite3_stmt *ask(struct sbox_pkgjson_reader *r, enum query which, struct text json)
{
    sqlite3_stmt *s = r->queries[which];
    (void)sqlite3_reset(s);
    (void)sqlite3_bind_text64(s, 1, json.data, json.size, SQLITE_STATIC, SQLITE_UTF8);
    return s;
}

/* A yes-or-no question; -EIO for anything else (too deep, out of memory). */
static int ask_bool(struct sbox_pkgjson_reader *r, enum query which, struct text json)
{
    sqlite3_stmt *s = ask(r, which, json);
    int answer = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int(s, 0) : -EIO;
    (void)sqlite3_reset(s);
    return answer;
}

static int take_name(sqlite3_stmt *s, struct sbox_pkgjson *p)
{
    const char *key = (const char *)sqlite3_column_text(s, 0);
    const char *value = (const char *)sqlite3_column_text(s, 1);
    if (!key || !value)
        return -ENOMEM;
    char **slot = strcmp(key, "name") == 0 ? &p->name : &p->version;
    char *copy = strdup(value);
    if (!copy)
        return -ENOMEM;
    free(*slot);
    *slot = copy;
    return 0;
}

static int take_hook(sqlite3_stmt *s, struct sbox_pkgjson *p)
{
    const char *key = (const char *)sqlite3_column_text(s, 0);
    const char *value = (const char *)sqlite3_column_text(s, 1);
    if (!key || !value)
        return -ENOMEM;
    sbox_buf_add(&p->hooks, key, strlen(key) + 1);
    sbox_buf_add(&p->hooks, value, strlen(value) + 1);
    return sbox_buf_failed(&p->hooks) ? -ENOMEM : 0;
}

static int each(struct sbox_pkgjson_reader *r, enum query which, struct text json,
                int (*take)(sqlite3_stmt *, struct sbox_pkgjson *), struct sbox_pkgjson *p)
{
    sqlite3_stmt *s = ask(r, which, json);
    int code = 0;
    int step;
    while (code == 0 && (step = sqlite3_step(s)) == SQLITE_ROW)
        code = take(s, p);
    if (code == 0 && step != SQLITE_DONE)
        p->doubts |= SBOX_PKGJSON_INVALID;
    (void)sqlite3_reset(s);
    return code;
}

/* Looks at the bytes before any parser does; what is left in *json is fit for one. */
static unsigned look_at_bytes(struct text *json)
{
    unsigned doubts = 0;
    if (json->size > SBOX_PKGJSON_MAX)
        return SBOX_PKGJSON_TOO_BIG;
    if (json->size >= 3 && memcmp(json->data, "\xef\xbb\xbf", 3) == 0) {
        doubts |= SBOX_PKGJSON_BOM;
        json->data += 3;
        json->size -= 3;
    }
    if (json->size == 0)
        return doubts | SBOX_PKGJSON_INVALID;
    if (memchr(json->data, 0, json->size))
        return doubts | SBOX_PKGJSON_NUL | SBOX_PKGJSON_INVALID;
    if (!sbox_utf8_valid(json->data, json->size))
        return doubts | SBOX_PKGJSON_INVALID;
    /* sqlite ends a text at \u0000, JavaScript does not. */
    if (memmem(json->data, json->size, "\\u0000", 6))
        doubts |= SBOX_PKGJSON_NUL;
    return doubts;
}

static int read_object(struct sbox_pkgjson_reader *r, struct text json, struct sbox_pkgjson *p)
{
    if (ask_bool(r, VALID, json) != 1) {
        p->doubts |= SBOX_PKGJSON_INVALID;
        return 0;
    }
    if (ask_bool(r, DUPLICATES, json) != 0)
        p->doubts |= SBOX_PKGJSON_DUPLICATE;
    int code = each(r, TOP, json, take_name, p);
    return code == 0 ? each(r, SCRIPTS, json, take_hook, p) : code;
}

int sbox_pkgjson_read(struct sbox_pkgjson_reader *r, const void *data, size_t size,
                      struct sbox_pkgjson *ret, struct sbox_error *err)
{
    _cleanup_pkgjson_ struct sbox_pkgjson p = {.name = strdup(""), .version = strdup("")};
    if (!p.name || !p.version)
        return sbox_error_set(err, ENOMEM, "read package.json");
    struct text json = {.data = data, .size = size};
    p.doubts = look_at_bytes(&json);
    int code = 0;
    if (!(p.doubts & (SBOX_PKGJSON_INVALID | SBOX_PKGJSON_TOO_BIG)))
        code = read_object(r, json, &p);
    if (code < 0)
        return sbox_error_set(err, -code, "read package.json");
    *ret = p;
    p = (struct sbox_pkgjson){0};
    return 0;
}
