#include "base/strv.h"

#include <errno.h>
#include <stdarg.h>

void sbox_strv_release(struct sbox_strv *v)
{
    for (size_t i = 0; i < v->count; i++)
        free(v->items[i]);
    free(v->items);
    *v = (struct sbox_strv){0};
}

int sbox_strv_add_take(struct sbox_strv *v, char *s)
{
    if (!s)
        return -ENOMEM;
    if (v->count + 2 > v->room) {
        size_t room = v->room ? v->room * 2 : 16;
        char **grown = realloc(v->items, room * sizeof *grown);
        if (!grown) {
            free(s);
            return -ENOMEM;
        }
        v->items = grown;
        v->room = room;
    }
    v->items[v->count++] = s;
    v->items[v->count] = NULL;
    return 0;
}

int sbox_strv_add(struct sbox_strv *v, const char *s)
{
    return sbox_strv_add_take(v, strdup(s));
}

int sbox_strv_addf(struct sbox_strv *v, const char *format, ...)
{
    char *s = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&s, format, args);
    va_end(args);
    return n < 0 ? -ENOMEM : sbox_strv_add_take(v, s);
}

bool sbox_strv_contains(const struct sbox_strv *v, const char *s)
{
    for (size_t i = 0; i < v->count; i++)
        if (strcmp(v->items[i], s) == 0)
            return true;
    return false;
}

bool sbox_str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool sbox_str_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s);
    size_t m = strlen(suffix);
    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

const char *sbox_path_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    while (n > 0 && dir[n - 1] == '/')
        n--;
    if (strncmp(path, dir, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return NULL;
    path += n;
    while (*path == '/')
        path++;
    return path;
}

bool sbox_path_within(const char *path, const char *dir)
{
    return sbox_path_below(path, dir) != NULL;
}

int sbox_parse_u64(const char *s, unsigned long long max, unsigned long long *ret)
{
    unsigned long long value = 0;
    if (*s == '\0')
        return -EINVAL;
    for (; *s; s++) {
        if (*s < '0' || *s > '9')
            return -EINVAL;
        unsigned digit = (unsigned)(*s - '0');
        if (value > (max - digit) / 10 || digit > max)
            return -ERANGE;
        value = value * 10 + digit;
    }
    *ret = value;
    return 0;
}
