#include "lock/fingerprint.h"

static const char tree_fingerprint[] = "sbox tree fingerprint 1\n";
static const char tree_local[] = "sbox tree local 1\n";
static const char lock_fingerprint[] = "sbox lock fingerprint 1\n";
static const char lock_local[] = "sbox lock local 1\n";

static int start(struct sbox_sha256 **ret, const char *domain)
{
    *ret = sbox_sha256_new();
    if (!*ret)
        return -ENOTSUP;
    int r = sbox_sha256_begin(*ret);
    return r == 0 ? sbox_sha256_update(*ret, domain, strlen(domain)) : r;
}

int sbox_fingerprint_init(struct sbox_fingerprint *f)
{
    *f = (struct sbox_fingerprint){0};
    int r = start(&f->portable, tree_fingerprint);
    return r == 0 ? start(&f->local, tree_local) : r;
}

void sbox_fingerprint_release(struct sbox_fingerprint *f)
{
    sbox_sha256_free(f->portable);
    sbox_sha256_free(f->local);
    sbox_buf_release(&f->scratch);
    *f = (struct sbox_fingerprint){0};
}

/* What is the same on every machine. */
static void add_portable(struct sbox_buf *out, const struct sbox_record *record)
{
    bool file = record->type == SBOX_ENTRY_FILE;
    sbox_buf_add_le32(out, record->path_size);
    sbox_buf_add(out, record->path, record->path_size);
    sbox_buf_add_byte(out, record->type);
    sbox_buf_add_byte(out, file && (record->mode & 0100));
    if (file) {
        sbox_buf_add_le64(out, record->size);
        sbox_buf_add(out, record->content, sizeof *record->content);
    } else if (record->type == SBOX_ENTRY_LINK) {
        sbox_buf_add_le32(out, record->target_size);
        sbox_buf_add(out, record->target, record->target_size);
    }
}

int sbox_fingerprint_add(struct sbox_fingerprint *f, const struct sbox_record *record)
{
    struct sbox_buf *b = &f->scratch;
    sbox_buf_clear(b);
    add_portable(b, record);
    if (sbox_buf_failed(b))
        return -ENOMEM;
    int r = sbox_sha256_update(f->portable, b->data, b->size);
    sbox_buf_add_le32(b, record->mode);
    sbox_buf_add_byte(b, record->xattrs != NULL);
    if (record->xattrs)
        sbox_buf_add(b, record->xattrs, sizeof *record->xattrs);
    if (sbox_buf_failed(b))
        return -ENOMEM;
    return r == 0 ? sbox_sha256_update(f->local, b->data, b->size) : r;
}

int sbox_fingerprint_end(struct sbox_fingerprint *f, struct sbox_digest *ret_fingerprint,
                         struct sbox_digest *ret_local)
{
    int r = sbox_sha256_end(f->portable, ret_fingerprint);
    return r == 0 ? sbox_sha256_end(f->local, ret_local) : r;
}

static int of_lock(const struct sbox_tree_digests *trees, size_t count, bool local,
                   struct sbox_digest *ret)
{
    _cleanup_sha256_ struct sbox_sha256 *h = NULL;
    _cleanup_buf_ struct sbox_buf b = {0};
    int r = start(&h, local ? lock_local : lock_fingerprint);
    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++) {
        const struct sbox_tree_digests *t = &trees[i];
        if (!local && !t->portable)
            continue;
        sbox_buf_add_le32(&b, (uint32_t)t->path_size);
        sbox_buf_add(&b, t->path, t->path_size);
        sbox_buf_add(&b, local ? &t->local : &t->fingerprint, sizeof t->local);
    }
    if (sbox_buf_failed(&b))
        return -ENOMEM;
    r = sbox_sha256_update(h, b.data, b.size);
    return r == 0 ? sbox_sha256_end(h, ret) : r;
}

int sbox_fingerprint_of_lock(const struct sbox_tree_digests *trees, size_t count,
                             struct sbox_digest *ret_fingerprint, struct sbox_digest *ret_local)
{
    int r = of_lock(trees, count, false, ret_fingerprint);
    return r == 0 ? of_lock(trees, count, true, ret_local) : r;
}
