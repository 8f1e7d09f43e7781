#include "proxy/host.h"

#include "base/error.h"

#include <idn2.h>

enum { TEXT_MAX = 512, LABEL_MAX = 63, PORT_DIGITS = 5 };

/* ASCII as it stands in a canonical name. */
static bool is_plain(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0';
}

static void lower(char *text)
{
    for (; *text; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text |= 0x20;
}

static bool has_a_label(const char *name)
{
    return strncmp(name, "xn--", 4) == 0 || strstr(name, ".xn--") != NULL;
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

/* A label that is an A-label already is what the DNS holds: it need only be sound punycode, also
 * where this version of IDNA would not make it (emoji, newer scripts). */
static int idna(const char *text, char name[TEXT_MAX])
{
    char *mapped = NULL;
    int flags = IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL | IDN2_NO_ALABEL_ROUNDTRIP;
    if (idn2_to_ascii_8z(text, &mapped, flags) != IDN2_OK)
        return -EINVAL;
    int n = snprintf(name, TEXT_MAX, "%s", mapped);
    idn2_free(mapped);
    return n < TEXT_MAX ? 0 : -EINVAL;
}

/* Plain ASCII stays out of libidn2, which knows no labels like r3---sn. */
static int to_ascii(char *text, char name[TEXT_MAX])
{
    lower(text);
    if (!is_plain(text) || has_a_label(text))
        return idna(text, name);
    (void)snprintf(name, TEXT_MAX, "%s", text);
    return 0;
}

/* Judged after the mapping: IDNA makes dots, digits, '%' and '/' out of other characters. What has
 * become an address by that is refused like any name that is spelled like a number. */
static int parse_name(char *text, struct sbox_host *ret)
{
    char name[TEXT_MAX];
    struct sbox_address ignored;
    if (to_ascii(text, name) < 0)
        return -EINVAL;
    size_t size = strlen(name);
    if (size > 0 && name[size - 1] == '.')
        name[--size] = '\0';
    if (size >= SBOX_HOST_SIZE || !is_plain(name) || !labels_fit(name) ||
        sbox_address_parse_any(name, &ignored) != -EINVAL)
        return -EINVAL;
    *ret = (struct sbox_host){0};
    memcpy(ret->name, name, size);
    return 0;
}

int sbox_host_parse(const char *text, size_t size, struct sbox_host *ret)
{
    char copy[TEXT_MAX];
    struct sbox_address address;
    if (size == 0 || size >= sizeof copy || memchr(text, '\0', size))
        return -EINVAL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    int r = sbox_address_parse_any(copy, &address);
    if (r == -EINVAL)
        return parse_name(copy, ret);
    if (r < 0)
        return -EINVAL;
    *ret = (struct sbox_host){.address = sbox_address_unmap(&address)};
    return 0;
}

static int parse_port(const char *text, size_t size, uint16_t *ret)
{
    unsigned value = 0;
    if (size == 0 || size > PORT_DIGITS || text[0] == '0')
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
    const char *bracket = size > 0 && text[0] == '[' ? memchr(text, ']', size) : NULL;
    const char *from = bracket ? bracket : text;
    const char *colon = memchr(from, ':', size - (size_t)(from - text));
    size_t host_size = colon ? (size_t)(colon - text) : size;
    uint16_t port = default_port;
    struct sbox_host host;
    if (colon && parse_port(colon + 1, size - host_size - 1, &port) < 0)
        return -EINVAL;
    if (port == 0 || sbox_host_parse(text, host_size, &host) < 0)
        return -EINVAL;
    *ret = host;
    *ret_port = port;
    return 0;
}

const char *sbox_host_format(const struct sbox_host *h, char text[SBOX_HOST_SIZE])
{
    if (h->address.family)
        (void)sbox_address_format(&h->address, text);
    else
        (void)snprintf(text, SBOX_HOST_SIZE, "%s", h->name);
    return text;
}
