/* DNS as the sandbox's resolver speaks it: it reads one question and writes one answer, from the
 * table of synthetic addresses; nothing is ever forwarded. Pure. RFC 1035, 2308, 3596, 6891, 8482,
 * 9460. Exactly one question, class IN, no compression in it, opcode QUERY; EDNS is understood. */
#ifndef SBOX_PROXY_DNS_H
#define SBOX_PROXY_DNS_H

#include "proxy/host.h"

enum { SBOX_DNS_MAX = 1232, SBOX_DNS_A = 1, SBOX_DNS_AAAA = 28, SBOX_DNS_PTR = 12 };

struct sbox_dns_query {
    uint16_t id;
    uint16_t type;
    bool recursion;
    bool edns;
    bool dnssec_ok;        /* of EDNS; copied into the answer (RFC 3225) */
    size_t question_size;  /* bytes of the question section, copied into the answer; 0: none */
    struct sbox_host host; /* a name; "" when it is no host name (also an address): NXDOMAIN */
};

enum sbox_dns_answer {
    SBOX_DNS_ADDRESS, /* with `address` */
    SBOX_DNS_NODATA,
    SBOX_DNS_NXDOMAIN,
    SBOX_DNS_FORMERR,
    SBOX_DNS_NOTIMP,
    SBOX_DNS_REFUSED,
};

/* 0; -EINVAL: answer FORMERR; -EOPNOTSUPP: NOTIMP (another opcode or class); after both *ret is
 * good for sbox_dns_write and for nothing else. -EBADMSG: do not answer (shorter than a header, or
 * itself an answer). A second question, records before the additional section, anything there but
 * one OPT of version 0, and bytes after the end are format errors. */
int sbox_dns_parse(const uint8_t *data, size_t size, struct sbox_dns_query *ret);

/* Writes the answer to `query` (the bytes that were parsed); returns its size, well below the 512
 * bytes that UDP carries without EDNS. Time to live 5 s; SOA of the root in negative answers. An
 * address of the family that was not asked for is NODATA. */
size_t sbox_dns_write(const uint8_t *query, size_t size, const struct sbox_dns_query *q,
                      enum sbox_dns_answer answer, const struct sbox_address *address,
                      uint8_t out[SBOX_DNS_MAX]);

#endif
