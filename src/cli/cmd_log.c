/* sbox log --net: the networked runs of the project, from journal.db. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/journal_read.h"
#include "cli/log_locks.h"
#include "cli/net_text.h"
#include "cli/report.h"
#include "cli/text.h"

enum { LATEST = 20, US = 1000000 };

/* Connections to the same host with the same outcome are one line. */
struct line {
    struct sbox_wire_connection sum;
    uint64_t count;
};

struct log {
    struct sbox_report *report;
    bool json;
    bool in_run;
    struct line *lines; /* of the current run */
    size_t count;
    size_t room;
};

/* ---- text ---- */

/* Of one width. A published port is reached from the host: the sandbox only served. */
static const char *outcome(const struct sbox_wire_connection *c)
{
    if (sbox_net_refused(c))
        return "refused";
    if (c->verdict == SBOX_VERDICT_FAILED)
        return "failed ";
    return c->way == SBOX_WAY_PUBLISHED ? "served " : "reached";
}

static void add_line(struct sbox_buf *out, const struct line *l)
{
    char text[SBOX_TEXT_SIZE];
    bool refused = sbox_net_refused(&l->sum);
    sbox_buf_add_str(out, "  ");
    sbox_text_colour(out, refused ? SBOX_RED : SBOX_PLAIN, outcome(&l->sum));
    sbox_buf_addf(out, "  %s", l->sum.host[0] ? sbox_esc(l->sum.host) : "-");
    if (l->sum.port)
        sbox_buf_addf(out, ":%u", l->sum.port);
    if (refused)
        sbox_buf_addf(out, "  %s", sbox_net_verdict_text(l->sum.verdict));
    sbox_buf_add_str(out, "  ");
    sbox_text_plural(out, l->count, "connection", "connections");
    if (!refused) {
        sbox_buf_addf(out, ", %s out", sbox_text_bytes(l->sum.bytes_out, text));
        sbox_buf_addf(out, ", %s in", sbox_text_bytes(l->sum.bytes_in, text));
    }
    sbox_buf_add_byte(out, '\n');
}

static void end_run(struct log *log)
{
    if (log->json && log->in_run) {
        sbox_json_end_array(&log->report->json);
        sbox_json_end_object(&log->report->json);
    }
    for (size_t i = 0; i < log->count; i++)
        add_line(&log->report->out, &log->lines[i]);
    log->count = 0;
    log->in_run = false;
}

static void add_run_text(struct sbox_buf *out, const struct sbox_journal_run *run)
{
    char text[SBOX_TEXT_SIZE];
    sbox_buf_addf(out, "%s  ", sbox_text_local_time(run->started_us / US, text));
    sbox_buf_addf(out, "%s, exit %d", sbox_esc(run->program), (int)run->status);
    sbox_buf_addf(out, ", %s", sbox_text_duration((uint64_t)run->duration_us / 1000, text));
    if (run->omitted)
        sbox_buf_addf(out, ", %lld more connections", (long long)run->omitted);
    sbox_buf_add_byte(out, '\n');
}

/* ---- the journal's rows ---- */

static int on_run(const struct sbox_journal_run *run, void *context)
{
    struct log *log = context;
    struct sbox_json *j = &log->report->json;
    end_run(log);
    log->in_run = true;
    if (!log->json) {
        add_run_text(&log->report->out, run);
        return 0;
    }
    sbox_json_object(j, NULL);
    sbox_json_path(j, "program", run->program, strlen(run->program));
    sbox_json_int(j, "started_us", run->started_us);
    sbox_json_int(j, "duration_us", run->duration_us);
    sbox_json_int(j, "exit", run->status);
    sbox_json_int(j, "omitted", run->omitted);
    sbox_json_array(j, "connections");
    return 0;
}

static void add_connection_json(struct sbox_json *j, const struct sbox_journal_connection *c)
{
    sbox_json_object(j, NULL);
    sbox_json_string(j, "host", c->host);
    sbox_json_int(j, "port", c->port);
    sbox_json_string(j, "address", c->address);
    sbox_json_string(j, "verdict", sbox_net_verdict_text((uint8_t)c->verdict));
    sbox_json_string(j, "way", sbox_net_way_text((uint8_t)c->way));
    sbox_json_int(j, "error", c->error);
    sbox_json_int(j, "started_us", c->started_us);
    sbox_json_int(j, "duration_us", c->duration_us);
    sbox_json_int(j, "bytes_out", c->bytes_out);
    sbox_json_int(j, "bytes_in", c->bytes_in);
    sbox_json_end_object(j);
}

static struct line *line_of(struct log *log, const struct sbox_wire_connection *c)
{
    for (size_t i = 0; i < log->count; i++) {
        struct line *l = &log->lines[i];
        bool same_side = (l->sum.way == SBOX_WAY_PUBLISHED) == (c->way == SBOX_WAY_PUBLISHED);
        if (same_side && l->sum.verdict == c->verdict && l->sum.port == c->port &&
            strcmp(l->sum.host, c->host) == 0)
            return l;
    }
    if (log->count == log->room) {
        size_t room = log->room ? 2 * log->room : 16;
        void *grown = realloc(log->lines, room * sizeof *log->lines);
        if (!grown)
            return NULL;
        log->lines = grown;
        log->room = room;
    }
    struct line *l = &log->lines[log->count++];
    *l = (struct line){.sum = *c};
    l->sum.bytes_in = 0;
    l->sum.bytes_out = 0;
    return l;
}

static int on_connection(const struct sbox_journal_connection *c, void *context)
{
    struct log *log = context;
    struct sbox_wire_connection wire;
    if (log->json) {
        add_connection_json(&log->report->json, c);
        return 0;
    }
    sbox_journal_to_wire(c, &wire);
    struct line *l = line_of(log, &wire);
    if (!l)
        return -ENOMEM;
    l->count++;
    l->sum.bytes_in += wire.bytes_in;
    l->sum.bytes_out += wire.bytes_out;
    return 0;
}

int sbox_cmd_log(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_session session;
    if (!o->net)
        return sbox_log_locks(o);
    struct log log = {.report = &report, .json = o->json};
    const struct sbox_journal_reader reader = {
        .run = on_run, .connection = on_connection, .context = &log};
    sbox_report_init(&report, "log", o->json, o->level == SBOX_LOG_QUIET, &err);
    sbox_session_init(&session);
    if (o->json) {
        sbox_json_object(&report.json, NULL);
        sbox_json_array(&report.json, "runs");
    }
    int r = sbox_journal_of(&session, o, o->all ? SBOX_JOURNAL_RUNS_KEPT : LATEST, &reader, &err);
    report.root = session.root.path;
    end_run(&log);
    if (o->json) {
        sbox_json_end_array(&report.json);
        sbox_json_end_object(&report.json);
    } else if (r == 0 && report.out.size == 0) {
        sbox_buf_add_str(&report.out, "no run of this project used the network\n");
    }
    int status = sbox_report_finish(&report, r < 0 ? SBOX_EXIT_UNKNOWN : SBOX_EXIT_OK);
    free(log.lines);
    sbox_session_release(&session);
    return status;
}
