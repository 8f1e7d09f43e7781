/* A finished walk in canonical order. */
#include "lock/walk.h"

/* Where the visit is: a directory and the next of its entries. On the heap, for depth. */
struct frame {
    const struct sbox_dir *dir;
    uint32_t next;
    uint32_t path_size; /* of the directory's own path */
};

static struct frame *top_of(struct sbox_buf *stack)
{
    return (struct frame *)(void *)(stack->data + stack->size - sizeof(struct frame));
}

static void enter(struct sbox_buf *stack, const struct sbox_dir *dir, size_t path_size)
{
    struct frame frame = {.dir = dir, .path_size = (uint32_t)path_size};
    sbox_buf_add(stack, &frame, sizeof frame);
}

static int visit_next(struct sbox_buf *stack, struct sbox_buf *path, sbox_walk_each *each,
                      void *context)
{
    struct frame *frame = top_of(stack);
    path->size = frame->path_size;
    if (frame->next == frame->dir->entry_count) {
        stack->size -= sizeof *frame;
        return 0;
    }
    const struct sbox_entry *entry = &frame->dir->entries[frame->next++];
    if (path->size > 0)
        sbox_buf_add_byte(path, '/');
    sbox_buf_add(path, entry->name, entry->name_size);
    if (path->failed)
        return -ENOMEM;
    if (path->size > SBOX_RECORD_PATH_MAX)
        return -ENAMETOOLONG;
    int r = each(entry, path->data, path->size, context);
    if (r == 0 && entry->dir)
        enter(stack, entry->dir, path->size);
    return stack->failed ? -ENOMEM : r;
}

int sbox_walk_visit(const struct sbox_walk *walk, sbox_walk_each *each, void *context)
{
    _cleanup_buf_ struct sbox_buf stack = {0};
    _cleanup_buf_ struct sbox_buf path = {0};
    int r = each(walk->root, "", 0, context);
    if (r == 0 && walk->top)
        enter(&stack, walk->top, 0);
    while (r == 0 && stack.size > 0)
        r = stack.failed ? -ENOMEM : visit_next(&stack, &path, each, context);
    return r;
}
