/* The texts that stand under one key anywhere in a JSON document: `resolved` of package-lock.json,
 * `url` of Pipfile.lock. Read by sqlite's json_tree: bounded, nothing of the document is run. */
#ifndef SBOX_STORE_JSONURLS_H
#define SBOX_STORE_JSONURLS_H

#include "base/error.h"

#include <stddef.h>

enum { SBOX_JSONURLS_MAX = 32 << 20 };

typedef int sbox_jsonurls_each(const char *text, size_t size, void *context);

/* 0; what `each` returned when that was negative; -EBADMSG for what is no JSON object; -EFBIG. */
int sbox_jsonurls_walk(const char *data, size_t size, const char *key, sbox_jsonurls_each *each,
                       void *context, struct sbox_error *err);

#endif
