/* Which of the scan's entries git tracks. */
#ifndef SBOX_PROJECT_SCAN_TRACKED_H
#define SBOX_PROJECT_SCAN_TRACKED_H

#include "project/scan.h"

/* Reads the index of a `.git` directory at the root and marks secrets that it lists and trees that
 * it lists something below. An index that is absent, too large or damaged marks nothing: every
 * secret is then masked and every tree protected as if untracked, which is the stricter way. */
void sbox_scan_mark_tracked(int root_fd, struct sbox_scan *scan);

#endif
