#include "cli/journal_read.h"

#include "base/cleanup.h"

int sbox_journal_of(struct sbox_session *s, const struct sbox_options *o, unsigned limit,
                    const struct sbox_journal_reader *reader, struct sbox_error *err)
{
    _cleanup_journal_ struct sbox_journal *journal = NULL;
    int r = sbox_session_find(s, o, err);
    if (r < 0)
        return r;
    if (s->data.fd < 0)
        return 0;
    r = sbox_journal_open(s->data.fd, s->data.path, false, &journal, err);
    if (r == -ENOENT) {
        *err = SBOX_ERROR_INIT; /* no networked run was ever made */
        return 0;
    }
    return r < 0 ? r : sbox_journal_read(journal, s->root.path, limit, reader, err);
}

void sbox_journal_to_wire(const struct sbox_journal_connection *c, struct sbox_wire_connection *ret)
{
    *ret = (struct sbox_wire_connection){
        .verdict = (uint8_t)c->verdict,
        .way = (uint8_t)c->way,
        .port = (uint16_t)c->port,
        .error = (int32_t)c->error,
        .started_us = (uint64_t)c->started_us,
        .duration_us = (uint64_t)c->duration_us,
        .bytes_out = (uint64_t)c->bytes_out,
        .bytes_in = (uint64_t)c->bytes_in,
    };
    (void)snprintf(ret->host, sizeof ret->host, "%s", c->host);
    (void)sbox_address_parse(c->address, &ret->address);
}
