/* SOCKS 5 on the proxy's port: greeting, request, tunnel. */
#include "proxy/front.h"

#include "base/fd.h"
#include "proxy/names.h"
#include "proxy/socks.h"

static uint8_t code_of(enum sbox_wire_verdict verdict, int error)
{
    switch (verdict) {
    case SBOX_VERDICT_ALLOWED:
        return SBOX_SOCKS_OK;
    case SBOX_VERDICT_NAME:
    case SBOX_VERDICT_PORT:
    case SBOX_VERDICT_ADDRESS:
    case SBOX_VERDICT_SNI:
        return SBOX_SOCKS_NOT_ALLOWED;
    case SBOX_VERDICT_FAILED:
        return error == ECONNREFUSED ? SBOX_SOCKS_REFUSED : SBOX_SOCKS_HOST_UNREACHABLE;
    case SBOX_VERDICT_REQUEST:
    case SBOX_VERDICT_LIMIT:
        break;
    }
    return SBOX_SOCKS_FAILURE;
}

static void refuse(struct sbox_front *f, uint8_t code, enum sbox_wire_verdict verdict, int error)
{
    uint8_t reply[10];
    size_t size = sbox_socks_reply(code, reply);
    sbox_front_finish(f, reply, size, verdict, error);
}

static void on_reached(void *context, int fd, enum sbox_wire_verdict verdict, int error)
{
    struct sbox_front *f = context;
    uint8_t reply[10];
    f->reach = NULL;
    if (fd < 0) {
        refuse(f, code_of(verdict, error), verdict, error);
        return;
    }
    size_t size = sbox_socks_reply(SBOX_SOCKS_OK, reply);
    if (sbox_front_say(f, reply, size))
        sbox_front_tunnel(f, fd);
    else
        sbox_close(fd);
}

static void read_request(struct sbox_front *f)
{
    int r = sbox_socks_request(f->bytes, f->size, &f->host, &f->port);
    if (r == 0)
        return;
    sbox_front_hold(f);
    sbox_flow_begin(&f->flow, f->server, SBOX_WAY_SOCKS);
    if (r < 0) {
        if (r <= -1000)
            refuse(f, (uint8_t)(-r - 1000), SBOX_VERDICT_REQUEST, EINVAL);
        else
            sbox_front_close(f, SBOX_VERDICT_REQUEST, EINVAL);
        return;
    }
    sbox_front_drop(f, (size_t)r);
    (void)sbox_names_restore(f->server->names, &f->host);
    enum sbox_wire_verdict v = sbox_reach_start(f->server, SBOX_REACH_TUNNEL, &f->host, f->port,
                                                &f->flow, on_reached, f, &f->reach);
    if (v != SBOX_VERDICT_ALLOWED)
        refuse(f, code_of(v, EACCES), v, EACCES);
}

void sbox_socks_read(struct sbox_front *f)
{
    static const uint8_t none[] = {5, 0xff};
    static const uint8_t chosen[] = {5, 0};
    int r = sbox_socks_greeting(f->bytes, f->size);
    if (r == 0)
        return;
    if (r == -EACCES) {
        sbox_front_hold(f);
        sbox_front_finish(f, none, sizeof none, SBOX_VERDICT_REQUEST, EINVAL);
        return;
    }
    if (r < 0) {
        sbox_front_close(f, SBOX_VERDICT_REQUEST, EINVAL);
        return;
    }
    sbox_front_drop(f, (size_t)r);
    f->read = read_request;
    if (sbox_front_say(f, chosen, sizeof chosen))
        read_request(f);
}
