/* SOCKS 5: the first byte chooses greeting or request. Whatever answer a prefix gets stays it. */
#include "proxy/socks.h"

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static int parse(bool greeting, const uint8_t *data, size_t size, struct sbox_host *ret)
{
    uint8_t *copy = malloc(size ? size : 1); /* a read past the end is seen */
    uint16_t port = 0;
    check(copy);
    memcpy(copy, data, size);
    int r = greeting ? sbox_socks_greeting(copy, size) : sbox_socks_request(copy, size, ret, &port);
    free(copy);
    check(greeting || (port > 0) == (r > 0));
    check(r <= (int)size && (r >= -1999));
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 600)
        return 0;
    bool greeting = data[0] & 1;
    struct sbox_host whole = {0};
    int r = parse(greeting, data + 1, size - 1, &whole);
    check(greeting || (r > 0) == (whole.address.family != 0 || whole.name[0] != '\0'));
    for (size_t cut = 0; cut < size; cut++) {
        struct sbox_host host = {0};
        int at = parse(greeting, data + 1, cut, &host);
        check(at == 0 || at == r);
        check(r <= 0 || (at > 0) == (cut >= (size_t)r));
        check(greeting || at <= 0 || sbox_host_equal(&host, &whole));
    }
    return 0;
}
