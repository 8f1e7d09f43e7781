#include "cli/snapshot_status.h"

#include "base/cleanup.h"
#include "cli/snapshots.h"
#include "cli/text.h"
#include "store/manifest.h"

struct sums {
    uint64_t there;
    uint64_t missing;
    uint64_t size;
    uint64_t bytes;
};

static void add_up(const struct sbox_snapshots *s, const struct sbox_stored_lock *lock,
                   struct sums *sums)
{
    for (size_t t = 0; t < lock->tree_count; t++) {
        const struct sbox_stored_tree *tree = &lock->trees[t];
        sums->bytes += tree->bytes;
        for (size_t i = 0; i < tree->member_count; i++) {
            int64_t size = sbox_snapshots_size(s, &tree->members[i].digest);
            *(size < 0 ? &sums->missing : &sums->there) += 1;
            sums->size += size < 0 ? 0 : (uint64_t)size;
        }
    }
}

static void add_text(struct sbox_buf *out, const struct sums *sums)
{
    char text[SBOX_TEXT_SIZE];
    if (sums->there == 0) {
        sbox_buf_add_str(out, "copies  none ('sbox lock' makes them)\n");
        return;
    }
    sbox_buf_addf(out, "copies  %s for ", sbox_text_bytes(sums->size, text));
    sbox_buf_addf(out, "%s of content", sbox_text_bytes(sums->bytes, text));
    if (sums->missing > 0) {
        sbox_buf_add_str(out, ", missing for ");
        sbox_text_plural(out, sums->missing, "package", "packages");
    }
    sbox_buf_add_byte(out, '\n');
}

int sbox_snapshot_status(struct sbox_buf *out, const struct sbox_session *session,
                         struct sbox_error *err)
{
    _cleanup_manifest_ struct sbox_manifest *m = NULL;
    struct sbox_stored_lock lock = {0};
    struct sbox_snapshots s = SBOX_SNAPSHOTS_NONE;
    struct sums sums = {0};
    int r = sbox_manifest_open(session->data.fd, session->data.path, false, &m, err);
    if (r == 0)
        r = sbox_manifest_read(m, session->root.path, &lock, err);
    if (r == 0)
        r = sbox_snapshots_open(&session->data, false, false, &s, err);
    if (r == 0 || r == -ENOENT) {
        add_up(&s, &lock, &sums);
        add_text(out, &sums);
        r = 0;
    }
    sbox_snapshots_release(&s);
    sbox_stored_lock_release(&lock);
    return r;
}
