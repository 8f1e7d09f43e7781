/* Shared by the files of the walk: walk.c (threads), list.c (directories), look.c (entries). */
#ifndef SBOX_LOCK_WALK_IMPL_H
#define SBOX_LOCK_WALK_IMPL_H

#include "lock/walk.h"

#include <pthread.h>

enum {
    SBOX_WALK_SLICE = 32, /* entries of a directory that one job looks at */
    SBOX_WALK_OPEN = 256, /* directories kept open at most */
    SBOX_WALK_BUFFER = 64 << 10,
};

struct sbox_job {
    struct sbox_dir *dir;
    uint32_t first; /* a slice of its entries; last 0: list the directory */
    uint32_t last;
};

/* One walk, shared by its workers. */
struct sbox_pool {
    const struct sbox_walk_request *request;
    struct sbox_walk *walk;
    bool trust; /* asked for, and the file system deserves it */
    atomic_int open;
    atomic_bool stop;

    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t work;
    pthread_cond_t idle;
    struct sbox_job *jobs;
    size_t job_count;
    size_t job_room;
    unsigned waiting;
    unsigned workers;
    unsigned ended;
    bool done;
    int code; /* first error */
    struct sbox_error error;
};

/* One thread of it. */
struct sbox_worker {
    struct sbox_pool *pool;
    pthread_t thread;
    struct sbox_sha256 *hash;
    char *buffer;
    struct sbox_buf scratch;
    struct sbox_buf names; /* of the directory that is being listed */
    struct sbox_buf jobs;  /* struct sbox_job, to be pushed together */
    struct sbox_buf found; /* struct sbox_found */
    struct sbox_arena memory;
    uint64_t drifted;
    bool met_drift; /* a file was not what its stat data said: read no more of them on trust */
    atomic_ullong entries; /* read by the caller's thread for the progress */
    atomic_ullong bytes;
    atomic_ullong hashed;
};

/* Keeps the first error, with the name of what it is about, and stops all workers. `what` may
 * be a verb ("read") or, with code 0 meaning EAGAIN, a whole phrase ("changed while ..."). */
void sbox_walk_fail(struct sbox_worker *w, int code, const struct sbox_dir *dir, const char *name,
                    const char *what);
void sbox_walk_changed(struct sbox_worker *w, const struct sbox_dir *dir, const char *name);

/* list.c: a directory job. */
void sbox_walk_list(struct sbox_worker *w, struct sbox_dir *dir);
/* look.c: entries [first, last) of `dir`, directories left out. */
void sbox_walk_look(struct sbox_worker *w, struct sbox_dir *dir, int dirfd, uint32_t first,
                    uint32_t last);
/* look.c: one regular file behind an open descriptor. */
int sbox_walk_hash(struct sbox_worker *w, int fd, struct sbox_entry *entry);
/* Compares an entry that has been looked at with what is recorded. */
void sbox_walk_judge(struct sbox_worker *w, const struct sbox_dir *dir, struct sbox_entry *entry);
void sbox_walk_note(struct sbox_worker *w, enum sbox_verdict verdict, uint32_t expected,
                    const struct sbox_dir *dir, const struct sbox_entry *entry);
/* Everything recorded below item `expected` is gone; the item itself too if `self`. */
void sbox_walk_removed(struct sbox_worker *w, uint32_t expected, bool self);
/* Does the stored stat data vouch for the entry? Always false when it is not to be trusted. */
bool sbox_walk_vouched(const struct sbox_worker *w, const struct sbox_entry *entry);
/* The same without regard to the mode of the walk: is there any need to flush? */
bool sbox_walk_known(const struct sbox_worker *w, const struct sbox_entry *entry);

/* walk.c */
void sbox_walk_push(struct sbox_worker *w); /* hands w->jobs to all workers */
/* Who needs the descriptor: set before anybody else knows the directory, then counted down. */
void sbox_walk_use(struct sbox_dir *dir, unsigned uses);
void sbox_walk_done(struct sbox_pool *pool, struct sbox_dir *dir);

static inline void sbox_count(atomic_ullong *counter, uint64_t more)
{
    /* Only the worker itself writes: no atomic addition is needed. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

#endif
