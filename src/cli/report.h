/* What a verb has to say, gathered in memory and written once at the end: plain text, or with
 * --json exactly one document, whatever happens:
 *
 *     {"schema":"sbox.VERB/1","root":...,"result":...,"exit":...,"error":...}
 *
 * `error` is null or {"code":"EBUSY","message":"..."}; `result` is null when there is none. */
#ifndef SBOX_CLI_REPORT_H
#define SBOX_CLI_REPORT_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/json.h"

struct sbox_report {
    const char *verb;
    bool json_wanted;
    bool quiet;             /* no text (JSON is written all the same) */
    const char *root;       /* borrowed; NULL until it is known */
    struct sbox_buf out;    /* the text, or the JSON value of "result" */
    struct sbox_json json;  /* writes into `out` */
    struct sbox_error *err; /* filled by who fails; code 0: no error */
};

void sbox_report_init(struct sbox_report *r, const char *verb, bool json_wanted, bool quiet,
                      struct sbox_error *err);
/* Writes everything and releases. Returns `exit_status`, or 2 when standard output does not take
 * it. An error is also said on stderr. */
int sbox_report_finish(struct sbox_report *r, int exit_status);

#endif
