/* What an address is good for, after IANA's special-purpose address registries for IPv4 and IPv6
 * (RFC 6890; read in their state of 2025). The first row that fits counts, so the narrower rows
 * come first.
 *
 * A name decides nothing: whoever owns it can let it lead to the host's loopback, to a router or to
 * the service that hands a virtual machine its credentials. So the class is judged by what the
 * address *reaches*: an IPv6 address that a translator or tunnel turns into an IPv4 packet is at
 * most as public as the IPv4 address in it. */
#include "base/error.h"
#include "net/address.h"

#define METADATA SBOX_ADDRESS_METADATA
#define RESERVED SBOX_ADDRESS_RESERVED
#define PRIVATE  SBOX_ADDRESS_PRIVATE
#define PUBLIC   SBOX_ADDRESS_PUBLIC

struct row {
    struct sbox_address net;
    int prefix;
    enum sbox_address_class class;
};

#define FOUR(...)                             \
    {                                         \
        .family = 4, .bytes = { __VA_ARGS__ } \
    }
#define SIX(...)                              \
    {                                         \
        .family = 6, .bytes = { __VA_ARGS__ } \
    }

/* Documentation ranges (192.0.2/24, 198.51.100/24, 203.0.113/24, 2001:db8::/32, 3fff::/20) have no
 * row on purpose: nothing of the host is there, and mirrors inside companies do use them. */
static const struct row table[] = {
    {FOUR(0, 0, 0, 0), 32, SBOX_ADDRESS_UNSPECIFIED},
    {FOUR(0), 8, RESERVED},
    {FOUR(10), 8, PRIVATE},
    {FOUR(100, 100, 100, 200), 32, METADATA}, /* Alibaba */
    {FOUR(100, 64), 10, SBOX_ADDRESS_CGNAT},
    {FOUR(127), 8, SBOX_ADDRESS_LOOPBACK},
    {FOUR(168, 63, 129, 16), 32,
     METADATA},                            /* Azure's host agent, at an address that looks public */
    {FOUR(169, 254, 0, 23), 32, METADATA}, /* Tencent */
    {FOUR(169, 254, 42, 42), 32, METADATA}, /* Scaleway */
    {FOUR(169, 254, 169), 24, METADATA}, /* .254: nearly all; .253, .123, .252: their DNS, time */
    {FOUR(169, 254, 170), 24, METADATA}, /* credentials of containers: ECS .2, EKS .23 */
    {FOUR(169, 254), 16, SBOX_ADDRESS_LINK_LOCAL},
    {FOUR(172, 16), 12, PRIVATE},
    {FOUR(192, 0, 0, 192), 32, METADATA}, /* Oracle, the older cloud */
    {FOUR(192, 0, 0), 24, RESERVED},
    {FOUR(192, 88, 99), 24, RESERVED}, /* relays of 6to4, given up by RFC 7526 */
    {FOUR(192, 168), 16, PRIVATE},
    {FOUR(198, 18), 15, RESERVED}, /* benchmarks; sbox's own inside */
    {FOUR(224), 4, SBOX_ADDRESS_MULTICAST},
    {FOUR(240), 4, RESERVED}, /* and the broadcast address */
    {FOUR(0), 0, PUBLIC},

    {SIX(0), 128, SBOX_ADDRESS_UNSPECIFIED},
    {SIX([15] = 1), 128, SBOX_ADDRESS_LOOPBACK},
    {SIX([10] = 0xff, 0xff), 96, PUBLIC},          /* mapped: what the IPv4 address is */
    {SIX(0, 0x64, 0xff, 0x9b), 96, PUBLIC},        /* NAT64: likewise */
    {SIX(0, 0x64, 0xff, 0x9b, 0, 1), 48, PRIVATE}, /* NAT64 of one site, RFC 8215 */
    {SIX(0x20, 0x01), 32, PUBLIC},                 /* Teredo: likewise */
    {SIX(0x20, 0x01, 0, 3), 32, PUBLIC},           /* AMT */
    {SIX(0x20, 0x01, 0, 4, 1, 0x12), 48, PUBLIC},  /* AS112 */
    {SIX(0x20, 0x01), 23, RESERVED},               /* IETF: benchmarks (sbox's own inside), ORCHID,
                                                      anycast that the nearest router answers */
    {SIX(0x20), 3, PUBLIC},                        /* 6to4 (2002::/16) is in it */
    {SIX(0xfd, 0, 0x0e, 0xc2), 32, METADATA},      /* AWS: fd00:ec2::254, ::253, ::23 */
    {SIX(0xfd, 0, 0, 0xc1, [12] = 0xa9, 0xfe, 0xa9, 0xfe), 128, METADATA}, /* Oracle */
    {SIX(0xfd, 0x20, 0, 0xce, [14] = 2, 0x54), 128, METADATA},             /* Google */
    {SIX(0xfe, 0x80, [12] = 0xa9, 0xfe, 0xa9, 0xfe), 128, METADATA},       /* OpenStack */
    {SIX(0xfc), 7, PRIVATE},
    {SIX(0xfe, 0x80), 10, SBOX_ADDRESS_LINK_LOCAL},
    {SIX(0xfe, 0xc0), 10, PRIVATE}, /* site-local, given up by RFC 3879 */
    {SIX(0xff), 8, SBOX_ADDRESS_MULTICAST},
    {SIX(0), 0, RESERVED}, /* IANA gives out global addresses from 2000::/3 alone */
};

static enum sbox_address_class classify_outside(const struct sbox_address *a)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (sbox_address_within(a, &table[i].net, table[i].prefix))
            return table[i].class;
    return RESERVED;
}

/* Where IPv6 addresses hold an IPv4 address: the bytes at `at`, each xored with `mask`. */
static const struct place {
    struct sbox_address net;
    int prefix;
    uint8_t at[4];
    uint8_t mask;
} places[] = {
    {SIX([10] = 0xff, 0xff), 96, {12, 13, 14, 15}, 0},
    {SIX(0), 96, {12, 13, 14, 15}, 0},
    {SIX(0, 0x64, 0xff, 0x9b), 96, {12, 13, 14, 15}, 0},
    {SIX(0, 0x64, 0xff, 0x9b, 0, 1), 96, {12, 13, 14, 15}, 0}, /* a /96 of it is usual */
    {SIX(0, 0x64, 0xff, 0x9b, 0, 1), 48, {6, 7, 9, 10}, 0},    /* RFC 6052 section 2.2 */
    {SIX(0x20, 0x02), 16, {2, 3, 4, 5}, 0},
    {SIX(0x20, 0x01), 32, {12, 13, 14, 15}, 0xff}, /* Teredo's client, RFC 4380 section 4 */
};

static struct sbox_address take(const struct sbox_address *a, const uint8_t at[4], uint8_t mask)
{
    struct sbox_address four = {.family = 4};
    for (size_t i = 0; i < 4; i++)
        four.bytes[i] = a->bytes[at[i]] ^ mask;
    return four;
}

bool sbox_address_embedded(const struct sbox_address *a, struct sbox_address *ret)
{
    enum sbox_address_class outside = classify_outside(a);
    if (outside == SBOX_ADDRESS_UNSPECIFIED || outside == SBOX_ADDRESS_LOOPBACK)
        return false; /* :: and ::1 have the form ::a.b.c.d, too */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!sbox_address_within(a, &places[i].net, places[i].prefix))
            continue;
        *ret = take(a, places[i].at, places[i].mask);
        return true;
    }
    return false;
}

/* Larger is less public: first what --allow-private opens, then what no name may lead to. */
static int distance(enum sbox_address_class c)
{
    static const int of[] = {
        [SBOX_ADDRESS_PUBLIC] = 0,     [SBOX_ADDRESS_CGNAT] = 1,       [SBOX_ADDRESS_PRIVATE] = 2,
        [SBOX_ADDRESS_LINK_LOCAL] = 3, [SBOX_ADDRESS_LOOPBACK] = 4,    [SBOX_ADDRESS_RESERVED] = 5,
        [SBOX_ADDRESS_MULTICAST] = 6,  [SBOX_ADDRESS_UNSPECIFIED] = 7, [SBOX_ADDRESS_METADATA] = 8,
    };
    return of[c];
}

enum sbox_address_class sbox_address_classify(const struct sbox_address *a)
{
    struct sbox_address four;
    enum sbox_address_class outside = classify_outside(a);
    if (!sbox_address_embedded(a, &four))
        return outside;
    enum sbox_address_class inside = classify_outside(&four);
    return distance(inside) > distance(outside) ? inside : outside;
}

const char *sbox_address_class_text(enum sbox_address_class c)
{
    static const char *const text[] = {
        [SBOX_ADDRESS_PUBLIC] = "public",         [SBOX_ADDRESS_UNSPECIFIED] = "unspecified",
        [SBOX_ADDRESS_LOOPBACK] = "loopback",     [SBOX_ADDRESS_PRIVATE] = "private",
        [SBOX_ADDRESS_LINK_LOCAL] = "link-local", [SBOX_ADDRESS_CGNAT] = "CGNAT",
        [SBOX_ADDRESS_METADATA] = "metadata",     [SBOX_ADDRESS_MULTICAST] = "multicast",
        [SBOX_ADDRESS_RESERVED] = "reserved",
    };
    return text[c];
}
