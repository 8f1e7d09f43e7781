/* The allowlist: which hosts and ports a run may reach. Immutable once compiled; deciding is pure.
 *
 * Grammar of a rule: HOST[:PORT]. `example.com` covers its subdomains, `*.example.com` the
 * subdomains alone; without a port 80 and 443. A single label (`localhost`, `db`) needs a port and
 * stands for itself alone. Refused: a public suffix (libpsl, ICANN and private section; the newer
 * of the system's list and the built-in one), `*`, an address that is unspecified, multicast or in
 * sbox's own range inside. Another IP address stands for itself alone, in whatever spelling: a name
 * never matches a rule by address and an address never one by name. */
#ifndef SBOX_PROXY_ALLOWLIST_H
#define SBOX_PROXY_ALLOWLIST_H

#include "base/error.h"
#include "net/wire.h"
#include "proxy/host.h"

struct sbox_allowlist;

struct sbox_allowlist *sbox_allowlist_new(void);
void sbox_allowlist_free(struct sbox_allowlist *a);

/* One element of -o. -EINVAL with a sentence that shows the right spelling; -E2BIG. */
int sbox_allowlist_add(struct sbox_allowlist *a, const char *rule, struct sbox_error *err);
size_t sbox_allowlist_count(const struct sbox_allowlist *a);
/* Rule i in canonical form, "example.com:443" ("example.com:80,443" when no port was given). */
int sbox_allowlist_text(const struct sbox_allowlist *a, size_t i, char *text, size_t size);

/* SBOX_VERDICT_ALLOWED, _NAME or _PORT. What a name leads to is judged apart, by
 * sbox_allowlist_vet. */
enum sbox_wire_verdict sbox_allowlist_decide(const struct sbox_allowlist *a,
                                             const struct sbox_host *host, uint16_t port);
/* May this name be resolved at all (for some port)? */
bool sbox_allowlist_knows(const struct sbox_allowlist *a, const struct sbox_host *host);
/* May a name that was allowed lead there? Public addresses only; with allow_private also private,
 * loopback, CGNAT and link-local, but never metadata, multicast, unspecified or reserved ones. */
bool sbox_allowlist_vet(const struct sbox_address *address, bool allow_private);

/* The distinct ports, ascending, at most `room`; returns how many there are. */
size_t sbox_allowlist_ports(const struct sbox_allowlist *a, uint16_t *ports, size_t room);
/* The distinct addresses that rules list, at most `room`; returns how many there are. */
size_t sbox_allowlist_literals(const struct sbox_allowlist *a, struct sbox_address *ret,
                               size_t room);

#endif
