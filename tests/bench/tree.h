/* The least a walk over a directory tree can cost here: threads that share one stack of
 * directories, getdents64(2) with a large buffer, no sorting, no record of anything. What is done
 * with each entry is the caller's: walk.c stats it, hash.c reads it. The floor that sbox is
 * measured against, so it shares no line with src/.
 */
#ifndef SBOX_BENCH_TREE_H
#define SBOX_BENCH_TREE_H

#include <stdint.h>

struct bench_totals {
    uint64_t files, dirs, links, others;
    uint64_t bytes; /* for `entry` to add to */
};

struct bench_ops {
    void *(*begin)(void); /* once a thread; NULL is a failure */
    /* Every entry but "." and "..": `type` is a DT_ constant. 0 or -errno. */
    int (*entry)(void *thread, int dirfd, const char *name, unsigned char type,
                 struct bench_totals *totals);
    void (*end)(void *thread);
};

enum { BENCH_THREADS_MAX = 64 };

/* 0, or -errno with a line on stderr. A file system that leaves d_type unset is refused: a floor
 * that has to stat in order to walk is no floor. */
int bench_tree_walk(const char *root, unsigned threads, const struct bench_ops *ops,
                    struct bench_totals *ret);
/* Both programs are `NAME [-t THREADS] DIR` and print the totals; exit status for main(). */
int bench_tree_main(int argc, char **argv, const struct bench_ops *ops);

#endif
