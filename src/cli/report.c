#include "cli/report.h"

#include "base/fd.h"
#include "base/log.h"
#include "cli/options.h"

#include <unistd.h>

void sbox_report_init(struct sbox_report *r, const char *verb, bool json_wanted, bool quiet,
                      struct sbox_error *err)
{
    *r = (struct sbox_report){.verb = verb, .json_wanted = json_wanted, .quiet = quiet, .err = err};
    r->json = sbox_json_to(&r->out);
}

static void write_error(struct sbox_json *j, const struct sbox_error *err)
{
    if (err->code == 0) {
        sbox_json_null(j, "error");
        return;
    }
    sbox_json_object(j, "error");
    sbox_json_string(j, "code", strerrorname_np(err->code));
    sbox_json_string(j, "message", err->message);
    sbox_json_end_object(j);
}

static void write_document(const struct sbox_report *r, int exit_status, struct sbox_buf *document)
{
    char schema[64];
    (void)snprintf(schema, sizeof schema, "sbox.%s/1", r->verb);
    struct sbox_json j = sbox_json_to(document);
    sbox_json_object(&j, NULL);
    sbox_json_string(&j, "schema", schema);
    if (r->root)
        sbox_json_path(&j, "root", r->root, strlen(r->root));
    else
        sbox_json_null(&j, "root");
    if (r->out.size > 0)
        sbox_json_raw(&j, "result", r->out.data, r->out.size);
    else
        sbox_json_null(&j, "result");
    sbox_json_int(&j, "exit", exit_status);
    write_error(&j, r->err);
    sbox_json_end_object(&j);
    sbox_buf_add_byte(document, '\n');
}

static int write_out(const struct sbox_buf *out)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    int r = sbox_buf_failed(out) ? -ENOMEM : sbox_write_full(STDOUT_FILENO, out->data, out->size);
    if (r < 0) {
        (void)sbox_error_set(&err, -r, "write to standard output");
        sbox_say("%s", err.message);
    }
    return r;
}

int sbox_report_finish(struct sbox_report *r, int exit_status)
{
    int written = 0;
    if (r->err->code != 0)
        sbox_say("%s", r->err->message);
    if (r->json_wanted) {
        _cleanup_buf_ struct sbox_buf document = {0};
        document.failed = r->out.failed;
        write_document(r, exit_status, &document);
        written = write_out(&document);
    } else if (!r->quiet && (r->out.size > 0 || r->out.failed)) {
        written = write_out(&r->out);
    }
    sbox_buf_release(&r->out);
    return written < 0 ? SBOX_EXIT_UNKNOWN : exit_status;
}
