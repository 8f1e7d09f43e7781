#include "project/hosts.h"

#include "base/strv.h"
#include "project/git.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* -- one URL ----------------------------------------------------------------------------------- */

/* The port that goes with the scheme that ends at `colon`; 0 for one that leads to no host. */
static unsigned port_of_scheme(const char *start, const char *colon)
{
    static const struct {
        const char *name;
        unsigned port;
    } schemes[] = {{"https", 443}, {"http", 80}, {"ssh", 22}, {"git", 9418}};
    const char *from = colon;
    while (from > start && isalnum((unsigned char)from[-1]))
        from--;
    for (size_t i = 0; i < COUNT(schemes); i++) {
        size_t n = strlen(schemes[i].name);
        if ((size_t)(colon - from) == n && strncasecmp(from, schemes[i].name, n) == 0)
            return schemes[i].port;
    }
    return 0;
}

static bool ends_authority(char c)
{
    return isspace((unsigned char)c) || c == '\0' || strchr("/?#\"'`<>\\,;)]}", c);
}

static bool is_host_char(char c)
{
    return isalnum((unsigned char)c) || strchr("-._", c);
}

/* Behind the host, or NULL when there is none. */
static const char *end_of_host(const char *at, const char *end)
{
    const char *from = at;
    if (at < end && *at == '[') {
        while (at < end && *at != ']' && (isxdigit((unsigned char)*at) || strchr("[:.", *at)))
            at++;
        return at < end && *at == ']' && at - from > 2 ? at + 1 : NULL;
    }
    while (at < end && *at && is_host_char(*at))
        at++;
    return at > from ? at : NULL;
}

/* Digits up to the end of the authority; 0 for anything else. */
static unsigned read_port(const char *at, const char *end)
{
    unsigned port = 0;
    const char *from = at;
    while (at < end && isdigit((unsigned char)*at) && port <= 65535)
        port = port * 10 + (unsigned)(*at++ - '0');
    bool whole = at > from && (at == end || ends_authority(*at));
    return whole && port <= 65535 ? port : 0;
}

static int call(const char *host, const char *host_end, unsigned port, bool setting,
                sbox_hosts_each *each, void *context)
{
    char text[SBOX_HOST_PORT_SIZE];
    int n = snprintf(text, sizeof text, "%.*s:%u", (int)(host_end - host), host, port);
    if (host_end - host > 255 || n < 0 || (size_t)n >= sizeof text)
        return 0;
    for (char *c = text; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return each(text, setting, context);
}

/* `at` stands behind "://". */
static int take_url(const char *start, const char *at, const char *end, bool setting,
                    sbox_hosts_each *each, void *context)
{
    unsigned port = port_of_scheme(start, at - 3);
    const char *host = at;
    /* Of a bracketed address the ']' does not end the authority. */
    for (const char *c = at; c < end && (*c == ']' || !ends_authority(*c)); c++)
        if (*c == '@')
            host = c + 1;
    const char *host_end = port ? end_of_host(host, end) : NULL;
    if (!host_end)
        return 0;
    if (host_end < end && *host_end == ':' && host_end + 1 < end && !ends_authority(host_end[1]))
        port = read_port(host_end + 1, end);
    else if (host_end < end && *host_end != ':' && !ends_authority(*host_end))
        port = 0;
    return port ? call(host, host_end, port, setting, each, context) : 0;
}

static int in_span(const char *data, const char *end, bool setting, sbox_hosts_each *each,
                   void *context)
{
    int r = 0;
    for (const char *at = data; r == 0 && (at = memmem(at, (size_t)(end - at), "://", 3));) {
        at += 3;
        r = take_url(data, at, end, setting, each, context);
    }
    return r;
}

int sbox_hosts_in_text(const char *data, size_t size, sbox_hosts_each *each, void *context)
{
    return in_span(data, data + size, false, each, context);
}

int sbox_hosts_in_value(const char *value, size_t size, bool scp, sbox_hosts_each *each,
                        void *context)
{
    const char *end = value + size;
    if (!scp || memmem(value, size, "://", 3))
        return in_span(value, end, false, each, context);
    /* A slash before the colon makes it a path. */
    const char *at = memchr(value, '@', size);
    const char *host = at ? at + 1 : value;
    const char *host_end = end_of_host(host, end);
    if (!host_end || host_end == end || *host_end != ':' ||
        memchr(value, '/', (size_t)(host - value)))
        return 0;
    return call(host, host_end, 22, false, each, context);
}

/* -- lines ------------------------------------------------------------------------------------- */

struct line {
    const char *at;
    const char *end;
};

static struct line trim(struct line l)
{
    while (l.at < l.end && isspace((unsigned char)*l.at))
        l.at++;
    while (l.end > l.at && isspace((unsigned char)l.end[-1]))
        l.end--;
    return l;
}

static bool holds_key(const struct sbox_hosts_reader *reader, struct line l)
{
    if (!reader->keys)
        return true;
    for (size_t i = 0; reader->keys[i]; i++) {
        size_t n = strlen(reader->keys[i]);
        for (const char *at = l.at; (size_t)(l.end - at) >= n; at++)
            if (strncasecmp(at, reader->keys[i], n) == 0)
                return true;
    }
    return false;
}

/* KEY = URL, KEY: "URL", KEY "URL": nothing but delimiters and quotes behind the key. */
static bool is_setting(const struct sbox_hosts_reader *reader, struct line before)
{
    size_t n = reader->setting ? strlen(reader->setting) : 0;
    if (n == 0 || (size_t)(before.end - before.at) < n ||
        strncasecmp(before.at, reader->setting, n) != 0)
        return false;
    for (const char *at = before.at + n; at < before.end; at++)
        if (!strchr(" \t=:\"'", *at))
            return false;
    return true;
}

static bool is_comment(struct line l)
{
    return l.at == l.end || *l.at == '#' || *l.at == ';' || (*l.at == '/' && l.end - l.at > 1);
}

/* Where the scheme begins that `url` ("://") belongs to. */
static const char *begin_of_scheme(const char *start, const char *url)
{
    while (url > start && (isalnum((unsigned char)url[-1]) || strchr("+.-", url[-1])))
        url--;
    return url;
}

int sbox_hosts_in_lines(const struct sbox_hosts_reader *reader, const char *data, size_t size,
                        sbox_hosts_each *each, void *context)
{
    const char *end = data + size;
    bool in_key = false;
    int r = 0;
    while (r == 0 && data < end) {
        const char *stop = memchr(data, '\n', (size_t)(end - data));
        struct line all = {data, stop ? stop : end};
        struct line l = trim(all);
        data = stop ? stop + 1 : end;
        if (is_comment(l))
            continue;
        const char *url = memmem(l.at, (size_t)(l.end - l.at), "://", 3);
        struct line before = {l.at, url ? begin_of_scheme(l.at, url) : l.end};
        bool goes_on = reader->continued && l.at > all.at;
        in_key = holds_key(reader, before) || (goes_on && in_key);
        if (url && in_key)
            r = in_span(l.at, l.end, is_setting(reader, before), each, context);
    }
    return r;
}

/* -- git --------------------------------------------------------------------------------------- */

struct git_reader {
    sbox_hosts_each *each;
    void *context;
};

static int take_git(const char *key, const char *value, void *context)
{
    const struct git_reader *g = context;
    const char *last = strrchr(key, '.');
    bool remote = sbox_str_starts(key, "remote.") &&
                  (strcmp(last, ".url") == 0 || strcmp(last, ".pushurl") == 0);
    if (remote && value)
        return sbox_hosts_in_value(value, strlen(value), true, g->each, g->context);
    if (sbox_str_starts(key, "url.") &&
        (strcmp(last, ".insteadof") == 0 || strcmp(last, ".pushinsteadof") == 0) && last - key > 4)
        return sbox_hosts_in_value(key + 4, (size_t)(last - key - 4), true, g->each, g->context);
    return 0;
}

int sbox_hosts_in_git(const char *data, size_t size, sbox_hosts_each *each, void *context)
{
    struct git_reader g = {each, context};
    return sbox_git_config_walk(data, size, take_git, &g);
}
