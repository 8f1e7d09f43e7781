/* /etc/hosts of a run with a network. libc reads it before it asks for a name, so a name of the
 * list that stands there too would lead to an address that does not exist inside; sbox-proxy reads
 * the host's file for such a name. Inside stay the lines of loopback, and the machine's own name,
 * which many programs look up, on a loopback address. */
#include "sandbox/facts.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "net/address.h"

#include <fcntl.h>
#include <limits.h>

enum { HOSTS_MAX = 1 << 20 };

static const char own_address[] = "127.0.1.1"; /* Debian's custom */

static bool stays(const struct sbox_address *a)
{
    enum sbox_address_class c = sbox_address_classify(a);
    return c == SBOX_ADDRESS_LOOPBACK || c == SBOX_ADDRESS_UNSPECIFIED ||
           c == SBOX_ADDRESS_MULTICAST;
}

/* `host` itself or `host.` and more. */
static bool is_own_name(const char *name, size_t size, const char *host)
{
    size_t n = strlen(host);
    return n > 0 && size >= n && strncmp(name, host, n) == 0 && (size == n || name[n] == '.');
}

/* The next word of a line, up to a comment; false at its end. */
static bool next_word(const char **at, const char *end, const char **ret, size_t *ret_size)
{
    const char *p = *at;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    *ret = p;
    while (p < end && *p != ' ' && *p != '\t' && *p != '\r' && *p != '#')
        p++;
    *ret_size = (size_t)(p - *ret);
    *at = p;
    return *ret_size > 0;
}

/* True when the line was left out or changed. */
static bool add_line(struct sbox_buf *out, const char *line, const char *end, const char *host)
{
    char text[SBOX_ADDRESS_TEXT];
    struct sbox_address a;
    const char *at = line;
    const char *word;
    size_t size;
    bool has = next_word(&at, end, &word, &size);
    if (has && size < sizeof text) {
        memcpy(text, word, size);
        text[size] = '\0';
    }
    if (!has || (size < sizeof text && sbox_address_parse(text, &a) == 0 && stays(&a))) {
        sbox_buf_add(out, line, (size_t)(end - line));
        sbox_buf_add_byte(out, '\n');
        return false;
    }
    while (next_word(&at, end, &word, &size))
        if (is_own_name(word, size, host))
            sbox_buf_addf(out, "%s %.*s\n", own_address, (int)size, word);
    return true;
}

bool sbox_hosts_inside(const char *text, const char *host, struct sbox_buf *out)
{
    bool changed = false;
    for (const char *line = text; *line;) {
        const char *end = strchrnul(line, '\n');
        changed |= add_line(out, line, end, host);
        line = *end ? end + 1 : end;
    }
    return changed;
}

int sbox_facts_hosts(struct sbox_facts *facts)
{
    char path[PATH_MAX];
    char host[HOST_NAME_MAX + 1] = "";
    _cleanup_free_ char *text = NULL;
    _cleanup_buf_ struct sbox_buf out = {0};
    size_t size = 0;
    if (!realpath("/etc/hosts", path) ||
        sbox_read_file_at(AT_FDCWD, path, HOSTS_MAX, &text, &size) < 0 || strlen(text) != size)
        return 0; /* nobody reads it inside either */
    (void)gethostname(host, sizeof host - 1);
    if (!sbox_hosts_inside(text, host, &out))
        return 0;
    facts->hosts = strdup(path);
    facts->hosts_text = out.size > 0 ? sbox_buf_take_str(&out) : strdup("");
    return facts->hosts && facts->hosts_text ? 0 : -ENOMEM;
}
