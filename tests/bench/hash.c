/* Floor of verify: every regular file of a tree read once and put through OpenSSL's SHA-256, by two
 * threads. No stat, no record, no order, the digests are thrown away. */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

enum { READ_SIZE = 64 * 1024 };

struct hasher {
    EVP_MD *algorithm; /* fetched once: an implicit fetch for each file costs more than the hash */
    EVP_MD_CTX *context;
    unsigned char buffer[READ_SIZE];
};

static void end(void *thread)
{
    struct hasher *h = thread;

    EVP_MD_CTX_free(h->context);
    EVP_MD_free(h->algorithm);
    free(h);
}

static void *begin(void)
{
    struct hasher *h = malloc(sizeof(*h));

    if (h == NULL)
        return NULL;
    h->algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    h->context = EVP_MD_CTX_new();
    if (h->algorithm == NULL || h->context == NULL) {
        end(h);
        return NULL;
    }
    return h;
}

/* A short read is the end of a regular file: no second read to be told so. */
static int update_from(struct hasher *h, int fd, uint64_t *bytes)
{
    ssize_t size;

    do {
        size = read(fd, h->buffer, READ_SIZE);
        if (size < 0)
            return -errno;
        if (EVP_DigestUpdate(h->context, h->buffer, (size_t)size) != 1)
            return -EIO;
        *bytes += (uint64_t)size;
    } while (size == READ_SIZE);
    return 0;
}

static int entry(void *thread, int dirfd, const char *name, unsigned char type,
                 struct bench_totals *totals)
{
    struct hasher *h = thread;
    unsigned char digest[EVP_MAX_MD_SIZE];
    int fd, r;

    if (type != DT_REG)
        return 0;
    fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    r = EVP_DigestInit_ex2(h->context, h->algorithm, NULL) == 1 ? 0 : -EIO;
    if (r == 0)
        r = update_from(h, fd, &totals->bytes);
    if (r == 0 && EVP_DigestFinal_ex(h->context, digest, NULL) != 1)
        r = -EIO;
    close(fd);
    return r;
}

int main(int argc, char **argv)
{
    static const struct bench_ops ops = {.begin = begin, .entry = entry, .end = end};

    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts(OpenSSL_version(OPENSSL_VERSION));
        return 0;
    }
    return bench_tree_main(argc, argv, &ops);
}
