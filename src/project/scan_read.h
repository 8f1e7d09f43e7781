/* One directory: its stat data, and what in it matters to the scan. */
#ifndef SBOX_PROJECT_SCAN_READ_H
#define SBOX_PROJECT_SCAN_READ_H

#include "project/scan_node.h"

/* When may what was read now be believed next time? */
struct sbox_scan_clock {
    bool ctime_moves; /* the file system's ctime moves with every change of a directory */
    bool fine;    /* two changes never share a ctime once the first was looked at (Linux 6.13) */
    uint64_t dev; /* of the root: a mount of another file system is read each time */
};

int sbox_scan_clock_init(int root_fd, struct sbox_scan_clock *ret);

/* Fills id, mtime, ctime and closed; -ENOTDIR for anything but a directory (a link included). */
int sbox_scan_stat(int dirfd, const char *path, struct sbox_scan_node *ret);

/* Gives the owner the right to list and enter a directory. 0 or -errno. */
int sbox_scan_reopen(int dirfd, const char *path);

/* Opens (no link in `path`), stats, reads: `node` then holds the names that matter. `yarn`: this is
 * a `.yarn` beside .pnp.*. */
int sbox_scan_read(int dirfd, const char *path, const struct sbox_scan_clock *clock, bool yarn,
                   struct sbox_scan_node *node);

#endif
