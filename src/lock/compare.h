/* What differs between a recorded and a present entry. Pure. */
#ifndef SBOX_LOCK_COMPARE_H
#define SBOX_LOCK_COMPARE_H

#include "store/record.h"

enum sbox_verdict {
    SBOX_VERDICT_SAME = 0,
    SBOX_VERDICT_ADDED,
    SBOX_VERDICT_REMOVED,
    SBOX_VERDICT_MODIFIED, /* content */
    SBOX_VERDICT_TYPE,     /* a file became a directory, a link ... */
    SBOX_VERDICT_MODE,
    SBOX_VERDICT_TARGET, /* a link points elsewhere */
    SBOX_VERDICT_XATTR,
    SBOX_VERDICT_LEAVES, /* a link leads out of tree and workspace to something nobody recorded */
};

/* The first of type, content or target, mode, xattr that differs. Paths are not looked at. */
enum sbox_verdict sbox_record_compare(const struct sbox_record *was, const struct sbox_record *is);

const char *sbox_verdict_text(enum sbox_verdict v); /* "added", "modified" ... */

#endif
