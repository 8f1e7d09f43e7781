#include "cli/net_text.h"

#include "base/cleanup.h"
#include "base/escape.h"

const char *sbox_net_verdict_text(uint8_t verdict)
{
    static const char *const texts[] = {
        [SBOX_VERDICT_ALLOWED] = "allowed",      [SBOX_VERDICT_NAME] = "not listed",
        [SBOX_VERDICT_PORT] = "port not listed", [SBOX_VERDICT_ADDRESS] = "private address",
        [SBOX_VERDICT_SNI] = "other TLS name",   [SBOX_VERDICT_REQUEST] = "bad request",
        [SBOX_VERDICT_FAILED] = "failed",        [SBOX_VERDICT_LIMIT] = "too many connections",
    };
    return verdict < sizeof texts / sizeof *texts ? texts[verdict] : "unknown";
}

const char *sbox_net_way_text(uint8_t way)
{
    static const char *const texts[] = {
        [SBOX_WAY_CONNECT] = "connect",
        [SBOX_WAY_HTTP] = "http",
        [SBOX_WAY_SOCKS] = "socks",
        [SBOX_WAY_TRANSPARENT] = "transparent",
        [SBOX_WAY_DNS] = "dns",
        [SBOX_WAY_PUBLISHED] = "published",
        [SBOX_WAY_HOST_PORT] = "host-port",
    };
    return way < sizeof texts / sizeof *texts ? texts[way] : "unknown";
}

bool sbox_net_refused(const struct sbox_wire_connection *c)
{
    return c->verdict != SBOX_VERDICT_ALLOWED && c->verdict != SBOX_VERDICT_FAILED;
}

static void rule_text(const struct sbox_wire_connection *c, char *text, size_t size)
{
    bool six = strchr(c->host, ':') != NULL;
    bool single = !six && strchr(c->host, '.') == NULL;
    /* A name that was only looked up has no port yet; a single label needs one. */
    uint16_t port = c->port == 0 && single ? 443 : c->port;
    if (port == 0 || ((port == 80 || port == 443) && !single))
        (void)snprintf(text, size, six ? "[%s]" : "%s", c->host);
    else
        (void)snprintf(text, size, six ? "[%s]:%u" : "%s:%u", c->host, port);
}

/* What is advised is pasted into shells. A host in canonical form has no other characters; but
 * these came from a process that reads hostile bytes, or out of a file. */
static bool is_pastable(const char *host)
{
    return host[0] && host[0] != '-' &&
           !host[strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789._-:")];
}

bool sbox_net_rule_for(const struct sbox_wire_connection *c, char *text, size_t size)
{
    if ((c->verdict != SBOX_VERDICT_NAME && c->verdict != SBOX_VERDICT_PORT) ||
        !is_pastable(c->host))
        return false;
    rule_text(c, text, size);
    return true;
}

/* Would --allow-private help? The other classes stay closed to names. */
static bool opens(const struct sbox_address *a)
{
    enum sbox_address_class c = sbox_address_classify(a);
    return c == SBOX_ADDRESS_PUBLIC || c == SBOX_ADDRESS_LOOPBACK || c == SBOX_ADDRESS_PRIVATE ||
           c == SBOX_ADDRESS_LINK_LOCAL || c == SBOX_ADDRESS_CGNAT;
}

/* A public address that was refused can only be this machine's own (proxy/reach.c). */
static const char *what_it_is(const struct sbox_address *a)
{
    enum sbox_address_class c = sbox_address_classify(a);
    return c == SBOX_ADDRESS_PUBLIC ? "this machine's own" : sbox_address_class_text(c);
}

void sbox_net_refusal_text(struct sbox_buf *out, const struct sbox_wire_connection *c)
{
    char rule[SBOX_WIRE_HOST + 16];
    char address[SBOX_ADDRESS_TEXT];
    bool allowed_by_rule = sbox_net_rule_for(c, rule, sizeof rule);
    sbox_buf_addf(out, "refused: ");
    if (c->host[0])
        sbox_buf_add_str(out, sbox_esc(c->host));
    if (c->host[0] && c->port)
        sbox_buf_addf(out, ":%u", c->port);
    switch (c->verdict) {
    case SBOX_VERDICT_NAME:
        sbox_buf_add_str(out, " is not in the list of hosts");
        break;
    case SBOX_VERDICT_PORT:
        sbox_buf_add_str(out, ": the host is in the list, this port is not");
        break;
    case SBOX_VERDICT_ADDRESS:
        sbox_buf_addf(out, " leads to %s, which is not public (%s); list that address itself%s",
                      sbox_address_format(&c->address, address), what_it_is(&c->address),
                      opens(&c->address) ? ", or add --allow-private" : "");
        break;
    case SBOX_VERDICT_SNI:
        sbox_buf_add_str(out, ": TLS asks for another name than was dialled");
        break;
    case SBOX_VERDICT_LIMIT:
        sbox_buf_add_str(out, "too many connections at once");
        break;
    default:
        if (c->error == EPROTONOSUPPORT) {
            sbox_buf_add_str(out,
                             "a client asked the proxy to speak TLS for it (axios does); without "
                             "--proxy-env it connects by itself");
            break;
        }
        sbox_buf_add_str(out, c->host[0] ? ": the request is not understood"
                                         : "a request to the proxy that is not understood");
        break;
    }
    if (allowed_by_rule)
        sbox_buf_addf(out, "; to allow it: -o %s", sbox_esc(rule));
}

int sbox_net_collect(const struct sbox_wire_connection *c, bool needed, struct sbox_strv *rules,
                     bool *private)
{
    char rule[SBOX_WIRE_HOST + 16];
    if (c->verdict == SBOX_VERDICT_ADDRESS && opens(&c->address))
        *private = true;
    bool own = c->way == SBOX_WAY_PUBLISHED || c->way == SBOX_WAY_HOST_PORT;
    if (needed && !own && is_pastable(c->host) && c->verdict != SBOX_VERDICT_REQUEST)
        rule_text(c, rule, sizeof rule);
    else if (!sbox_net_rule_for(c, rule, sizeof rule))
        return 0;
    return sbox_strv_contains(rules, rule) ? 0 : sbox_strv_add(rules, rule);
}
