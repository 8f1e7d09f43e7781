/* SHA-256 by libcrypto (its SHA-NI code). The one place of sbox that includes OpenSSL. */
#ifndef SBOX_BASE_SHA256_H
#define SBOX_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SBOX_SHA256_SIZE = 32 };

struct sbox_digest {
    uint8_t bytes[SBOX_SHA256_SIZE];
};

/* One per thread; reusable without limit. NULL when libcrypto gives no SHA-256. */
struct sbox_sha256 *sbox_sha256_new(void);
void sbox_sha256_free(struct sbox_sha256 *h); /* accepts NULL */
void sbox_sha256_freep(struct sbox_sha256 **h);

int sbox_sha256_begin(struct sbox_sha256 *h);
int sbox_sha256_update(struct sbox_sha256 *h, const void *data, size_t size);
int sbox_sha256_end(struct sbox_sha256 *h, struct sbox_digest *ret);

/* begin, update, end; 0 or -EIO. */
int sbox_sha256_of(struct sbox_sha256 *h, const void *data, size_t size, struct sbox_digest *ret);

/* For a few bytes where no hasher is at hand: does not load OpenSSL's providers, which takes half a
 * millisecond (measured) and is a quarter of a sandbox's start. Cannot fail. */
void sbox_sha256_small(const void *data, size_t size, struct sbox_digest *ret);

#define _cleanup_sha256_ __attribute__((cleanup(sbox_sha256_freep)))

#endif
