/* sbox suggest: the list that the last networked run would have needed. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/journal_read.h"
#include "cli/net_text.h"
#include "cli/report.h"

struct needed {
    bool run;
    struct sbox_strv rules;
    bool private;
};

static int on_run(const struct sbox_journal_run *run, void *context)
{
    struct needed *n = context;
    (void)run;
    n->run = true;
    return 0;
}

static int on_connection(const struct sbox_journal_connection *c, void *context)
{
    struct needed *n = context;
    struct sbox_wire_connection wire;
    sbox_journal_to_wire(c, &wire);
    return sbox_net_collect(&wire, true, &n->rules, &n->private);
}

static void add_text(struct sbox_buf *out, const struct needed *n)
{
    for (size_t i = 0; i < n->rules.count; i++)
        sbox_buf_addf(out, "%s%s", i == 0 ? "--allow-net-out=" : ",", sbox_esc(n->rules.items[i]));
    if (n->private)
        sbox_buf_add_str(out, " --allow-private");
    sbox_buf_add_str(out, n->rules.count ? "\n" : "the last run asked for no host\n");
}

static void add_json(struct sbox_json *j, const struct needed *n)
{
    sbox_json_object(j, NULL);
    sbox_json_array(j, "hosts");
    for (size_t i = 0; i < n->rules.count; i++)
        sbox_json_string(j, NULL, n->rules.items[i]);
    sbox_json_end_array(j);
    sbox_json_bool(j, "allow_private", n->private);
    sbox_json_end_object(j);
}

int sbox_cmd_suggest(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_session session;
    struct needed n = {0};
    const struct sbox_journal_reader reader = {
        .run = on_run, .connection = on_connection, .context = &n};
    sbox_report_init(&report, "suggest", o->json, o->level == SBOX_LOG_QUIET, &err);
    sbox_session_init(&session);
    int r = sbox_journal_of(&session, o, 1, &reader, &err);
    report.root = session.root.path;
    if (r == 0 && !n.run)
        r = sbox_error_say(&err, ENODATA,
                           "no run of this project asked for a host with a list in force; run it "
                           "with -o and one host that you know, then ask again");
    if (r == 0 && o->json)
        add_json(&report.json, &n);
    else if (r == 0)
        add_text(&report.out, &n);
    int status = sbox_report_finish(&report, r < 0 ? SBOX_EXIT_UNKNOWN : SBOX_EXIT_OK);
    sbox_strv_release(&n.rules);
    sbox_session_release(&session);
    return status;
}
