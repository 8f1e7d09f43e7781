/* What sbox-proxy gives up before it reads the first byte of a network. */
#ifndef SBOX_PROXY_PROXY_CONFINE_H
#define SBOX_PROXY_PROXY_CONFINE_H

#include "base/error.h"

/* Files, programs, processes, new listeners, signals. For good. 0 or -errno. */
int sbox_proxy_confine(struct sbox_error *err);

#endif
