/* HOST and HOST:PORT: refused, or one canonical form that stays what it is when it is read again.
 */
#include "proxy/host.h"

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

/* What every other part relies on: such a name can be put into a request, a log or a query. */
static void check_name(const char *name)
{
    size_t size = strlen(name);
    struct sbox_address ignored;
    check(size > 0 && size < SBOX_HOST_SIZE);
    check(name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0');
    check(name[0] != '.' && name[0] != '-' && name[size - 1] != '.' && !strstr(name, ".."));
    check(sbox_address_parse_any(name, &ignored) == -EINVAL);
}

static void check_host(const struct sbox_host *h)
{
    char text[SBOX_HOST_SIZE];
    struct sbox_host again;
    check((h->address.family != 0) == (h->name[0] == '\0'));
    if (h->address.family == 0)
        check_name(h->name);
    (void)sbox_host_format(h, text);
    check(sbox_host_parse(text, strlen(text), &again) == 0);
    check(sbox_host_equal(&again, h));
    if (h->address.family == 0)
        return;
    struct sbox_address strict;
    check(sbox_address_parse(text, &strict) == 0 && sbox_address_equal(&strict, &h->address));
    check(sbox_address_class_text(sbox_address_classify(&h->address)) != NULL);
}

/* With and without a default the same, but for the port that is missing. */
static void check_port(const char *text, size_t size)
{
    struct sbox_host with;
    struct sbox_host without;
    uint16_t port_with = 0;
    uint16_t port_without = 0;
    int r = sbox_host_port_parse(text, size, 80, &with, &port_with);
    check(r == 0 || r == -EINVAL);
    if (sbox_host_port_parse(text, size, 0, &without, &port_without) == 0)
        check(r == 0 && port_with == port_without && sbox_host_equal(&with, &without));
    else
        check(r < 0 || port_with == 80);
    if (r < 0)
        return;
    check(port_with != 0);
    check_host(&with);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sbox_host h;
    char *copy = malloc(size ? size : 1); /* a read past the end is seen */
    check(copy);
    memcpy(copy, data, size);
    int r = sbox_host_parse(copy, size, &h);
    check(r == 0 || r == -EINVAL);
    if (r == 0)
        check_host(&h);
    check_port(copy, size);
    free(copy);
    return 0;
}
