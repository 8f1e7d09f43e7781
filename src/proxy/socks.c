#include "proxy/socks.h"

#include "base/buf.h"
#include "base/error.h"

enum {
    VERSION = 5,
    NO_AUTHENTICATION = 0,
    CONNECT = 1,
    TYPE_IPV4 = 1,
    TYPE_NAME = 3,
    TYPE_IPV6 = 4
};

int sbox_socks_greeting(const uint8_t *data, size_t size)
{
    if (size >= 1 && data[0] != VERSION)
        return -EINVAL;
    if (size < 2 || size < 2U + data[1])
        return 0;
    return memchr(data + 2, NO_AUTHENTICATION, data[1]) ? 2 + data[1] : -EACCES;
}

static int answer(int code)
{
    return -(1000 + code);
}

/* Version, command, a reserved zero. Judged byte by byte, so that a client that sends no more after
 * a wrong one is told. */
static int check_command(const uint8_t *data, size_t size)
{
    if (size >= 1 && data[0] != VERSION)
        return -EINVAL;
    if (size >= 2 && data[1] != CONNECT)
        return answer(SBOX_SOCKS_COMMAND);
    if (size >= 3 && data[2] != 0)
        return -EINVAL;
    return size >= 3;
}

static int parse_name(struct sbox_reader *in, struct sbox_host *ret)
{
    uint8_t length = sbox_reader_byte(in);
    const char *name = sbox_reader_bytes(in, length);
    if (!name)
        return 0;
    return sbox_host_parse(name, length, ret) < 0 ? answer(SBOX_SOCKS_FAILURE) : 1;
}

static int parse_bytes(struct sbox_reader *in, uint8_t family, size_t size, struct sbox_host *ret)
{
    const void *bytes = sbox_reader_bytes(in, size);
    if (!bytes)
        return 0;
    ret->address.family = family;
    memcpy(ret->address.bytes, bytes, size);
    return 1;
}

static int parse_address(struct sbox_reader *in, struct sbox_host *ret)
{
    if (sbox_reader_left(in) == 0)
        return 0;
    switch (sbox_reader_byte(in)) {
    case TYPE_IPV4:
        return parse_bytes(in, 4, 4, ret);
    case TYPE_NAME:
        return parse_name(in, ret);
    case TYPE_IPV6:
        return parse_bytes(in, 6, 16, ret);
    default:
        return answer(SBOX_SOCKS_ADDRESS_TYPE);
    }
}

int sbox_socks_request(const uint8_t *data, size_t size, struct sbox_host *ret, uint16_t *ret_port)
{
    int r = check_command(data, size);
    if (r <= 0)
        return r;
    struct sbox_host host = {0};
    struct sbox_reader in = sbox_reader_of(data + 3, size - 3);
    r = parse_address(&in, &host);
    if (r <= 0)
        return r;
    const uint8_t *port = sbox_reader_bytes(&in, 2);
    if (!port)
        return 0;
    if (port[0] == 0 && port[1] == 0)
        return answer(SBOX_SOCKS_FAILURE);
    *ret = host;
    *ret_port = (uint16_t)(port[0] << 8 | port[1]);
    return (int)(size - sbox_reader_left(&in));
}

size_t sbox_socks_reply(uint8_t code, uint8_t reply[10])
{
    const uint8_t bytes[10] = {VERSION, code, 0, TYPE_IPV4, 0, 0, 0, 0, 0, 0};
    memcpy(reply, bytes, sizeof bytes);
    return sizeof bytes;
}
