#include "proxy/names.h"

#include "base/error.h"
#include "net/layout.h"

enum { BUCKETS = 1024, NONE = -1 };

struct entry {
    char name[SBOX_HOST_SIZE]; /* "": free */
    int chain;                 /* the next in its bucket */
    int older, newer;          /* by use */
};

struct sbox_names {
    int buckets[BUCKETS];
    int oldest, newest;
    int used;
    struct entry entries[SBOX_NET_NAMES_MAX];
};

struct sbox_names *sbox_names_new(void)
{
    struct sbox_names *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    for (size_t i = 0; i < BUCKETS; i++)
        n->buckets[i] = NONE;
    n->oldest = n->newest = NONE;
    return n;
}

void sbox_names_free(struct sbox_names *n)
{
    free(n);
}

/* FNV-1a. Names are those that the list allows: nobody can fill one bucket at will. */
static int *bucket_of(struct sbox_names *n, const char *name)
{
    uint32_t hash = 2166136261U;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619U;
    return &n->buckets[hash % BUCKETS];
}

static void unlink_use(struct sbox_names *n, int i)
{
    struct entry *e = &n->entries[i];
    *(e->older == NONE ? &n->oldest : &n->entries[e->older].newer) = e->newer;
    *(e->newer == NONE ? &n->newest : &n->entries[e->newer].older) = e->older;
}

static void append_use(struct sbox_names *n, int i)
{
    struct entry *e = &n->entries[i];
    e->older = n->newest;
    e->newer = NONE;
    *(n->newest == NONE ? &n->oldest : &n->entries[n->newest].newer) = i;
    n->newest = i;
}

static void forget(struct sbox_names *n, int i)
{
    int *at = bucket_of(n, n->entries[i].name);
    while (*at != i)
        at = &n->entries[*at].chain;
    *at = n->entries[i].chain;
    unlink_use(n, i);
}

static int add(struct sbox_names *n, const char *name)
{
    int i = n->used < SBOX_NET_NAMES_MAX ? n->used++ : n->oldest;
    int *bucket = bucket_of(n, name);
    struct entry *e = &n->entries[i];
    if (e->name[0])
        forget(n, i);
    (void)snprintf(e->name, sizeof e->name, "%s", name);
    e->chain = *bucket;
    *bucket = i;
    append_use(n, i);
    return i;
}

static int find(struct sbox_names *n, const char *name)
{
    int i = *bucket_of(n, name);
    while (i != NONE && strcmp(n->entries[i].name, name) != 0)
        i = n->entries[i].chain;
    return i;
}

/* 198.18.0.0 + number, 2001:2:0:1:: + number. */
void sbox_names_address(struct sbox_names *n, const char *name, uint8_t family,
                        struct sbox_address *ret)
{
    int i = find(n, name);
    if (i == NONE) {
        i = add(n, name);
    } else {
        unlink_use(n, i);
        append_use(n, i);
    }
    uint32_t number = SBOX_NET_FIRST_NAME + (uint32_t)i;
    struct sbox_address a = {.family = family};
    if (family == 4) {
        a.bytes[0] = 198;
        a.bytes[1] = (uint8_t)(18 + (number >> 16));
        a.bytes[2] = (uint8_t)(number >> 8);
        a.bytes[3] = (uint8_t)number;
    } else {
        static const uint8_t prefix[] = {0x20, 0x01, 0, 2, 0, 0, 0, 1};
        memcpy(a.bytes, prefix, sizeof prefix);
        a.bytes[14] = (uint8_t)(number >> 8);
        a.bytes[15] = (uint8_t)number;
    }
    *ret = a;
}

const char *sbox_names_find(struct sbox_names *n, const struct sbox_address *a)
{
    static const uint8_t six[14] = {0x20, 0x01, 0, 2, 0, 0, 0, 1};
    uint32_t number = 0;
    if (a->family == 4 && a->bytes[0] == 198 && a->bytes[1] == 18)
        number = (uint32_t)a->bytes[2] << 8 | a->bytes[3];
    else if (a->family == 6 && memcmp(a->bytes, six, sizeof six) == 0)
        number = (uint32_t)a->bytes[14] << 8 | a->bytes[15];
    if (number < SBOX_NET_FIRST_NAME || number >= SBOX_NET_FIRST_NAME + (uint32_t)n->used)
        return NULL;
    return n->entries[number - SBOX_NET_FIRST_NAME].name;
}

bool sbox_names_restore(struct sbox_names *n, struct sbox_host *host)
{
    const char *name = sbox_names_find(n, &host->address);
    if (!name)
        return false;
    *host = (struct sbox_host){0};
    (void)snprintf(host->name, sizeof host->name, "%s", name);
    return true;
}
