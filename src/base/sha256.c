/* OPENSSL_INIT_NO_LOAD_CONFIG comes first: otherwise OPENSSL_CONF in the caller's environment,
 * which a poisoned .envrc may have set, names a file whose providers are loaded into sbox by
 * dlopen. */
/* The low-level functions are deprecated in favour of the provider interface, whose loading is what
 * sbox_sha256_small avoids. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include "base/error.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

struct sbox_sha256 {
    EVP_MD *md;
    EVP_MD_CTX *context;
};

struct sbox_sha256 *sbox_sha256_new(void)
{
    if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) != 1)
        return NULL;
    struct sbox_sha256 *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->md = EVP_MD_fetch(NULL, "SHA256", "provider=default");
    h->context = EVP_MD_CTX_new();
    if (!h->md || !h->context) {
        sbox_sha256_free(h);
        return NULL;
    }
    return h;
}

void sbox_sha256_free(struct sbox_sha256 *h)
{
    if (!h)
        return;
    EVP_MD_CTX_free(h->context);
    EVP_MD_free(h->md);
    free(h);
}

void sbox_sha256_freep(struct sbox_sha256 **h)
{
    sbox_sha256_free(*h);
}

int sbox_sha256_begin(struct sbox_sha256 *h)
{
    return EVP_DigestInit_ex2(h->context, h->md, NULL) == 1 ? 0 : -EIO;
}

int sbox_sha256_update(struct sbox_sha256 *h, const void *data, size_t size)
{
    return EVP_DigestUpdate(h->context, data, size) == 1 ? 0 : -EIO;
}

int sbox_sha256_end(struct sbox_sha256 *h, struct sbox_digest *ret)
{
    return EVP_DigestFinal_ex(h->context, ret->bytes, NULL) == 1 ? 0 : -EIO;
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
    SHA256_CTX context;
    (void)SHA256_Init(&context);
    (void)SHA256_Update(&context, data, size);
    (void)SHA256_Final(ret->bytes, &context);
}
