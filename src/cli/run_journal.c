/* Writes what the run did on the network to journal.db, after the command has ended. */
#include "cli/run.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "store/journal.h"

static void convert(const struct sbox_wire_connection *c, char address[SBOX_ADDRESS_TEXT],
                    struct sbox_journal_connection *ret)
{
    if (c->address.family)
        (void)sbox_address_format(&c->address, address);
    *ret = (struct sbox_journal_connection){
        .host = c->host,
        .address = address,
        .port = c->port,
        .verdict = c->verdict,
        .way = c->way,
        .error = c->error,
        .started_us = (int64_t)c->started_us,
        .duration_us = (int64_t)c->duration_us,
        .bytes_out = (int64_t)c->bytes_out,
        .bytes_in = (int64_t)c->bytes_in,
    };
}

static int write_run(struct sbox_run *run, const struct sbox_journal_run *record,
                     struct sbox_error *err)
{
    const struct sbox_run_network *n = &run->network;
    struct sbox_session *s = &run->session;
    _cleanup_journal_ struct sbox_journal *journal = NULL;
    _cleanup_free_ struct sbox_journal_connection *rows = calloc(n->connection_count, sizeof *rows);
    _cleanup_free_ char *addresses = calloc(n->connection_count, SBOX_ADDRESS_TEXT);
    int r = !rows || !addresses ? sbox_error_set(err, ENOMEM, "journal")
                                : sbox_session_make_data(s, err);
    for (size_t i = 0; r == 0 && i < n->connection_count; i++)
        convert(&n->connections[i], addresses + i * SBOX_ADDRESS_TEXT, &rows[i]);
    if (r == 0)
        r = sbox_journal_open(s->data.fd, s->data.path, true, &journal, err);
    return r < 0
               ? r
               : sbox_journal_write(journal, s->root.path, record, rows, n->connection_count, err);
}

void sbox_run_journal(struct sbox_run *run, int status)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    const struct sbox_run_network *n = &run->network;
    if (n->connection_count == 0)
        return;
    const struct sbox_journal_run record = {
        .program = run->policy.command[0],
        .started_us = n->started_us,
        .duration_us = sbox_run_network_clock() - n->started_us,
        .status = status,
        .omitted = (int64_t)n->omitted,
    };
    /* Nothing depends on it: a full disk must not change what the command's status says. */
    if (write_run(run, &record, &err) < 0)
        sbox_note("the run's connections are not recorded: %s", err.message);
}
