/* Scope-bound release of descriptors, memory and streams (the habit is systemd's).
 *
 *     _cleanup_close_ int fd = open(...);
 *     ...
 *     *ret_fd = TAKE_FD(fd);      // hand it out: the scope no longer closes it
 */
#ifndef SBOX_BASE_CLEANUP_H
#define SBOX_BASE_CLEANUP_H

#include "base/banned.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static inline void sbox_close_p(int *fd)
{
    if (*fd >= 0) {
        int saved = errno;
        (void)close(*fd);
        errno = saved;
    }
}

static inline void sbox_free_p(void *p)
{
    free(*(void **)p);
}

static inline void sbox_fclose_p(FILE **f)
{
    if (*f)
        (void)fclose(*f);
}

#define _cleanup_(f)     __attribute__((cleanup(f)))
#define _cleanup_close_  _cleanup_(sbox_close_p)
#define _cleanup_free_   _cleanup_(sbox_free_p)
#define _cleanup_fclose_ _cleanup_(sbox_fclose_p)

#define TAKE_FD(fd)        \
    __extension__({        \
        int *_fd = &(fd);  \
        int _taken = *_fd; \
        *_fd = -1;         \
        _taken;            \
    })

#define TAKE_PTR(p)                 \
    __extension__({                 \
        __typeof__(p) *_p = &(p);   \
        __typeof__(p) _taken = *_p; \
        *_p = NULL;                 \
        _taken;                     \
    })

#endif
