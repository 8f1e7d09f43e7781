/* Which hosts do the settings and lockfiles of package clients name? Readers of text for the
 * shortcuts of --allow-net-out (@npm ...): pure, bounded by their input, no recursion. They find
 * URLs, not meanings: a host counts when its URL stands behind one of the reader's keys.
 *
 * URL syntax: RFC 3986; schemes with a prefix (git+https, registry+https, sparse+https) count as
 * what stands behind the plus; git's scp-like HOST:PATH: git-clone(1). */
#ifndef SBOX_PROJECT_HOSTS_H
#define SBOX_PROJECT_HOSTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { SBOX_HOSTS_FILE_MAX = 64 << 20, SBOX_HOST_PORT_SIZE = 272 };

/* `host` is HOST:PORT, an IPv6 address in brackets; `setting`: what stands before the URL on its
 * line is `key` and no more (then it is the client's default registry, not one of several). A
 * negative return ends the walk and is returned. */
typedef int sbox_hosts_each(const char *host, bool setting, void *context);

struct sbox_hosts_reader {
    const char *const *keys; /* NULL-terminated, in small letters; NULL: every URL counts */
    const char *setting;     /* the key that names the default; NULL: none does */
    bool continued;          /* an indented line goes on with the value of the key above */
};

/* Line by line; lines that begin with '#', ';' or "//" are comments. */
int sbox_hosts_in_lines(const struct sbox_hosts_reader *reader, const char *data, size_t size,
                        sbox_hosts_each *each, void *context);
/* git-config(1): remotes, and what url.<base>.insteadOf puts in the place of others. -EBADMSG for
 * what is not understood. */
int sbox_hosts_in_git(const char *data, size_t size, sbox_hosts_each *each, void *context);
/* Every URL in a text. */
int sbox_hosts_in_text(const char *data, size_t size, sbox_hosts_each *each, void *context);
/* One value: a URL, or with `scp` also user@host:path. 0 and no call when it is neither. */
int sbox_hosts_in_value(const char *value, size_t size, bool scp, sbox_hosts_each *each,
                        void *context);

#endif
