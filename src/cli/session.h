/* What lock, verify and status need before they can begin: the data directory, the root, the
 * project's lease, and what lies in the workspace. */
#ifndef SBOX_CLI_SESSION_H
#define SBOX_CLI_SESSION_H

#include "base/error.h"
#include "cli/options.h"
#include "project/datadir.h"
#include "project/root.h"
#include "project/scan.h"

struct sbox_session {
    struct sbox_datadir data;
    struct sbox_root root;
    struct sbox_scan scan;
    int project_fd; /* projects/<id>; -1: there is none, so nothing was ever locked */
    int lease_fd;
};

void sbox_session_init(struct sbox_session *s);
void sbox_session_release(struct sbox_session *s);

/* Data directory (not created) and root. Errors come with their message. */
int sbox_session_find(struct sbox_session *s, const struct sbox_options *o, struct sbox_error *err);

/* For verify and status: the shared lease, where there is a project directory; then the scan. */
int sbox_session_enter_shared(struct sbox_session *s, const char *verb, struct sbox_error *err);

/* For lock: makes the data directory and the project's part of it, takes the lease for itself,
 * scans. Call it once the input is known to be good: it is the first thing that writes. */
int sbox_session_enter_exclusive(struct sbox_session *s, const char *verb, struct sbox_error *err);

/* A scan without a cache, before anything is written. */
int sbox_session_look(struct sbox_session *s, struct sbox_error *err);

/* Makes the data directory where there is none yet. */
int sbox_session_make_data(struct sbox_session *s, struct sbox_error *err);

bool sbox_session_has_tree(const struct sbox_session *s);

#endif
