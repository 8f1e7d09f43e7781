/* Opening what lies below a directory by its recorded path. */
#ifndef SBOX_ARCHIVE_REACH_H
#define SBOX_ARCHIVE_REACH_H

#include <stddef.h>

/* sbox_open_beneath() of `path` (raw bytes, `size` of them, canonical: no "..", no empty part) for
 * paths of any length: in pieces that are shorter than PATH_MAX. The last component is not
 * followed either. "" opens `dirfd` anew. Descriptor or -errno. */
int sbox_reach(int dirfd, const char *path, size_t size, int flags);

#endif
