#include "net/address.h"

#include "base/error.h"

#include <arpa/inet.h>

/* -- one spelling ------------------------------------------------------------------------------ */

int sbox_address_parse(const char *text, struct sbox_address *ret)
{
    struct sbox_address a = {.family = strchr(text, ':') ? 6 : 4};
    /* inet_pton takes neither zones nor leading zeros nor short forms. */
    if (inet_pton(a.family == 6 ? AF_INET6 : AF_INET, text, a.bytes) != 1)
        return -EINVAL;
    *ret = a;
    return 0;
}

const char *sbox_address_format(const struct sbox_address *a, char text[SBOX_ADDRESS_TEXT])
{
    text[0] = '\0';
    if (a->family == 4 || a->family == 6)
        (void)inet_ntop(a->family == 6 ? AF_INET6 : AF_INET, a->bytes, text, SBOX_ADDRESS_TEXT);
    return text;
}

bool sbox_address_equal(const struct sbox_address *a, const struct sbox_address *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, a->family == 6 ? 16 : 4) == 0;
}

/* -- every spelling ---------------------------------------------------------------------------- */

/* One number of inet_aton(3): 0x.. hexadecimal, 0.. octal, else decimal. False: no number. A number
 * that is too large gives UINT64_MAX. */
static bool part_of(const char *text, size_t size, uint64_t *ret)
{
    unsigned base = 10;
    uint64_t value = 0;
    if (size == 0)
        return false;
    if (size >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
        size -= 2;
    } else if (size >= 2 && text[0] == '0') {
        base = 8;
    }
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 99;
        /* 08 is no octal number, but nobody's host name either. */
        if (digit >= (base == 8 ? 10 : base))
            return false;
        if (base == 8 && digit >= 8)
            value = UINT64_MAX;
        if (value != UINT64_MAX)
            value = value > UINT32_MAX ? UINT64_MAX : value * base + digit;
    }
    *ret = value;
    return true;
}

/* The forms of inet_aton: a, a.b, a.b.c, a.b.c.d; the last part fills what is left. */
static int parse_old(const char *text, size_t size, struct sbox_address *ret)
{
    uint64_t parts[4] = {0};
    size_t count = 0;
    const char *last = text;
    uint64_t ignored;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '.')
            last = text + i + 1;
    /* WHATWG's rule: what ends in a number is an address or nothing. */
    if (!part_of(last, (size_t)(text + size - last), &ignored))
        return -EINVAL;
    for (const char *at = text; at <= text + size;) {
        const char *dot = memchr(at, '.', (size_t)(text + size - at));
        size_t length = (size_t)((dot ? dot : text + size) - at);
        if (count == 4 || !part_of(at, length, &parts[count++]))
            return -ERANGE;
        at += length + 1;
    }
    uint32_t value = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        if (parts[i] > 255)
            return -ERANGE;
        value |= (uint32_t)parts[i] << (24 - 8 * i);
    }
    if (parts[count - 1] >> (8 * (5 - count)) != 0)
        return -ERANGE;
    value |= (uint32_t)parts[count - 1];
    *ret = (struct sbox_address){
        4, {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value}};
    return 0;
}

int sbox_address_parse_any(const char *text, struct sbox_address *ret)
{
    char copy[80];
    size_t size = strlen(text);
    if (size >= 2 && text[0] == '[' && text[size - 1] == ']') {
        text++;
        size -= 2;
    }
    const char *zone = memchr(text, '%', size);
    if (memchr(text, ':', size)) {
        if (zone)
            size = (size_t)(zone - text);
        if (size >= sizeof copy)
            return -ERANGE;
        memcpy(copy, text, size);
        copy[size] = '\0';
        return sbox_address_parse(copy, ret) == 0 ? 0 : -ERANGE;
    }
    if (size > 0 && text[size - 1] == '.')
        size--;
    return size > 0 ? parse_old(text, size, ret) : -EINVAL;
}

/* -- class ------------------------------------------------------------------------------------- */

struct range {
    uint8_t prefix[16];
    uint8_t bits;
    uint8_t class;
};

/* The first that fits decides. https://www.iana.org/assignments/iana-ipv4-special-registry; the
 * documentation ranges are left public: a private registry may live there. */
static const struct range ranges4[] = {
    {{169, 254, 169, 254}, 32, SBOX_ADDRESS_METADATA}, /* most clouds */
    {{169, 254, 170, 2}, 32, SBOX_ADDRESS_METADATA},   /* AWS ECS: credentials */
    {{169, 254, 170, 23}, 32, SBOX_ADDRESS_METADATA},  /* AWS EKS: credentials */
    {{169, 254, 0, 23}, 32, SBOX_ADDRESS_METADATA},    /* Tencent */
    {{100, 100, 100, 200}, 32, SBOX_ADDRESS_METADATA}, /* Alibaba */
    {{192, 0, 0, 192}, 32, SBOX_ADDRESS_METADATA},     /* Oracle */
    {{168, 63, 129, 16}, 32, SBOX_ADDRESS_METADATA},   /* Azure's wire server */
    {{0}, 32, SBOX_ADDRESS_UNSPECIFIED},
    {{0}, 8, SBOX_ADDRESS_RESERVED},
    {{10}, 8, SBOX_ADDRESS_PRIVATE},
    {{100, 64}, 10, SBOX_ADDRESS_CGNAT},
    {{127}, 8, SBOX_ADDRESS_LOOPBACK},
    {{169, 254}, 16, SBOX_ADDRESS_LINK_LOCAL},
    {{172, 16}, 12, SBOX_ADDRESS_PRIVATE},
    {{192, 0, 0}, 24, SBOX_ADDRESS_RESERVED},
    {{192, 88, 99}, 24, SBOX_ADDRESS_RESERVED},
    {{192, 168}, 16, SBOX_ADDRESS_PRIVATE},
    {{198, 18}, 15, SBOX_ADDRESS_RESERVED}, /* sbox's own inside, layout.h */
    {{224}, 4, SBOX_ADDRESS_MULTICAST},
    {{240}, 4, SBOX_ADDRESS_RESERVED},
};

/* https://www.iana.org/assignments/iana-ipv6-special-registry. What holds an IPv4 address is judged
 * by that, too. */
static const struct range ranges6[] = {
    {{0xfd, 0, 0x0e, 0xc2, [15] = 0x54, [14] = 0x02}, 128, SBOX_ADDRESS_METADATA}, /* AWS */
    {{0xfd, 0x20, 0, 0xce, [14] = 0x02, [15] = 0x54}, 128, SBOX_ADDRESS_METADATA}, /* Google */
    {{0}, 128, SBOX_ADDRESS_UNSPECIFIED},
    {{[15] = 1}, 128, SBOX_ADDRESS_LOOPBACK},
    {{0, 0x64, 0xff, 0x9b}, 96, SBOX_ADDRESS_PUBLIC}, /* NAT64: what it holds decides */
    {{0, 0x64, 0xff, 0x9b, 0, 1}, 48, SBOX_ADDRESS_PRIVATE},
    {{0x01}, 64, SBOX_ADDRESS_RESERVED}, /* discard */
    {{0x20, 0x01, 0, 0x02}, 48, SBOX_ADDRESS_RESERVED},
    {{0x20, 0x01, 0, 0}, 32, SBOX_ADDRESS_RESERVED}, /* Teredo */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, SBOX_ADDRESS_PUBLIC},
    {{0x20, 0x01, 0}, 23, SBOX_ADDRESS_RESERVED},
    {{0x20, 0x02}, 16, SBOX_ADDRESS_RESERVED},  /* 6to4 */
    {{0x3f, 0xff, 0}, 20, SBOX_ADDRESS_PUBLIC}, /* documentation */
    {{0x20}, 3, SBOX_ADDRESS_PUBLIC},           /* 2000::/3, all that is handed out */
    {{0xfc}, 7, SBOX_ADDRESS_PRIVATE},
    {{0xfe, 0x80}, 10, SBOX_ADDRESS_LINK_LOCAL},
    {{0xfe, 0xc0}, 10, SBOX_ADDRESS_PRIVATE},
    {{0xff}, 8, SBOX_ADDRESS_MULTICAST},
};

static bool within(const uint8_t *bytes, const struct range *r)
{
    size_t whole = r->bits / 8;
    unsigned rest = r->bits % 8;
    if (memcmp(bytes, r->prefix, whole) != 0)
        return false;
    return rest == 0 || ((bytes[whole] ^ r->prefix[whole]) >> (8 - rest)) == 0;
}

static enum sbox_address_class class_of(const struct sbox_address *a)
{
    const struct range *ranges = a->family == 6 ? ranges6 : ranges4;
    size_t count =
        a->family == 6 ? sizeof ranges6 / sizeof *ranges6 : sizeof ranges4 / sizeof *ranges4;
    for (size_t i = 0; i < count; i++)
        if (within(a->bytes, &ranges[i]))
            return (enum sbox_address_class)ranges[i].class;
    return a->family == 4 ? SBOX_ADDRESS_PUBLIC : SBOX_ADDRESS_RESERVED;
}

/* Where in an IPv6 address of this prefix an IPv4 address lies. */
static const struct {
    struct range range;
    uint8_t at;
    uint8_t invert; /* Teredo hides the client's address from simple-minded NATs */
} embeddings[] = {
    {{{[10] = 0xff, [11] = 0xff}, 96, 0}, 12, 0},  /* mapped */
    {{{0}, 96, 0}, 12, 0},                         /* compatible, RFC 4291 2.5.5.1 */
    {{{[8] = 0xff, [9] = 0xff}, 96, 0}, 12, 0},    /* translated, RFC 2765 */
    {{{0, 0x64, 0xff, 0x9b}, 96, 0}, 12, 0},       /* NAT64 */
    {{{0, 0x64, 0xff, 0x9b, 0, 1}, 48, 0}, 12, 0}, /* RFC 8215, with /96 */
    {{{0x20, 0x02}, 16, 0}, 2, 0},                 /* 6to4 */
    {{{0x20, 0x01, 0, 0}, 32, 0}, 12, 0xff},       /* Teredo */
};

bool sbox_address_embedded(const struct sbox_address *a, struct sbox_address *ret)
{
    if (a->family != 6)
        return false;
    for (size_t i = 0; i < sizeof embeddings / sizeof *embeddings; i++) {
        if (!within(a->bytes, &embeddings[i].range))
            continue;
        struct sbox_address four = {.family = 4};
        for (size_t k = 0; k < 4; k++)
            four.bytes[k] = a->bytes[embeddings[i].at + k] ^ embeddings[i].invert;
        *ret = four;
        return true;
    }
    return false;
}

enum sbox_address_class sbox_address_classify(const struct sbox_address *a)
{
    struct sbox_address four;
    enum sbox_address_class own = class_of(a);
    if (own == SBOX_ADDRESS_METADATA || own == SBOX_ADDRESS_UNSPECIFIED ||
        own == SBOX_ADDRESS_LOOPBACK || !sbox_address_embedded(a, &four))
        return own;
    enum sbox_address_class inner = class_of(&four);
    return inner == SBOX_ADDRESS_PUBLIC ? own : inner;
}

const char *sbox_address_class_text(enum sbox_address_class c)
{
    static const char *const texts[] = {
        [SBOX_ADDRESS_PUBLIC] = "public",           [SBOX_ADDRESS_UNSPECIFIED] = "unspecified",
        [SBOX_ADDRESS_LOOPBACK] = "loopback",       [SBOX_ADDRESS_PRIVATE] = "private",
        [SBOX_ADDRESS_LINK_LOCAL] = "link-local",   [SBOX_ADDRESS_CGNAT] = "shared (CGNAT)",
        [SBOX_ADDRESS_METADATA] = "cloud metadata", [SBOX_ADDRESS_MULTICAST] = "multicast",
        [SBOX_ADDRESS_RESERVED] = "reserved",
    };
    return (size_t)c < sizeof texts / sizeof *texts ? texts[c] : "unknown";
}

/* -- the kernel's form ------------------------------------------------------------------------- */

socklen_t sbox_address_to_sockaddr(const struct sbox_address *a, uint16_t port,
                                   struct sockaddr_storage *ret)
{
    *ret = (struct sockaddr_storage){0};
    if (a->family == 6) {
        struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
        memcpy(&six.sin6_addr, a->bytes, 16);
        memcpy(ret, &six, sizeof six);
        return sizeof six;
    }
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    memcpy(&four.sin_addr, a->bytes, 4);
    memcpy(ret, &four, sizeof four);
    return sizeof four;
}

int sbox_address_from_sockaddr(const struct sockaddr_storage *s, struct sbox_address *ret,
                               uint16_t *ret_port)
{
    struct sbox_address a = {0};
    if (s->ss_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, s, sizeof six);
        a.family = 6;
        memcpy(a.bytes, &six.sin6_addr, 16);
        *ret_port = ntohs(six.sin6_port);
    } else if (s->ss_family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, s, sizeof four);
        a.family = 4;
        memcpy(a.bytes, &four.sin_addr, 4);
        *ret_port = ntohs(four.sin_port);
    } else {
        return -EAFNOSUPPORT;
    }
    *ret = a;
    return 0;
}
