/* sbox doctor: one line a layer; exit 1 when one that `run` insists on is missing. */
#include "cli/cli.h"

#include "cli/json.h"
#include "cli/report.h"
#include "cli/text.h"
#include "sandbox/doctor.h"

static void write_text(struct sbox_buf *out, const struct sbox_findings *f)
{
    static const enum sbox_colour colours[] = {
        [SBOX_HOLDS] = SBOX_GREEN, [SBOX_WEAKER] = SBOX_YELLOW, [SBOX_MISSING] = SBOX_RED};
    for (size_t i = 0; i < f->count; i++) {
        const struct sbox_finding *finding = &f->items[i];
        sbox_buf_addf(out, "%-16s  ", finding->layer);
        sbox_text_colour(out, colours[finding->health], sbox_health_text(finding->health));
        sbox_buf_addf(out, "  %s\n", finding->text);
    }
}

static void write_json(struct sbox_json *j, const struct sbox_findings *f)
{
    sbox_json_object(j, NULL);
    sbox_json_array(j, "layers");
    for (size_t i = 0; i < f->count; i++) {
        sbox_json_object(j, NULL);
        sbox_json_string(j, "layer", f->items[i].layer);
        sbox_json_string(j, "state", sbox_health_text(f->items[i].health));
        sbox_json_string(j, "text", f->items[i].text);
        sbox_json_end_object(j);
    }
    sbox_json_end_array(j);
    sbox_json_end_object(j);
}

int sbox_cmd_doctor(const struct sbox_options *o)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_report report;
    struct sbox_findings findings = {.count = 0};
    sbox_report_init(&report, "doctor", o->json, o->level == SBOX_LOG_QUIET, &err);
    int status = sbox_doctor_run(&findings, &err) < 0 ? SBOX_EXIT_DIFFERS : SBOX_EXIT_OK;
    for (size_t i = 0; i < findings.count; i++)
        if (findings.items[i].health == SBOX_MISSING)
            status = SBOX_EXIT_DIFFERS;
    if (report.json_wanted)
        write_json(&report.json, &findings);
    else
        write_text(&report.out, &findings);
    return sbox_report_finish(&report, status);
}
