#include "project/mountinfo.h"

#include "base/error.h"
#include "base/strv.h"
#include <stdint.h>

/* \040 and the like, in place. */
static int unescape(char *s)
{
    char *out = s;
    for (; *s; s++) {
        if (*s != '\\') {
            *out++ = *s;
            continue;
        }
        int value = 0;
        for (int i = 1; i <= 3; i++) {
            if (s[i] < '0' || s[i] > '7')
                return -EBADMSG;
            value = value * 8 + (s[i] - '0');
        }
        if (value == 0 || value > 255)
            return -EBADMSG;
        *out++ = (char)value;
        s += 3;
    }
    *out = '\0';
    return 0;
}

/* Cuts the next field off; NULL at the end of the line. */
static char *field(char **line)
{
    char *start = *line;
    if (!start || *start == '\0')
        return NULL;
    char *space = strchr(start, ' ');
    if (space)
        *space = '\0';
    *line = space ? space + 1 : NULL;
    return start;
}

static int number(const char *s, unsigned *ret)
{
    unsigned long long value = 0;
    if (!s || sbox_parse_u64(s, UINT32_MAX, &value) < 0)
        return -EBADMSG;
    *ret = (unsigned)value;
    return 0;
}

static int parse(char *line, struct sbox_mount *m)
{
    const char *id = field(&line);
    const char *parent = field(&line);
    char *device = field(&line);
    m->root = field(&line);
    m->point = field(&line);
    m->options = field(&line);
    char *colon = device ? strchr(device, ':') : NULL;
    if (!colon || !m->options)
        return -EBADMSG;
    *colon = '\0';
    const char *optional;
    while ((optional = field(&line)) && strcmp(optional, "-") != 0)
        continue;
    m->fstype = field(&line);
    const char *source = field(&line);
    m->super_options = field(&line);
    /* The source may be empty, the options never are. */
    if (!optional || !m->fstype || !source || !m->super_options)
        return -EBADMSG;
    int r = number(id, &m->id);
    if (r == 0)
        r = number(parent, &m->parent);
    if (r == 0)
        r = number(device, &m->major);
    if (r == 0)
        r = number(colon + 1, &m->minor);
    if (r == 0)
        r = unescape(m->root);
    return r == 0 ? unescape(m->point) : r;
}

int sbox_mountinfo_walk(char *data, size_t size, sbox_mountinfo_each *each, void *context)
{
    int r = 0;
    if (memchr(data, '\0', size))
        return -EBADMSG;
    for (char *line = data; r == 0 && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        struct sbox_mount m = {0};
        r = parse(line, &m);
        if (r == 0)
            r = each(&m, context);
        line = end ? end + 1 : line + strlen(line);
    }
    return r;
}
