/* libcrypto's own SHA-256, not its provider interface (EVP). The functions are deprecated
 * since 3.0, but for a hash that never changes they are the better choice here, measured:
 * - EVP loads the default provider, 0.5 ms of each start that hashes;
 * - linked statically they need two of libcrypto's objects instead of nearly all of it, whose
 * tables of pointers a position-independent program has to relocate: 0.2 ms of every start;
 * - nothing reads OPENSSL_CONF, which a poisoned .envrc may have set to a file that names libraries
 *   to load.
 * Both use the same assembly (SHA-NI, ARMv8). */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include "base/error.h"

#include <openssl/sha.h>

struct sbox_sha256 {
    SHA256_CTX context;
};

struct sbox_sha256 *sbox_sha256_new(void)
{
    return calloc(1, sizeof(struct sbox_sha256));
}

void sbox_sha256_free(struct sbox_sha256 *h)
{
    free(h);
}

void sbox_sha256_freep(struct sbox_sha256 **h)
{
    sbox_sha256_free(*h);
}

int sbox_sha256_begin(struct sbox_sha256 *h)
{
    return SHA256_Init(&h->context) == 1 ? 0 : -EIO;
}

int sbox_sha256_update(struct sbox_sha256 *h, const void *data, size_t size)
{
    return SHA256_Update(&h->context, data, size) == 1 ? 0 : -EIO;
}

int sbox_sha256_end(struct sbox_sha256 *h, struct sbox_digest *ret)
{
    return SHA256_Final(ret->bytes, &h->context) == 1 ? 0 : -EIO;
}

int sbox_sha256_of(struct sbox_sha256 *h, const void *data, size_t size, struct sbox_digest *ret)
{
    int r = sbox_sha256_begin(h);
    if (r == 0)
        r = sbox_sha256_update(h, data, size);
    return r == 0 ? sbox_sha256_end(h, ret) : r;
}

void sbox_sha256_small(const void *data, size_t size, struct sbox_digest *ret)
{
    struct sbox_sha256 h;
    (void)sbox_sha256_of(&h, data, size, ret);
}
