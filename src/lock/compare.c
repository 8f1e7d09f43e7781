#include "lock/compare.h"

static bool digest_equal(const struct sbox_digest *a, const struct sbox_digest *b)
{
    if (!a || !b)
        return a == b;
    return memcmp(a, b, sizeof *a) == 0;
}

enum sbox_verdict sbox_record_compare(const struct sbox_record *was, const struct sbox_record *is)
{
    if (was->type != is->type)
        return SBOX_VERDICT_TYPE;
    if (was->type == SBOX_ENTRY_FILE &&
        (was->size != is->size || !digest_equal(was->content, is->content)))
        return SBOX_VERDICT_MODIFIED;
    if (was->type == SBOX_ENTRY_LINK && (was->target_size != is->target_size ||
                                         memcmp(was->target, is->target, was->target_size) != 0))
        return SBOX_VERDICT_TARGET;
    if (was->mode != is->mode)
        return SBOX_VERDICT_MODE;
    return digest_equal(was->xattrs, is->xattrs) ? SBOX_VERDICT_SAME : SBOX_VERDICT_XATTR;
}

const char *sbox_verdict_text(enum sbox_verdict v)
{
    switch (v) {
    case SBOX_VERDICT_SAME:
        return "same";
    case SBOX_VERDICT_ADDED:
        return "added";
    case SBOX_VERDICT_REMOVED:
        return "removed";
    case SBOX_VERDICT_MODIFIED:
        return "modified";
    case SBOX_VERDICT_TYPE:
        return "type";
    case SBOX_VERDICT_MODE:
        return "mode";
    case SBOX_VERDICT_TARGET:
        return "target";
    case SBOX_VERDICT_XATTR:
        return "xattr";
    case SBOX_VERDICT_LEAVES:
        return "leaves";
    }
    return "?";
}
