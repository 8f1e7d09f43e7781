#include "cli/json.h"

#include "base/escape.h"

static void quoted(struct sbox_buf *out, const char *s, size_t size)
{
    sbox_buf_add_byte(out, '"');
    while (size > 0) {
        uint32_t cp = 0;
        size_t n = sbox_utf8_next(s, size, &cp);
        if (n == 0) {
            sbox_buf_add_str(out, "\xef\xbf\xbd"); /* U+FFFD */
            n = 1;
        } else if (cp == '"' || cp == '\\') {
            sbox_buf_addf(out, "\\%c", (int)cp);
        } else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x2028 || cp == 0x2029) {
            /* More than RFC 8259 asks: the document may be shown on a terminal. */
            sbox_buf_addf(out, "\\u%04x", (unsigned)cp);
        } else {
            sbox_buf_add(out, s, n);
        }
        s += n;
        size -= n;
    }
    sbox_buf_add_byte(out, '"');
}

static void begin_value(struct sbox_json *j, const char *key)
{
    uint32_t bit = UINT32_C(1) << j->depth;
    if (j->filled & bit)
        sbox_buf_add_byte(j->out, ',');
    j->filled |= bit;
    if (key) {
        quoted(j->out, key, strlen(key));
        sbox_buf_add_byte(j->out, ':');
    }
}

static void open_container(struct sbox_json *j, const char *key, char bracket)
{
    begin_value(j, key);
    sbox_buf_add_byte(j->out, (uint8_t)bracket);
    if (j->depth == 31)
        j->out->failed = true; /* no caller nests so deep */
    else
        j->depth++;
    j->filled &= ~(UINT32_C(1) << j->depth);
}

void sbox_json_object(struct sbox_json *j, const char *key)
{
    open_container(j, key, '{');
}

void sbox_json_array(struct sbox_json *j, const char *key)
{
    open_container(j, key, '[');
}

void sbox_json_end_object(struct sbox_json *j)
{
    j->depth--;
    sbox_buf_add_byte(j->out, '}');
}

void sbox_json_end_array(struct sbox_json *j)
{
    j->depth--;
    sbox_buf_add_byte(j->out, ']');
}

void sbox_json_null(struct sbox_json *j, const char *key)
{
    begin_value(j, key);
    sbox_buf_add_str(j->out, "null");
}

void sbox_json_bool(struct sbox_json *j, const char *key, bool value)
{
    begin_value(j, key);
    sbox_buf_add_str(j->out, value ? "true" : "false");
}

void sbox_json_int(struct sbox_json *j, const char *key, int64_t value)
{
    begin_value(j, key);
    sbox_buf_addf(j->out, "%lld", (long long)value);
}

void sbox_json_uint(struct sbox_json *j, const char *key, uint64_t value)
{
    begin_value(j, key);
    sbox_buf_addf(j->out, "%llu", (unsigned long long)value);
}

void sbox_json_string_n(struct sbox_json *j, const char *key, const char *value, size_t size)
{
    begin_value(j, key);
    quoted(j->out, value, size);
}

void sbox_json_string(struct sbox_json *j, const char *key, const char *value)
{
    if (value)
        sbox_json_string_n(j, key, value, strlen(value));
    else
        sbox_json_null(j, key);
}

void sbox_json_raw(struct sbox_json *j, const char *key, const char *text, size_t size)
{
    begin_value(j, key);
    sbox_buf_add(j->out, text, size);
}

void sbox_json_path(struct sbox_json *j, const char *key, const char *path, size_t size)
{
    sbox_json_string_n(j, key, path, size);
    if (sbox_utf8_valid(path, size))
        return;
    char name[64];
    (void)snprintf(name, sizeof name, "%s_b64", key);
    begin_value(j, name);
    sbox_buf_add_byte(j->out, '"');
    sbox_buf_add_base64(j->out, path, size);
    sbox_buf_add_byte(j->out, '"');
}
