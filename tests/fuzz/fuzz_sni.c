/* TLS: whatever answer a prefix gets stays the answer, and a name is a canonical host. The first
 * byte also cuts the first record in two: what the message says does not depend on its records. */
#include "proxy/sni.h"

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static enum sbox_sni parse(const uint8_t *data, size_t size, struct sbox_host *ret)
{
    uint8_t *copy = malloc(size ? size : 1); /* a read past the end is seen */
    check(copy);
    memcpy(copy, data, size);
    enum sbox_sni answer = sbox_sni_parse(copy, size, ret);
    free(copy);
    return answer;
}

static void check_name(const struct sbox_host *h)
{
    char text[SBOX_HOST_SIZE];
    struct sbox_host again;
    (void)sbox_host_format(h, text);
    check(sbox_host_parse(text, strlen(text), &again) == 0 && sbox_host_equal(h, &again));
}

/* data[3..4] is the record's length; its first `cut` bytes become a record of their own. */
static void check_cut(const uint8_t *data, size_t size, size_t cut, enum sbox_sni answer,
                      const struct sbox_host *host)
{
    size_t record = size < 5 ? 0 : (size_t)data[3] << 8 | data[4];
    struct sbox_host h;
    if (cut == 0 || cut >= record || 5 + cut > size || size + 5 > SBOX_SNI_MAX)
        return;
    uint8_t *two = malloc(size + 5);
    check(two);
    memcpy(two, data, 5 + cut);
    memcpy(two + 5 + cut, data, 5);
    memcpy(two + 10 + cut, data + 5 + cut, size - 5 - cut);
    two[3] = (uint8_t)(cut >> 8);
    two[4] = (uint8_t)cut;
    two[8 + cut] = (uint8_t)((record - cut) >> 8);
    two[9 + cut] = (uint8_t)(record - cut);
    enum sbox_sni again = parse(two, size + 5, &h);
    free(two);
    check(again == answer && (answer != SBOX_SNI_NAME || sbox_host_equal(&h, host)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t first_record = data[0];
    struct sbox_host whole = {0};
    data++;
    size--;
    enum sbox_sni answer = parse(data, size, &whole);
    if (answer == SBOX_SNI_NAME)
        check_name(&whole);
    for (size_t cut = 0; cut <= size; cut += size / 64 + 1) {
        struct sbox_host host = {0};
        enum sbox_sni r = parse(data, cut, &host);
        check(r == SBOX_SNI_MORE || r == answer);
        check(r != SBOX_SNI_NAME || sbox_host_equal(&host, &whole));
    }
    if (size > 4 && data[0] == 22 && (data[3] << 8 | data[4]) <= 1 << 14)
        check_cut(data, size, first_record, answer, &whole);
    return 0;
}
