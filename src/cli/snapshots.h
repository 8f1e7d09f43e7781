/* The snapshots in the data directory: one tar.zst a unit, named by the unit's digest, whatever
 * project it belongs to.
 *
 *     snapshots/<first 2 hex digits>/<64 hex digits>.tar.zst
 *
 * A snapshot is written to a file without a name and linked to its place when it is whole: half of
 * one can never be seen. Snapshots that no lock refers to (a lock that was interrupted, a project
 * that was forgotten) do no harm; `sbox gc` removes them.
 *
 * Whoever makes or uses snapshots shares the directory (flock(2)), gc has it alone: what a running
 * lock counts on is not removed under it. A content is checked when it is read, against the
 * manifest: nothing here is trusted. */
#ifndef SBOX_CLI_SNAPSHOTS_H
#define SBOX_CLI_SNAPSHOTS_H

#include "base/error.h"
#include "lock/lock.h"

struct sbox_snapshots {
    int fd;
};

#define SBOX_SNAPSHOTS_NONE ((struct sbox_snapshots){.fd = -1})

/* -ENOENT: there are none and `create` is false (no message). -EBUSY: gc runs, or with `alone`
 * somebody works with them, for 10 s. */
int sbox_snapshots_open(const struct sbox_datadir *d, bool create, bool alone,
                        struct sbox_snapshots *ret, struct sbox_error *err);
void sbox_snapshots_release(struct sbox_snapshots *s);

/* Size in bytes, or -ENOENT. */
int64_t sbox_snapshots_size(const struct sbox_snapshots *s, const struct sbox_digest *digest);
/* O_RDONLY; -ENOENT. */
int sbox_snapshots_file(const struct sbox_snapshots *s, const struct sbox_digest *digest);

struct sbox_snapshots_request {
    const struct sbox_lock_unit *units;
    size_t count;
    unsigned workers; /* 0: as many as there are processors, at most 8 */
    sbox_progress_fn *progress;
    void *progress_context;
};

struct sbox_snapshots_made {
    uint64_t there; /* units that had a snapshot */
    uint64_t made;
    uint64_t bytes; /* of files that were archived */
    uint64_t size;  /* of the new snapshots */
};

/* Makes the snapshots that are missing, and has them on disk when it returns. -EAGAIN: a file is
 * not what was hashed; -ENOSPC ... */
int sbox_snapshots_make(const struct sbox_snapshots *s,
                        const struct sbox_snapshots_request *request,
                        struct sbox_snapshots_made *ret, struct sbox_error *err);

/* Removes every file that `wanted` says no to (and what is no snapshot at all). */
typedef int sbox_snapshots_wanted(const struct sbox_digest *digest, void *context);
struct sbox_snapshots_swept {
    uint64_t kept;
    uint64_t kept_size;
    uint64_t removed;
    uint64_t removed_size;
};
int sbox_snapshots_sweep(const struct sbox_snapshots *s, sbox_snapshots_wanted *wanted,
                         void *context, bool preview, struct sbox_snapshots_swept *ret,
                         struct sbox_error *err);

#endif
