/* The allowlist: each line a rule, the last one the HOST:PORT that is asked for. What is allowed is
 * checked against the canonical text of the rules, by a second and simpler reading of it. */
#include "proxy/allowlist.h"

#include "base/cleanup.h"
#include "net/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static void check_message(const struct sbox_error *err)
{
    size_t size = strlen(err->message);
    check(size > 0 && size < sizeof err->message);
    for (size_t i = 0; i < size; i++)
        check((unsigned char)err->message[i] >= ' ' && err->message[i] != 0x7f);
}

static void add(struct sbox_allowlist *a, const char *rule)
{
    size_t before = sbox_allowlist_count(a);
    struct sbox_error err = SBOX_ERROR_INIT;
    int r = sbox_allowlist_add(a, rule, &err);
    size_t after = sbox_allowlist_count(a);
    check(r == 0 || r == -EINVAL || r == -E2BIG);
    check(r == 0 ? after <= before + 1 : after == before);
    if (r < 0)
        check_message(&err);
}

/* Canonical text is a rule that says the same. */
static void check_again(struct sbox_allowlist *a, const char *host, const char *ports)
{
    char rule[SBOX_HOST_SIZE + 16];
    size_t before = sbox_allowlist_count(a);
    (void)snprintf(rule, sizeof rule, strcmp(ports, "80,443") ? "%s:%s" : "%s", host, ports);
    check(sbox_allowlist_add(a, rule, NULL) == 0 && sbox_allowlist_count(a) == before);
}

static bool host_fits(const char *rule, const struct sbox_host *h)
{
    char host[SBOX_HOST_SIZE];
    char text[SBOX_HOST_SIZE + 2];
    size_t rule_size = strlen(rule);
    (void)sbox_host_format(h, host);
    (void)snprintf(text, sizeof text, h->address.family == 6 ? "[%s]" : "%s", host);
    if (strcmp(text, rule) == 0)
        return true;
    bool star = rule[0] == '*';
    if (h->address.family || (!star && !strchr(rule, '.')))
        return false;
    size_t size = strlen(text);
    const char *tail = star ? rule + 1 : rule;
    size_t tail_size = star ? rule_size - 1 : rule_size;
    return size > tail_size && strcmp(text + size - tail_size, tail) == 0 &&
           (star || text[size - tail_size - 1] == '.');
}

static bool port_fits(const char *ports, uint16_t port)
{
    char text[8];
    (void)snprintf(text, sizeof text, "%u", port);
    return strcmp(ports, "80,443") == 0 ? port == 80 || port == 443 : strcmp(ports, text) == 0;
}

static enum sbox_wire_verdict expected(struct sbox_allowlist *a, const struct sbox_host *h,
                                       uint16_t port)
{
    enum sbox_wire_verdict verdict = SBOX_VERDICT_NAME;
    size_t count = sbox_allowlist_count(a);
    for (size_t i = 0; i < count; i++) {
        char text[SBOX_HOST_SIZE + 16];
        check(sbox_allowlist_text(a, i, text, sizeof text) == 0);
        char *colon = strrchr(text, ':');
        check(colon);
        *colon = '\0';
        check_again(a, text, colon + 1);
        if (!host_fits(text, h))
            continue;
        if (port_fits(colon + 1, port))
            return SBOX_VERDICT_ALLOWED;
        verdict = SBOX_VERDICT_PORT;
    }
    return verdict;
}

static void check_sums(const struct sbox_allowlist *a)
{
    uint16_t ports[SBOX_NET_PORTS_MAX];
    struct sbox_address literals[SBOX_NET_LITERALS_MAX];
    size_t count = sbox_allowlist_ports(a, ports, SBOX_NET_PORTS_MAX);
    for (size_t i = 1; i < count && i < SBOX_NET_PORTS_MAX; i++)
        check(ports[i - 1] < ports[i]);
    count = sbox_allowlist_literals(a, literals, SBOX_NET_LITERALS_MAX);
    check(count <= sbox_allowlist_count(a));
    for (size_t i = 0; i < count && i < SBOX_NET_LITERALS_MAX; i++) {
        struct sbox_host h = {.address = literals[i]};
        check(sbox_allowlist_knows(a, &h));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sbox_host h;
    uint16_t port;
    if (size > 4096)
        return 0;
    _cleanup_free_ char *text = strndup((const char *)data, size);
    struct sbox_allowlist *a = sbox_allowlist_new();
    check(text && a);
    char *line = text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        add(a, line);
    }
    if (sbox_host_port_parse(line, strlen(line), 443, &h, &port) == 0) {
        enum sbox_wire_verdict verdict = sbox_allowlist_decide(a, &h, port);
        check(verdict == expected(a, &h, port));
        check(sbox_allowlist_knows(a, &h) == (verdict != SBOX_VERDICT_NAME));
    }
    check_sums(a);
    sbox_allowlist_free(a);
    return 0;
}
