#include "lock/changes.h"

static int bytes_order(const struct sbox_bytes *a, const struct sbox_bytes *b)
{
    size_t n = a->size < b->size ? a->size : b->size;
    int r = n > 0 ? memcmp(a->data, b->data, n) : 0;
    return r != 0 ? r : (a->size > b->size) - (a->size < b->size);
}

static int by_path(const void *a, const void *b)
{
    const struct sbox_stored_member *x = *(const struct sbox_stored_member *const *)a;
    const struct sbox_stored_member *y = *(const struct sbox_stored_member *const *)b;
    return bytes_order(&x->path, &y->path);
}

/* The members of a tree in byte order of their paths; malloc'ed. */
static const struct sbox_stored_member **sorted(const struct sbox_stored_tree *tree)
{
    size_t count = tree ? tree->member_count : 0;
    const struct sbox_stored_member **list = calloc(count + 1, sizeof(struct sbox_stored_member *));
    if (!list)
        return NULL;
    for (size_t i = 0; i < count; i++)
        list[i] = &tree->members[i];
    qsort(list, count, sizeof(struct sbox_stored_member *), by_path);
    return list;
}

void sbox_change_release(struct sbox_lock_change *change)
{
    free(change->tree);
    free(change->path);
    free(change->name);
    free(change->was);
    free(change->is);
    *change = (struct sbox_lock_change){0};
}

static char *copy(const struct sbox_bytes *bytes)
{
    return bytes && bytes->data ? strndup(bytes->data, bytes->size) : strdup("");
}

static int add(struct sbox_buf *out, enum sbox_change_kind kind, const struct sbox_bytes *tree,
               const struct sbox_stored_member *was, const struct sbox_stored_member *is)
{
    const struct sbox_stored_member *one = is ? is : was;
    struct sbox_lock_change c = {
        .kind = kind,
        .tree = copy(tree),
        .path = copy(&one->path),
        .name = copy(&one->name),
        .was = copy(was ? &was->version : NULL),
        .is = copy(is ? &is->version : NULL),
    };
    if (c.tree && c.path && c.name && c.was && c.is) {
        sbox_buf_add(out, &c, sizeof c);
        if (!sbox_buf_failed(out))
            return 0;
    }
    sbox_change_release(&c);
    return -ENOMEM;
}

static int add_pair(struct sbox_buf *out, const struct sbox_bytes *tree,
                    const struct sbox_stored_member *was, const struct sbox_stored_member *is)
{
    if (memcmp(&was->digest, &is->digest, sizeof was->digest) == 0)
        return 0;
    bool renamed = bytes_order(&was->name, &is->name) != 0;
    if (renamed) { /* another package in the same place */
        int r = add(out, SBOX_CHANGE_REMOVED, tree, was, NULL);
        return r == 0 ? add(out, SBOX_CHANGE_ADDED, tree, NULL, is) : r;
    }
    bool other_version = bytes_order(&was->version, &is->version) != 0;
    return add(out, other_version ? SBOX_CHANGE_VERSION : SBOX_CHANGE_CONTENT, tree, was, is);
}

int sbox_changes_of_tree(const struct sbox_stored_tree *was, const struct sbox_stored_tree *is,
                         struct sbox_buf *out)
{
    const struct sbox_bytes *tree = is ? &is->path : &was->path;
    const struct sbox_stored_member **old = sorted(was);
    const struct sbox_stored_member **now = sorted(is);
    int r = old && now ? 0 : -ENOMEM;
    for (size_t i = 0, k = 0; r == 0 && (old[i] || now[k]);) {
        int order = !old[i] ? 1 : !now[k] ? -1 : bytes_order(&old[i]->path, &now[k]->path);
        if (order == 0)
            r = add_pair(out, tree, old[i++], now[k++]);
        else if (order < 0)
            r = add(out, SBOX_CHANGE_REMOVED, tree, old[i++], NULL);
        else
            r = add(out, SBOX_CHANGE_ADDED, tree, NULL, now[k++]);
    }
    free(old);
    free(now);
    return r;
}

const char *sbox_change_text(enum sbox_change_kind kind)
{
    switch (kind) {
    case SBOX_CHANGE_ADDED:
        return "added";
    case SBOX_CHANGE_REMOVED:
        return "removed";
    case SBOX_CHANGE_VERSION:
        return "version";
    case SBOX_CHANGE_CONTENT:
        return "content";
    }
    return "?";
}
