#include "cli/net_options.h"

#include "base/cleanup.h"
#include "base/escape.h"

static int port_of(const char *text, uint16_t *ret)
{
    unsigned long long value;
    if (text[0] == '0' || sbox_parse_u64(text, UINT16_MAX, &value) < 0 || value == 0)
        return -EINVAL;
    *ret = (uint16_t)value;
    return 0;
}

int sbox_net_port_parse(const char *text, uint16_t *ret, struct sbox_error *err)
{
    if (port_of(text, ret) < 0)
        return sbox_error_say(err, EINVAL, "'--allow-host-port' takes a port, 1 to 65535, not '%s'",
                              sbox_esc(text));
    return 0;
}

/* Cuts the address off the front: "[::1]:80" and "127.0.0.1:80:80". What follows is returned; NULL:
 * there is a bracket and it is wrong. */
static char *cut_address(char *text, const char **ret_address)
{
    *ret_address = NULL;
    if (text[0] == '[') {
        char *end = strstr(text, "]:");
        if (!end)
            return NULL;
        *end = '\0';
        *ret_address = text + 1;
        return end + 2;
    }
    char *colon = strchr(text, ':');
    if (!colon || !memchr(text, '.', (size_t)(colon - text)))
        return text;
    *colon = '\0';
    *ret_address = text;
    return colon + 1;
}

static int parse(char *text, struct sbox_proxy_publish *ret)
{
    struct sbox_proxy_publish p = {0};
    const char *address;
    char *ports = cut_address(text, &address);
    if (!ports || sbox_address_parse(address ? address : "127.0.0.1", &p.address) < 0)
        return -EINVAL;
    char *colon = strchr(ports, ':');
    if (colon)
        *colon = '\0';
    if (port_of(ports, &p.outside) < 0 || port_of(colon ? colon + 1 : ports, &p.inside) < 0)
        return -EINVAL;
    *ret = p;
    return 0;
}

int sbox_net_publish_parse(const char *text, struct sbox_proxy_publish *ret, struct sbox_error *err)
{
    _cleanup_free_ char *copy = strdup(text);
    if (!copy)
        return sbox_error_set(err, ENOMEM, "--publish");
    if (parse(copy, ret) < 0)
        return sbox_error_say(err, EINVAL,
                              "'--publish' takes [ADDR:]PORT[:PORT] (3000, 8080:3000, "
                              "0.0.0.0:8080:3000, [::1]:3000), not '%s'",
                              sbox_esc(text));
    return 0;
}
