/* One element of the allowlist (allowlist.h has the grammar): from the user's text, to the
 * canonical one. */
#ifndef SBOX_PROXY_RULE_H
#define SBOX_PROXY_RULE_H

#include "base/error.h"
#include "proxy/host.h"

#include <libpsl.h>

enum sbox_rule_scope {
    SBOX_RULE_EXACT,      /* an address, or a name of one label */
    SBOX_RULE_DOMAIN,     /* the name and all below it */
    SBOX_RULE_SUBDOMAINS, /* all below it alone */
};

struct sbox_rule {
    enum sbox_rule_scope scope;
    struct sbox_host host;
    uint16_t port; /* 0: 80 and 443 */
};

/* -EINVAL with a sentence that shows the right spelling; -ENOTSUP: `suffixes` is NULL. */
int sbox_rule_parse(const char *text, const psl_ctx_t *suffixes, struct sbox_rule *ret,
                    struct sbox_error *err);
/* "example.com:80,443", "*.example.com:8443", "[::1]:8080"; -ENAMETOOLONG. */
int sbox_rule_text(const struct sbox_rule *rule, char *text, size_t size);

bool sbox_rule_equal(const struct sbox_rule *a, const struct sbox_rule *b);
bool sbox_rule_covers(const struct sbox_rule *rule, const struct sbox_host *host);
bool sbox_rule_covers_port(const struct sbox_rule *rule, uint16_t port);

#endif
