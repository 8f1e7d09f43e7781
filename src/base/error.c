#include "base/error.h"

__attribute__((format(printf, 4, 0))) static void
vmessage(struct sbox_error *err, int code, const char *suffix, const char *format, va_list args)
{
    err->code = code;
    int n = vsnprintf(err->message, sizeof err->message, format, args);
    if (n < 0)
        n = 0;
    size_t used = (size_t)n < sizeof err->message ? (size_t)n : sizeof err->message - 1;
    if (suffix)
        (void)snprintf(err->message + used, sizeof err->message - used, ": %s", suffix);
}

int sbox_error_set(struct sbox_error *err, int code, const char *format, ...)
{
    if (err) {
        char text[128];
        va_list args;
        va_start(args, format);
        vmessage(err, code, strerror_r(code, text, sizeof text), format, args);
        va_end(args);
    }
    return -code;
}

int sbox_error_say(struct sbox_error *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vmessage(err, code, NULL, format, args);
        va_end(args);
    }
    return -code;
}

int sbox_error_wrap(struct sbox_error *err, int code, const char *format, ...)
{
    if (!err)
        return -code;
    struct sbox_error inner = *err;
    char text[128];
    if (inner.code == 0) {
        inner.code = code;
        (void)snprintf(inner.message, sizeof inner.message, "%s",
                       strerror_r(code, text, sizeof text));
    }
    va_list args;
    va_start(args, format);
    vmessage(err, inner.code, inner.message, format, args);
    va_end(args);
    return -inner.code;
}
