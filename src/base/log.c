#include "base/log.h"

#include "base/banned.h"
#include "base/fd.h"

#include <stdarg.h>
#include <unistd.h>

static enum sbox_log_level log_level = SBOX_LOG_NORMAL;

void sbox_log_level_set(enum sbox_log_level level)
{
    log_level = level;
}

enum sbox_log_level sbox_log_level_get(void)
{
    return log_level;
}

__attribute__((format(printf, 1, 0))) static void vsay(const char *format, va_list args)
{
    char line[4096] = "sbox: ";
    size_t used = 6;
    int n = vsnprintf(line + used, sizeof line - used - 1, format, args);
    if (n < 0)
        return;
    used += (size_t)n < sizeof line - used - 1 ? (size_t)n : sizeof line - used - 2;
    line[used++] = '\n';
    (void)sbox_write_full(STDERR_FILENO, line, used);
}

void sbox_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsay(format, args);
    va_end(args);
}

void sbox_note(const char *format, ...)
{
    if (log_level < SBOX_LOG_NORMAL)
        return;
    va_list args;
    va_start(args, format);
    vsay(format, args);
    va_end(args);
}

void sbox_detail(const char *format, ...)
{
    if (log_level < SBOX_LOG_VERBOSE)
        return;
    va_list args;
    va_start(args, format);
    vsay(format, args);
    va_end(args);
}
