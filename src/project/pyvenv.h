/* pyvenv.cfg (PEP 405): lines "key = value". Only `home` and `version` matter. Bounded, lenient as
 * site.py is, except that NUL bytes and lines over 4096 bytes are refused (-EBADMSG). */
#ifndef SBOX_PROJECT_PYVENV_H
#define SBOX_PROJECT_PYVENV_H

#include <stddef.h>

struct sbox_pyvenv {
    char *home;    /* NULL when absent */
    char *version; /* NULL when absent */
};

int sbox_pyvenv_parse(const char *data, size_t size, struct sbox_pyvenv *ret);
void sbox_pyvenv_release(struct sbox_pyvenv *v);

#endif
