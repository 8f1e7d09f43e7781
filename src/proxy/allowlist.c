/* The list is short and a decision is made once a connection: an array, walked. */
#include "proxy/allowlist.h"

#include "net/layout.h"
#include "proxy/rule.h"

struct sbox_allowlist {
    struct sbox_rule *rules;
    size_t count;
    size_t room;
    psl_ctx_t *suffixes; /* the system's list or libpsl's own, whichever is newer */
};

struct sbox_allowlist *sbox_allowlist_new(void)
{
    struct sbox_allowlist *a = calloc(1, sizeof *a);
    if (a)
        a->suffixes = psl_latest(NULL);
    return a;
}

void sbox_allowlist_free(struct sbox_allowlist *a)
{
    if (!a)
        return;
    psl_free(a->suffixes);
    free(a->rules);
    free(a);
}

static int make_room(struct sbox_allowlist *a, struct sbox_error *err)
{
    if (a->count < a->room)
        return 0;
    size_t room = a->room ? 2 * a->room : 16;
    void *grown = realloc(a->rules, room * sizeof *a->rules);
    if (!grown)
        return sbox_error_set(err, ENOMEM, "the list of hosts");
    a->rules = grown;
    a->room = room;
    return 0;
}

int sbox_allowlist_add(struct sbox_allowlist *a, const char *text, struct sbox_error *err)
{
    struct sbox_rule rule;
    int r = sbox_rule_parse(text, a->suffixes, &rule, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < a->count; i++)
        if (sbox_rule_equal(&a->rules[i], &rule))
            return 0;
    if (a->count == SBOX_NET_RULES_MAX)
        return sbox_error_say(err, E2BIG, "more than %d hosts in the list", SBOX_NET_RULES_MAX);
    r = make_room(a, err);
    if (r == 0)
        a->rules[a->count++] = rule;
    return r;
}

size_t sbox_allowlist_count(const struct sbox_allowlist *a)
{
    return a->count;
}

int sbox_allowlist_text(const struct sbox_allowlist *a, size_t i, char *text, size_t size)
{
    return sbox_rule_text(&a->rules[i], text, size);
}

enum sbox_wire_verdict sbox_allowlist_decide(const struct sbox_allowlist *a,
                                             const struct sbox_host *host, uint16_t port)
{
    enum sbox_wire_verdict verdict = SBOX_VERDICT_NAME;
    for (size_t i = 0; i < a->count; i++) {
        if (!sbox_rule_covers(&a->rules[i], host))
            continue;
        if (sbox_rule_covers_port(&a->rules[i], port))
            return SBOX_VERDICT_ALLOWED;
        verdict = SBOX_VERDICT_PORT;
    }
    return verdict;
}

bool sbox_allowlist_knows(const struct sbox_allowlist *a, const struct sbox_host *host)
{
    for (size_t i = 0; i < a->count; i++)
        if (sbox_rule_covers(&a->rules[i], host))
            return true;
    return false;
}

bool sbox_allowlist_vet(const struct sbox_address *address, bool allow_private)
{
    switch (sbox_address_classify(address)) {
    case SBOX_ADDRESS_PUBLIC:
        return true;
    case SBOX_ADDRESS_LOOPBACK:
    case SBOX_ADDRESS_PRIVATE:
    case SBOX_ADDRESS_LINK_LOCAL:
    case SBOX_ADDRESS_CGNAT:
        return allow_private;
    case SBOX_ADDRESS_UNSPECIFIED:
    case SBOX_ADDRESS_METADATA:
    case SBOX_ADDRESS_MULTICAST:
    case SBOX_ADDRESS_RESERVED:
        break;
    }
    return false;
}

/* The smallest port above `port` that a rule allows; 0: there is none. */
static uint16_t next_port(const struct sbox_allowlist *a, uint16_t port)
{
    uint16_t next = 0;
    for (size_t i = 0; i < a->count; i++) {
        uint16_t own = a->rules[i].port;
        uint16_t candidate = own ? own : port < 80 ? 80 : 443;
        if (candidate > port && (next == 0 || candidate < next))
            next = candidate;
    }
    return next;
}

size_t sbox_allowlist_ports(const struct sbox_allowlist *a, uint16_t *ports, size_t room)
{
    size_t count = 0;
    for (uint16_t port = next_port(a, 0); port != 0; port = next_port(a, port)) {
        if (count < room)
            ports[count] = port;
        count++;
    }
    return count;
}

static bool is_listed_before(const struct sbox_allowlist *a, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (sbox_address_equal(&a->rules[k].host.address, &a->rules[i].host.address))
            return true;
    return false;
}

size_t sbox_allowlist_literals(const struct sbox_allowlist *a, struct sbox_address *ret,
                               size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->rules[i].host.address.family == 0 || is_listed_before(a, i))
            continue;
        if (count < room)
            ret[count] = a->rules[i].host.address;
        count++;
    }
    return count;
}
