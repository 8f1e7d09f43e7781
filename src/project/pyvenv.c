#include "project/pyvenv.h"

#include "base/error.h"

#include <ctype.h>
#include <strings.h>

enum { LINE_MAX_SIZE = 4096 };

static void trim(const char **s, size_t *n)
{
    while (*n > 0 && isspace((unsigned char)**s))
        (*s)++, (*n)--;
    while (*n > 0 && isspace((unsigned char)(*s)[*n - 1]))
        (*n)--;
}

static int take(char **slot, const char *s, size_t n)
{
    free(*slot); /* the last one of a key wins, as in site.py */
    *slot = strndup(s, n);
    return *slot ? 0 : -ENOMEM;
}

static int parse_line(const char *line, size_t size, struct sbox_pyvenv *v)
{
    const char *equals = memchr(line, '=', size);
    if (!equals)
        return 0;
    const char *key = line;
    size_t key_size = (size_t)(equals - line);
    const char *value = equals + 1;
    size_t value_size = size - key_size - 1;
    trim(&key, &key_size);
    trim(&value, &value_size);
    if (key_size == 4 && strncasecmp(key, "home", 4) == 0)
        return take(&v->home, value, value_size);
    if (key_size == 7 && strncasecmp(key, "version", 7) == 0)
        return take(&v->version, value, value_size);
    return 0;
}

int sbox_pyvenv_parse(const char *data, size_t size, struct sbox_pyvenv *ret)
{
    struct sbox_pyvenv v = {NULL, NULL};
    int r = memchr(data, '\0', size) ? -EBADMSG : 0;
    for (size_t at = 0; r == 0 && at < size;) {
        const char *end = memchr(data + at, '\n', size - at);
        size_t n = end ? (size_t)(end - (data + at)) : size - at;
        r = n > LINE_MAX_SIZE ? -EBADMSG : parse_line(data + at, n, &v);
        at += n + 1;
    }
    if (r < 0) {
        sbox_pyvenv_release(&v);
        return r;
    }
    *ret = v;
    return 0;
}

void sbox_pyvenv_release(struct sbox_pyvenv *v)
{
    free(v->home);
    free(v->version);
    *v = (struct sbox_pyvenv){NULL, NULL};
}
