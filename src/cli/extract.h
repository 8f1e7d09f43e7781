/* Locked content out of the snapshots, one file at a time. */
#ifndef SBOX_CLI_EXTRACT_H
#define SBOX_CLI_EXTRACT_H

#include "archive/client.h"
#include "cli/snapshots.h"

struct sbox_extract {
    struct sbox_snapshots snapshots;
    struct sbox_archive archive;             /* started with the first file */
    const struct sbox_stored_member *member; /* whose snapshot is open */
    uint64_t next;                           /* files of it before this index have been passed */
};

#define SBOX_EXTRACT_NONE \
    ((struct sbox_extract){.snapshots = SBOX_SNAPSHOTS_NONE, .archive = SBOX_ARCHIVE_NONE})

/* Opens the snapshots (where there are any) and keeps gc away from them. */
int sbox_extract_init(const struct sbox_datadir *d, struct sbox_extract *ret,
                      struct sbox_error *err);
void sbox_extract_release(struct sbox_extract *x);

/* Content of the file with this record index into `output`, which is empty; only when 0 is returned
 * does it hold what was locked. -ENODATA: there is no copy of the package; -EBADMSG: the copy is
 * damaged or was altered. Files of one package are fastest in ascending order. */
int sbox_extract_file(struct sbox_extract *x, const struct sbox_stored_member *member,
                      uint64_t index, int output, struct sbox_error *err);

#endif
