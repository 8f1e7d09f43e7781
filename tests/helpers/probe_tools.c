#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char probe_word_text[128];

int probe_word(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(probe_word_text, sizeof probe_word_text, format, args);
    va_end(args);
    return PROBE_WORD;
}

const char *probe_conf(const char *name)
{
    static char line[4096];
    size_t length = strlen(name);
    FILE *f = fopen("probe.conf", "re");
    if (!f)
        return NULL;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, name, length) == 0 && line[length] == '=') {
            fclose(f);
            return line + length + 1;
        }
    }
    fclose(f);
    return NULL;
}

long probe_conf_number(const char *name)
{
    const char *value = probe_conf(name);
    return value ? strtol(value, NULL, 10) : -1;
}

const char *probe_path(const char *path)
{
    static char buffer[8192];
    const char *base = NULL;
    const char *rest = strchr(path, '/');
    if (path[0] == '~')
        base = getenv("HOME");
    if (path[0] == '$') {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(rest ? rest - path - 1 : 60), path + 1);
        base = probe_conf(name);
    }
    if (!base)
        return path;
    snprintf(buffer, sizeof buffer, "%s%s", base, rest ? rest : "");
    return buffer;
}

int probe_result(long value)
{
    return value < 0 ? -errno : 0;
}

int probe_holds_canary(int fd)
{
    static char data[65536];
    size_t size = 0;
    while (size < sizeof data - 1) {
        ssize_t n = read(fd, data + size, sizeof data - 1 - size);
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        size += (size_t)n;
    }
    return memmem(data, size, PROBE_CANARY, strlen(PROBE_CANARY)) != NULL;
}

int probe_write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = probe_result(write(fd, text, strlen(text)));
    close(fd);
    return r;
}
