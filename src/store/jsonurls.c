#include "store/jsonurls.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "store/db.h"

#include <sqlite3.h>

static const char query[] = "SELECT value FROM json_tree(?1) WHERE key = ?2 AND type = 'text'";

static int walk(sqlite3_stmt *s, sbox_jsonurls_each *each, void *context)
{
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        if (!text)
            return -ENOMEM;
        int r = each(text, (size_t)sqlite3_column_bytes(s, 0), context);
        if (r < 0)
            return r;
    }
    return step == SQLITE_DONE ? 0 : -EBADMSG;
}

static int ask(sqlite3 *db, const char *data, size_t size, const char *key,
               sbox_jsonurls_each *each, void *context, struct sbox_error *err)
{
    sqlite3_stmt *s = NULL;
    int r = sbox_db_prepare(db, query, &s, err);
    if (r < 0)
        return r;
    (void)sqlite3_bind_text64(s, 1, data, size, SQLITE_STATIC, SQLITE_UTF8);
    (void)sqlite3_bind_text(s, 2, key, -1, SQLITE_STATIC);
    r = walk(s, each, context);
    (void)sqlite3_finalize(s);
    return r;
}

int sbox_jsonurls_walk(const char *data, size_t size, const char *key, sbox_jsonurls_each *each,
                       void *context, struct sbox_error *err)
{
    sqlite3 *db = NULL;
    if (size > SBOX_JSONURLS_MAX)
        return -EFBIG;
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
        data += 3;
        size -= 3;
    }
    if (size == 0 || memchr(data, '\0', size) || !sbox_utf8_valid(data, size))
        return -EBADMSG;
    int r = sqlite3_open_v2(":memory:", &db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
                            NULL) == SQLITE_OK
                ? 0
                : sbox_db_error(db, err, "open a JSON reader");
    if (r == 0) {
        (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 2 * SBOX_JSONURLS_MAX);
        r = ask(db, data, size, key, each, context, err);
    }
    sbox_db_close(db);
    return r;
}
