#include "proxy/rule.h"

#include "base/escape.h"
#include "net/layout.h"

enum { QUOTE_MAX = 64 }; /* bytes of the user's text in a sentence: the advice must fit, too */

static const char *quote(const char *text)
{
    return sbox_esc_n(text, strnlen(text, QUOTE_MAX));
}

static const char *what_is_wrong(const char *text)
{
    struct sbox_host ignored;
    size_t host = strcspn(text, ":");
    if (text[0] == '\0')
        return "is empty";
    if (strstr(text, "://"))
        return "is a URL, not a host";
    if (strchr(text, '*'))
        return "has a '*' that is not '*.' before a name";
    if (text[0] != '[' && text[host] == ':' && strchr(text + host + 1, ':'))
        return "needs brackets, if it is an IPv6 address";
    if (text[host] == ':' && sbox_host_parse(text, host, &ignored) == 0)
        return "has a port that is no number from 1 to 65535";
    return "is no host name or address";
}

static int refuse(const char *text, struct sbox_error *err)
{
    return sbox_error_say(err, EINVAL,
                          "'%s' %s: write example.com, *.example.com, example.com:8443, "
                          "192.0.2.1:5432 or [2001:db8::1]:8080",
                          quote(text), what_is_wrong(text));
}

static bool has_one_label(const struct sbox_host *h)
{
    return h->address.family == 0 && strchr(h->name, '.') == NULL;
}

/* Addresses that a connection cannot lead to, or not to what the user means: 0.0.0.0 would be the
 * host's loopback, and what is sbox's own inside never reaches the proxy as an address. */
static int check_address(const char *text, const struct sbox_address *a, struct sbox_error *err)
{
    struct sbox_address inside4;
    struct sbox_address inside6;
    enum sbox_address_class class = sbox_address_classify(a);
    if (class == SBOX_ADDRESS_UNSPECIFIED || class == SBOX_ADDRESS_MULTICAST)
        return sbox_error_say(
            err, EINVAL,
            "'%s' is no address of a host (%s): list the address that is dialled, "
            "like 127.0.0.1:5432",
            quote(text), sbox_address_class_text(class));
    if (sbox_address_parse(SBOX_NET_RANGE4, &inside4) < 0 ||
        sbox_address_parse(SBOX_NET_RANGE6, &inside6) < 0 ||
        sbox_address_within(a, &inside4, SBOX_NET_PREFIX4) ||
        sbox_address_within(a, &inside6, SBOX_NET_PREFIX6))
        return sbox_error_say(err, EINVAL,
                              "'%s' is in the range that sbox uses inside (%s/%d, %s/%d): list the "
                              "host by name, like db.example.com:5432",
                              quote(text), SBOX_NET_RANGE4, SBOX_NET_PREFIX4, SBOX_NET_RANGE6,
                              SBOX_NET_PREFIX6);
    return 0;
}

/* What the list of suffixes does not know at all (.test, .internal) is nobody's registry: a name
 * below it is fine. Its rule "*" would make a suffix of it. */
static bool is_public_suffix(const psl_ctx_t *suffixes, const char *name)
{
    return psl_is_public_suffix2(suffixes, name, PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) != 0;
}

static int check_name(const char *text, const struct sbox_rule *rule, const psl_ctx_t *suffixes,
                      struct sbox_error *err)
{
    const char *name = rule->host.name;
    if (!suffixes)
        return sbox_error_say(err, ENOTSUP, "libpsl has no list of public suffixes");
    if (is_public_suffix(suffixes, name))
        return sbox_error_say(err, EINVAL,
                              "'%s' is a public suffix, where anybody can have a name: list the "
                              "host itself, like example.%s",
                              quote(text), name);
    if (!has_one_label(&rule->host))
        return 0;
    if (rule->scope == SBOX_RULE_SUBDOMAINS)
        return sbox_error_say(err, EINVAL, "'%s' is too wide: list hosts, like *.example.%s",
                              quote(text), name);
    if (rule->port == 0)
        return sbox_error_say(err, EINVAL,
                              "'%s' is a name of one label and needs a port, like %s:443 (or does "
                              "a command stand where the hosts should?)",
                              quote(text), name);
    return 0;
}

static int split(const char *text, struct sbox_rule *ret)
{
    bool star = text[0] == '*' && text[1] == '.';
    const char *host = star ? text + 2 : text;
    size_t size = strlen(host);
    struct sbox_rule r = {0};
    /* Without a default the port must be there; with any it need not be, and 0 is kept for that. */
    if (sbox_host_port_parse(host, size, 0, &r.host, &r.port) < 0) {
        uint16_t ignored;
        if (sbox_host_port_parse(host, size, 1, &r.host, &ignored) < 0)
            return -EINVAL;
    }
    bool address = r.host.address.family != 0;
    if (star && address)
        return -EINVAL;
    r.scope = star                                ? SBOX_RULE_SUBDOMAINS
              : address || has_one_label(&r.host) ? SBOX_RULE_EXACT
                                                  : SBOX_RULE_DOMAIN;
    *ret = r;
    return 0;
}

int sbox_rule_parse(const char *text, const psl_ctx_t *suffixes, struct sbox_rule *ret,
                    struct sbox_error *err)
{
    struct sbox_rule rule;
    if (strcmp(text, "*") == 0 || strncmp(text, "*:", 2) == 0)
        return sbox_error_say(
            err, EINVAL,
            "'%s' would allow every host: list those that are needed, like example.com",
            quote(text));
    if (split(text, &rule) < 0)
        return refuse(text, err);
    int r = rule.host.address.family ? check_address(text, &rule.host.address, err)
                                     : check_name(text, &rule, suffixes, err);
    if (r == 0)
        *ret = rule;
    return r;
}

int sbox_rule_text(const struct sbox_rule *rule, char *text, size_t size)
{
    char host[SBOX_HOST_SIZE];
    char ports[8] = "80,443";
    bool six = rule->host.address.family == 6;
    if (rule->port)
        (void)snprintf(ports, sizeof ports, "%u", rule->port);
    int n = snprintf(text, size, "%s%s%s%s:%s", rule->scope == SBOX_RULE_SUBDOMAINS ? "*." : "",
                     six ? "[" : "", sbox_host_format(&rule->host, host), six ? "]" : "", ports);
    return n >= 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

bool sbox_rule_equal(const struct sbox_rule *a, const struct sbox_rule *b)
{
    return a->scope == b->scope && a->port == b->port && sbox_host_equal(&a->host, &b->host);
}

/* Is `name` below `domain`? The dot must be there: evilexample.com is nobody's subdomain. */
static bool is_below(const char *name, const char *domain)
{
    size_t n = strlen(name);
    size_t d = strlen(domain);
    return n > d && name[n - d - 1] == '.' && memcmp(name + n - d, domain, d) == 0;
}

bool sbox_rule_covers(const struct sbox_rule *rule, const struct sbox_host *host)
{
    if (rule->host.address.family || host->address.family)
        return sbox_host_equal(&rule->host, host);
    if (rule->scope != SBOX_RULE_SUBDOMAINS && strcmp(rule->host.name, host->name) == 0)
        return true;
    return rule->scope != SBOX_RULE_EXACT && is_below(host->name, rule->host.name);
}

bool sbox_rule_covers_port(const struct sbox_rule *rule, uint16_t port)
{
    return rule->port ? port == rule->port : port == 80 || port == 443;
}
