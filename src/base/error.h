/* Errors with a context.
 *
 * A fallible function returns 0 or a positive result, or a negative errno. Where the caller
 * should be able to say what failed (which path, step, statement), the function takes a last
 * `struct sbox_error *err`, fills it once at the point that knows, and callers outwards may
 * prefix it. `err` may be NULL. Nothing is allocated: an error can be reported when memory is
 * what is missing, and it can cross a pipe as bytes.
 */
#ifndef SBOX_BASE_ERROR_H
#define SBOX_BASE_ERROR_H

#include "base/banned.h"

#include <errno.h>
#include <stdarg.h>

struct sbox_error {
    int code;          /* positive errno; 0: nothing recorded */
    char message[508]; /* one line, no newline, already escaped for a terminal */
};

#define SBOX_ERROR_INIT ((struct sbox_error){0})

/* Records `format` followed by ": <strerror(code)>" and returns -code. An earlier record is
 * replaced. The arguments must be escaped already where they come from outside (escape.h). */
int sbox_error_set(struct sbox_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same without the strerror suffix: for errors that no errno describes. */
int sbox_error_say(struct sbox_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "format: " before the message there is, and returns -err->code (`code` where nothing is
 * recorded). */
int sbox_error_wrap(struct sbox_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
