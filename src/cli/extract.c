#include "cli/extract.h"

#include "base/cleanup.h"
#include "base/escape.h"

int sbox_extract_init(const struct sbox_datadir *d, struct sbox_extract *ret,
                      struct sbox_error *err)
{
    *ret = SBOX_EXTRACT_NONE;
    int r = sbox_snapshots_open(d, false, false, &ret->snapshots, err);
    return r == -ENOENT ? 0 : r;
}

void sbox_extract_release(struct sbox_extract *x)
{
    sbox_archive_stop(&x->archive);
    sbox_snapshots_release(&x->snapshots);
    *x = SBOX_EXTRACT_NONE;
}

static int open_member(struct sbox_extract *x, const struct sbox_stored_member *member,
                       struct sbox_error *err)
{
    const char *name = member->name.size > 0 ? member->name.data : member->path.data;
    _cleanup_close_ int source = sbox_snapshots_file(&x->snapshots, &member->digest);
    if (source == -ENOENT)
        return sbox_error_say(err, ENODATA, "there is no copy of '%s' (it was locked without)",
                              sbox_esc(name && *name ? name : "the rest of the tree"));
    if (source < 0)
        return sbox_error_set(err, -source, "open the copy of '%s'", sbox_esc(name));
    int r = 0;
    if (x->archive.control < 0)
        r = sbox_archive_start(NULL, 0, &x->archive, err);
    if (r == 0)
        r = sbox_archive_open(&x->archive, &member->records, source, err);
    if (r == 0) {
        x->member = member;
        x->next = 0;
    }
    return r;
}

int sbox_extract_file(struct sbox_extract *x, const struct sbox_stored_member *member,
                      uint64_t index, int output, struct sbox_error *err)
{
    int r = 0;
    if (x->member != member || index < x->next)
        r = open_member(x, member, err);
    if (r == 0)
        r = sbox_archive_read(&x->archive, &member->records, index, output, err);
    x->next = index + 1;
    if (r < 0) {
        x->member = NULL;
        if (r != -ENODATA)
            sbox_archive_stop(&x->archive); /* whatever made it fail */
    }
    return r;
}
