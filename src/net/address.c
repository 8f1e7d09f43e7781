#include "net/address.h"

#include "base/error.h"

#include <arpa/inet.h>

static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

int sbox_address_parse(const char *text, struct sbox_address *ret)
{
    struct sbox_address a = {.family = strchr(text, ':') ? 6 : 4};
    if (inet_pton(a.family == 6 ? AF_INET6 : AF_INET, text, a.bytes) != 1)
        return -EINVAL;
    *ret = a;
    return 0;
}

/* RFC 4007: the interface through which a link-local address is meant. Its characters are those
 * that interface names and RFC 6874 share. */
static bool is_zone(const char *s, size_t size)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    return size > 0 && strspn(s, allowed) >= size;
}

static int parse_six(const char *s, size_t size, struct sbox_address *ret)
{
    char text[SBOX_ADDRESS_TEXT];
    const char *percent = memchr(s, '%', size);
    size_t length = percent ? (size_t)(percent - s) : size;
    if (length >= sizeof text || (percent && !is_zone(percent + 1, size - length - 1)))
        return -EINVAL;
    memcpy(text, s, length);
    text[length] = '\0';
    return strchr(text, ':') ? sbox_address_parse(text, ret) : -EINVAL;
}

/* Would a resolver take the last label for a number? Then the whole is an address or nothing (the
 * URL standard's "ends in a number"): no top-level domain looks like that. */
static bool ends_in_number(const char *s, size_t size)
{
    size_t start = size;
    while (start > 0 && s[start - 1] != '.')
        start--;
    const char *label = s + start;
    size_t length = size - start;
    bool hex = length >= 2 && label[0] == '0' && (label[1] | 0x20) == 'x';
    for (size_t i = hex ? 2 : 0; i < length; i++)
        if (hex ? hex_value(label[i]) < 0 : !is_digit(label[i]))
            return false;
    return length > 0;
}

/* One number of inet(3): 0x... is hexadecimal, 0... octal. 0 or -ERANGE. */
static int parse_number(const char *s, size_t size, uint32_t *ret)
{
    int base = 10;
    uint64_t value = 0;
    if (size > 1 && s[0] == '0') {
        bool hex = (s[1] | 0x20) == 'x';
        base = hex ? 16 : 8;
        s += hex ? 2 : 1;
        size -= hex ? 2 : 1;
    }
    for (size_t i = 0; i < size; i++) {
        int digit = hex_value(s[i]);
        if (digit < 0 || digit >= base)
            return -ERANGE;
        value = value * (uint64_t)base + (uint64_t)digit;
        if (value > UINT32_MAX)
            return -ERANGE;
    }
    *ret = (uint32_t)value;
    return size > 0 ? 0 : -ERANGE;
}

static struct sbox_address from_number(uint32_t n)
{
    return (struct sbox_address){
        .family = 4,
        .bytes = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n},
    };
}

/* inet(3): up to four numbers; all but the last are a byte, the last fills what is left. */
static int parse_four(const char *s, size_t size, struct sbox_address *ret)
{
    uint32_t address = 0;
    const char *end = s + size;
    for (unsigned bytes = 4; bytes > 0; bytes--) {
        const char *dot = memchr(s, '.', (size_t)(end - s));
        uint32_t number = 0;
        if (parse_number(s, (size_t)((dot ? dot : end) - s), &number) < 0)
            return -ERANGE;
        if (!dot) {
            if (bytes < 4 && number >> (8 * bytes) != 0)
                return -ERANGE;
            *ret = from_number(address | number);
            return 0;
        }
        if (number > 255)
            return -ERANGE;
        address |= number << (8 * (bytes - 1));
        s = dot + 1;
    }
    return -ERANGE;
}

int sbox_address_parse_any(const char *text, struct sbox_address *ret)
{
    size_t size = strlen(text);
    if (text[0] == '[')
        return size > 2 && text[size - 1] == ']' ? parse_six(text + 1, size - 2, ret) : -EINVAL;
    if (strchr(text, ':'))
        return parse_six(text, size, ret);
    if (size > 0 && text[size - 1] == '.')
        size--;
    return ends_in_number(text, size) ? parse_four(text, size, ret) : -EINVAL;
}

struct sbox_address sbox_address_unmap(const struct sbox_address *a)
{
    if (a->family != 6 || memcmp(a->bytes, mapped_prefix, sizeof mapped_prefix) != 0)
        return *a;
    struct sbox_address four = {.family = 4};
    memcpy(four.bytes, a->bytes + sizeof mapped_prefix, 4);
    return four;
}

bool sbox_address_equal(const struct sbox_address *a, const struct sbox_address *b)
{
    size_t size = a->family == 4 ? 4 : a->family == 6 ? 16 : 0;
    return a->family == b->family && memcmp(a->bytes, b->bytes, size) == 0;
}

bool sbox_address_within(const struct sbox_address *a, const struct sbox_address *net, int prefix)
{
    size_t whole = (size_t)prefix / 8;
    int rest = prefix % 8;
    if (a->family != net->family || memcmp(a->bytes, net->bytes, whole) != 0)
        return false;
    return rest == 0 || (a->bytes[whole] ^ net->bytes[whole]) >> (8 - rest) == 0;
}

const char *sbox_address_format(const struct sbox_address *a, char text[SBOX_ADDRESS_TEXT])
{
    text[0] = '\0';
    if (a->family != 0)
        (void)inet_ntop(a->family == 6 ? AF_INET6 : AF_INET, a->bytes, text, SBOX_ADDRESS_TEXT);
    return text;
}

socklen_t sbox_address_to_sockaddr(const struct sbox_address *a, uint16_t port,
                                   struct sockaddr_storage *ret)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    *ret = (struct sockaddr_storage){0};
    switch (a->family) {
    case 4:
        memcpy(&four.sin_addr, a->bytes, sizeof four.sin_addr);
        memcpy(ret, &four, sizeof four);
        return sizeof four;
    case 6:
        memcpy(&six.sin6_addr, a->bytes, sizeof six.sin6_addr);
        memcpy(ret, &six, sizeof six);
        return sizeof six;
    default:
        return 0;
    }
}

int sbox_address_from_sockaddr(const struct sockaddr_storage *s, struct sbox_address *ret,
                               uint16_t *ret_port)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sbox_address a = {0};
    switch (s->ss_family) {
    case AF_INET:
        memcpy(&four, s, sizeof four);
        a.family = 4;
        memcpy(a.bytes, &four.sin_addr, sizeof four.sin_addr);
        *ret_port = ntohs(four.sin_port);
        break;
    case AF_INET6:
        memcpy(&six, s, sizeof six);
        a.family = 6;
        memcpy(a.bytes, &six.sin6_addr, sizeof six.sin6_addr);
        *ret_port = ntohs(six.sin6_port);
        break;
    default:
        return -EAFNOSUPPORT;
    }
    *ret = sbox_address_unmap(&a);
    return 0;
}
