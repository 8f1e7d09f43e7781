/* The list is short and a decision is made once a connection: an array, walked. */
#include "proxy/allowlist.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "net/layout.h"

#include <libpsl.h>

enum scope {
    EXACT,      /* an address, or a name of one label */
    DOMAIN,     /* the name and all below it */
    SUBDOMAINS, /* all below it alone */
};

struct rule {
    enum scope scope;
    struct sbox_host host;
    uint16_t port; /* 0: 80 and 443 */
};

struct sbox_allowlist {
    struct rule *rules;
    size_t count;
    size_t room;
    const psl_ctx_t *suffixes; /* libpsl's own copy of the list; not to be freed */
};

struct sbox_allowlist *sbox_allowlist_new(void)
{
    struct sbox_allowlist *a = calloc(1, sizeof *a);
    if (a)
        a->suffixes = psl_builtin();
    return a;
}

void sbox_allowlist_free(struct sbox_allowlist *a)
{
    if (a)
        free(a->rules);
    free(a);
}

/* -- rules ------------------------------------------------------------------------------------- */

static int no_host(const char *rule, struct sbox_error *err)
{
    return sbox_error_say(err, EINVAL,
                          "'%s' is no HOST[:PORT]: write example.com, *.example.com, "
                          "example.com:8443, 192.0.2.1:5432 or [2001:db8::1]:8080",
                          sbox_esc(rule));
}

static bool single_label(const struct sbox_host *h)
{
    return h->address.family == 0 && strchr(h->name, '.') == NULL;
}

/* A public suffix covers the names of strangers. What the list does not know at all (.test,
 * .internal) is no suffix of anybody's: a rule for a name below it is fine. */
static bool is_suffix(const struct sbox_allowlist *a, const char *name)
{
    return psl_is_public_suffix2(a->suffixes, name,
                                 PSL_TYPE_ICANN | PSL_TYPE_PRIVATE | PSL_TYPE_NO_STAR_RULE) != 0;
}

static int check_name(const struct sbox_allowlist *a, const char *text, const struct rule *rule,
                      struct sbox_error *err)
{
    const char *name = rule->host.name;
    if (!a->suffixes)
        return sbox_error_say(err, ENOTSUP, "libpsl has no list of public suffixes: rebuild it");
    if (is_suffix(a, name))
        return sbox_error_say(err, EINVAL,
                              "'%s' is a public suffix: it would allow the hosts of everybody who "
                              "registers a name there; list the host itself, like %s.%s",
                              sbox_esc(text), "example", name);
    if (!single_label(&rule->host))
        return 0;
    if (rule->scope == SUBDOMAINS)
        return sbox_error_say(err, EINVAL, "'%s' is too wide: list hosts, like *.example.%s",
                              sbox_esc(text), name);
    if (rule->port == 0)
        return sbox_error_say(err, EINVAL,
                              "'%s' is a name of one label and needs a port: %s:443, or is a "
                              "command where a host should stand?",
                              sbox_esc(text), name);
    return 0;
}

static int parse_host(const char *text, struct rule *rule, struct sbox_error *err)
{
    bool star = text[0] == '*' && text[1] == '.';
    const char *host = star ? text + 2 : text;
    size_t size = strlen(host);
    struct rule r = {0};
    /* Parsed with two defaults: a rule without a port gives two answers. */
    uint16_t other = 0;
    if (sbox_host_port_parse(host, size, 1, &r.host, &r.port) < 0 ||
        sbox_host_port_parse(host, size, 2, &r.host, &other) < 0)
        return no_host(text, err);
    if (r.port != other)
        r.port = 0;
    if (r.host.address.family && star)
        return no_host(text, err);
    r.scope = star ? SUBDOMAINS : r.host.address.family || single_label(&r.host) ? EXACT : DOMAIN;
    *rule = r;
    return 0;
}

static bool same_rule(const struct rule *a, const struct rule *b)
{
    return a->scope == b->scope && a->port == b->port && sbox_host_equal(&a->host, &b->host);
}

int sbox_allowlist_add(struct sbox_allowlist *a, const char *text, struct sbox_error *err)
{
    struct rule rule;
    if (strcmp(text, "*") == 0 || strcmp(text, "*.*") == 0 || strncmp(text, "*:", 2) == 0)
        return sbox_error_say(
            err, EINVAL, "'%s' would allow every host: list those that are needed", sbox_esc(text));
    int r = parse_host(text, &rule, err);
    if (r == 0 && rule.host.address.family == 0)
        r = check_name(a, text, &rule, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < a->count; i++)
        if (same_rule(&a->rules[i], &rule))
            return 0;
    if (a->count == SBOX_NET_RULES_MAX)
        return sbox_error_say(err, E2BIG, "more than %d hosts in the list", SBOX_NET_RULES_MAX);
    if (a->count == a->room) {
        size_t room = a->room ? 2 * a->room : 16;
        void *grown = realloc(a->rules, room * sizeof *a->rules);
        if (!grown)
            return sbox_error_set(err, ENOMEM, "the list of hosts");
        a->rules = grown;
        a->room = room;
    }
    a->rules[a->count++] = rule;
    return 0;
}

size_t sbox_allowlist_count(const struct sbox_allowlist *a)
{
    return a->count;
}

int sbox_allowlist_text(const struct sbox_allowlist *a, size_t i, char *text, size_t size)
{
    const struct rule *rule = &a->rules[i];
    char host[SBOX_HOST_SIZE];
    bool six = rule->host.address.family == 6;
    int n = snprintf(text, size, "%s%s%s%s:", rule->scope == SUBDOMAINS ? "*." : "", six ? "[" : "",
                     sbox_host_format(&rule->host, host), six ? "]" : "");
    if (n < 0 || (size_t)n >= size)
        return -ENAMETOOLONG;
    size_t left = size - (size_t)n;
    int m = rule->port ? snprintf(text + n, left, "%u", rule->port)
                       : snprintf(text + n, left, "80,443");
    return m < 0 || (size_t)m >= left ? -ENAMETOOLONG : 0;
}

/* -- decisions --------------------------------------------------------------------------------- */

/* Is `name` below `domain`? The dot must be there: evilexample.com is nobody's subdomain. */
static bool below(const char *name, const char *domain)
{
    size_t n = strlen(name);
    size_t d = strlen(domain);
    return n > d + 1 && name[n - d - 1] == '.' && memcmp(name + n - d, domain, d) == 0;
}

static bool covers(const struct rule *rule, const struct sbox_host *host)
{
    if (rule->host.address.family || host->address.family)
        return rule->scope == EXACT && sbox_host_equal(&rule->host, host);
    if (rule->scope != SUBDOMAINS && strcmp(rule->host.name, host->name) == 0)
        return true;
    return rule->scope != EXACT && below(host->name, rule->host.name);
}

static bool covers_port(const struct rule *rule, uint16_t port)
{
    return rule->port ? port == rule->port : port == 80 || port == 443;
}

enum sbox_wire_verdict sbox_allowlist_decide(const struct sbox_allowlist *a,
                                             const struct sbox_host *host, uint16_t port)
{
    enum sbox_wire_verdict verdict = SBOX_VERDICT_NAME;
    for (size_t i = 0; i < a->count; i++) {
        if (!covers(&a->rules[i], host))
            continue;
        if (covers_port(&a->rules[i], port))
            return SBOX_VERDICT_ALLOWED;
        verdict = SBOX_VERDICT_PORT;
    }
    return verdict;
}

bool sbox_allowlist_knows(const struct sbox_allowlist *a, const struct sbox_host *host)
{
    for (size_t i = 0; i < a->count; i++)
        if (covers(&a->rules[i], host))
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

/* -- what the gateway needs -------------------------------------------------------------------- */

static void add_port(uint16_t *ports, size_t room, size_t *count, uint16_t port)
{
    size_t at = 0;
    size_t kept = *count < room ? *count : room;
    while (at < kept && ports[at] < port)
        at++;
    if (at < kept && ports[at] == port)
        return;
    if (kept < room) {
        memmove(ports + at + 1, ports + at, (kept - at) * sizeof *ports);
        ports[at] = port;
    }
    ++*count;
}

size_t sbox_allowlist_ports(const struct sbox_allowlist *a, uint16_t *ports, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->rules[i].port) {
            add_port(ports, room, &count, a->rules[i].port);
            continue;
        }
        add_port(ports, room, &count, 80);
        add_port(ports, room, &count, 443);
    }
    return count;
}

size_t sbox_allowlist_literals(const struct sbox_allowlist *a, struct sbox_address *ret,
                               size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct sbox_address *address = &a->rules[i].host.address;
        bool known = address->family == 0;
        for (size_t k = 0; k < i && !known; k++)
            known = sbox_address_equal(&a->rules[k].host.address, address);
        if (known)
            continue;
        if (count < room)
            ret[count] = *address;
        count++;
    }
    return count;
}
