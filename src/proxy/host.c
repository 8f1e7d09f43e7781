#include "proxy/host.h"

#include "base/error.h"

#include <idn2.h>

enum { TEXT_MAX = 512, LABEL_MAX = 63 };

/* What IDNA must not even see: it maps some of it away (a soft hyphen, a full-width dot are fine:
 * they end up as what they mean), but these have a meaning of their own in URLs and on terminals.
 */
static bool has_forbidden(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c <= ' ' || c == 0x7f || (c < 0x80 && strchr("%@/\\?#:[]<>|^\"'`{}!$&()*+,;=~", c)))
            return true;
    }
    return false;
}

/* Lower-case ASCII already: letters, digits, hyphens, underscores, dots. */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (!((*text >= 'a' && *text <= 'z') || (*text >= '0' && *text <= '9') || *text == '-' ||
              *text == '_' || *text == '.'))
            return false;
    return true;
}

static bool labels_fit(const char *name)
{
    for (const char *at = name;;) {
        size_t size = strcspn(at, ".");
        if (size == 0 || size > LABEL_MAX || at[0] == '-' || at[size - 1] == '-')
            return false;
        if (at[size] == '\0')
            return true;
        at += size + 1;
    }
}

static void lower(char *text)
{
    for (; *text; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text = (char)(*text - 'A' + 'a');
}

static bool has_a_label(const char *name)
{
    return strncmp(name, "xn--", 4) == 0 || strstr(name, ".xn--") != NULL;
}

/* To A-labels. Names of plain ASCII without any stay as they are: underscores would not pass. */
static int to_ascii(const char *text, char name[SBOX_HOST_SIZE])
{
    char *mapped = NULL;
    if (is_plain(text) && !has_a_label(text)) {
        if (strlen(text) >= SBOX_HOST_SIZE)
            return -EINVAL;
        (void)snprintf(name, SBOX_HOST_SIZE, "%s", text);
        return 0;
    }
    int r = idn2_to_ascii_8z(text, &mapped, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (r != IDN2_OK)
        return -EINVAL;
    bool fits = strlen(mapped) < SBOX_HOST_SIZE && is_plain(mapped);
    if (fits)
        (void)snprintf(name, SBOX_HOST_SIZE, "%s", mapped);
    idn2_free(mapped);
    return fits ? 0 : -EINVAL;
}

static int parse_name(char *text, struct sbox_host *ret)
{
    struct sbox_host h = {0};
    struct sbox_address ignored;
    size_t size = strlen(text);
    if (size > 0 && text[size - 1] == '.')
        text[size - 1] = '\0';
    lower(text);
    if (to_ascii(text, h.name) < 0 || !labels_fit(h.name))
        return -EINVAL;
    /* IDNA turns other scripts' digits and dots into ASCII: the result may be an address now. */
    if (sbox_address_parse_any(h.name, &ignored) != -EINVAL)
        return -EINVAL;
    *ret = h;
    return 0;
}

int sbox_host_parse(const char *text, size_t size, struct sbox_host *ret)
{
    char copy[TEXT_MAX];
    struct sbox_host h = {0};
    if (size == 0 || size >= sizeof copy || memchr(text, '\0', size))
        return -EINVAL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    /* A colon or brackets: IPv6 or nothing. Brackets around anything else are no host. */
    bool bracketed = copy[0] == '[';
    if (bracketed && (copy[size - 1] != ']' || !memchr(copy, ':', size)))
        return -EINVAL;
    int r = sbox_address_parse_any(copy, &h.address);
    if (r == -ERANGE || (r < 0 && has_forbidden(copy, size)))
        return -EINVAL;
    if (r < 0)
        return parse_name(copy, ret);
    *ret = h;
    return 0;
}

static int parse_port(const char *text, size_t size, uint16_t *ret)
{
    unsigned value = 0;
    if (size == 0 || size > 5 || text[0] == '0')
        return -EINVAL;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -EINVAL;
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    if (value > UINT16_MAX)
        return -EINVAL;
    *ret = (uint16_t)value;
    return 0;
}

int sbox_host_port_parse(const char *text, size_t size, uint16_t default_port,
                         struct sbox_host *ret, uint16_t *ret_port)
{
    const char *from = size > 0 && text[0] == '[' ? memchr(text, ']', size) : text;
    if (!from)
        return -EINVAL;
    const char *colon = memchr(from, ':', size - (size_t)(from - text));
    /* A second colon without brackets: IPv6 alone, which says nothing of a port. */
    if (colon && from == text && memchr(colon + 1, ':', size - (size_t)(colon + 1 - text)))
        colon = NULL;
    uint16_t port = default_port;
    size_t host = colon ? (size_t)(colon - text) : size;
    if (colon && parse_port(colon + 1, size - host - 1, &port) < 0)
        return -EINVAL;
    if (port == 0 || sbox_host_parse(text, host, ret) < 0)
        return -EINVAL;
    *ret_port = port;
    return 0;
}

const char *sbox_host_format(const struct sbox_host *h, char text[SBOX_HOST_SIZE])
{
    if (h->address.family) {
        char address[SBOX_ADDRESS_TEXT];
        (void)snprintf(text, SBOX_HOST_SIZE, "%s", sbox_address_format(&h->address, address));
    } else {
        (void)snprintf(text, SBOX_HOST_SIZE, "%s", h->name);
    }
    return text;
}
