/* sbox's side of sbox-archive (wire.h): starts it, hands it descriptors, takes its word. Links no
 * libarchive. */
#ifndef SBOX_ARCHIVE_CLIENT_H
#define SBOX_ARCHIVE_CLIENT_H

#include "archive/wire.h"
#include "base/error.h"
#include "store/manifest.h"

#include <sys/types.h>

struct sbox_archive {
    int control; /* to poll(2) for an answer */
    pid_t pid;
};

#define SBOX_ARCHIVE_NONE ((struct sbox_archive){.control = -1})

/* Starts a process that may read files below `roots` (any descriptors; none: only archives), and
 * returns once it has confined itself. -ENOENT: it is not installed. */
int sbox_archive_start(const int *roots, size_t count, struct sbox_archive *ret,
                       struct sbox_error *err);
/* Ends it and waits for it. Accepts SBOX_ARCHIVE_NONE. */
void sbox_archive_stop(struct sbox_archive *a);

/* Hands over a unit to be archived into the empty file `output`; sbox_archive_wrote() takes the
 * answer. `directory` is the unit's directory (O_PATH will do), or its file (O_RDONLY). */
int sbox_archive_write(struct sbox_archive *a, const struct sbox_bytes *records, int directory,
                       int output, struct sbox_error *err);
/* Waits for the answer. 0; -EAGAIN: something changed while it was archived; ... `unit` is for
 * messages: the path of the unit. */
int sbox_archive_wrote(struct sbox_archive *a, const struct sbox_bytes *records, const char *unit,
                       uint64_t *ret_bytes, struct sbox_error *err);

/* Begins to read `source`, the snapshot of these records. */
int sbox_archive_open(struct sbox_archive *a, const struct sbox_bytes *records, int source,
                      struct sbox_error *err);
/* Content of the record with this index (a file's; they only grow) into `output`. -EBADMSG: the
 * snapshot is not that of the records. After any error what is in `output` is worthless, and the
 * snapshot has to be opened again. */
int sbox_archive_read(struct sbox_archive *a, const struct sbox_bytes *records, uint64_t index,
                      int output, struct sbox_error *err);

#endif
