#include "project/scan_node.h"

#include "base/banned.h"

/* Raised whenever roles or their meaning change: an old cache is then read anew. */
static const char magic[] = "sbox scan 2\n";

struct sbox_scan_node *sbox_scan_node_new(void)
{
    return calloc(1, sizeof(struct sbox_scan_node));
}

void sbox_scan_node_clear(struct sbox_scan_node *node)
{
    for (size_t i = 0; i < node->count; i++) {
        free(node->names[i].name);
        sbox_scan_node_free(node->names[i].node);
    }
    free(node->names);
    node->names = NULL;
    node->count = node->room = 0;
}

void sbox_scan_node_free(struct sbox_scan_node *node)
{
    if (!node)
        return;
    sbox_scan_node_clear(node);
    free(node);
}

struct sbox_scan_name *sbox_scan_node_add(struct sbox_scan_node *node, enum sbox_scan_role role,
                                          bool directory, const char *name)
{
    if (node->count == node->room) {
        size_t room = node->room ? node->room * 2 : 8;
        struct sbox_scan_name *grown = realloc(node->names, room * sizeof *grown);
        if (!grown)
            return NULL;
        node->names = grown;
        node->room = room;
    }
    char *copy = strdup(name);
    if (!copy)
        return NULL;
    struct sbox_scan_name *n = &node->names[node->count++];
    *n = (struct sbox_scan_name){.role = (uint8_t)role, .directory = directory, .name = copy};
    return n;
}

static void encode(struct sbox_buf *out, const struct sbox_scan_node *node)
{
    sbox_buf_add_le64(out, node->id.dev);
    sbox_buf_add_le64(out, node->id.ino);
    sbox_buf_add_le64(out, (uint64_t)node->mtime);
    sbox_buf_add_le64(out, (uint64_t)node->ctime);
    sbox_buf_add_byte(out, node->trusted);
    sbox_buf_add_le32(out, (uint32_t)node->count);
    for (size_t i = 0; i < node->count; i++) {
        const struct sbox_scan_name *n = &node->names[i];
        sbox_buf_add_byte(out, n->role);
        sbox_buf_add_byte(out, n->directory);
        sbox_buf_add_byte(out, (uint8_t)strlen(n->name));
        sbox_buf_add_str(out, n->name);
        sbox_buf_add_byte(out, n->node != NULL);
        if (n->node)
            encode(out, n->node);
    }
}

void sbox_scan_node_encode(struct sbox_buf *out, const struct sbox_scan_node *node)
{
    sbox_buf_add_str(out, magic);
    encode(out, node);
}

static struct sbox_scan_node *decode(struct sbox_reader *r, unsigned depth);

static bool decode_name(struct sbox_reader *r, struct sbox_scan_node *node, unsigned depth)
{
    char name[SBOX_SCAN_NAME_MAX + 1];
    uint8_t role = sbox_reader_byte(r);
    uint8_t directory = sbox_reader_byte(r);
    uint8_t size = sbox_reader_byte(r);
    const char *bytes = sbox_reader_bytes(r, size);
    uint8_t entered = sbox_reader_byte(r);
    if (r->failed || role >= SBOX_ROLE_COUNT || directory > 1 || entered > directory || size == 0 ||
        memchr(bytes, '\0', size) || memchr(bytes, '/', size))
        return false;
    memcpy(name, bytes, size);
    name[size] = '\0';
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    struct sbox_scan_name *n = sbox_scan_node_add(node, role, directory, name);
    if (!n)
        return false;
    if (entered) {
        struct sbox_scan_node *child = decode(r, depth + 1);
        if (!child)
            return false;
        n->node = child;
    }
    return true;
}

static struct sbox_scan_node *decode(struct sbox_reader *r, unsigned depth)
{
    struct sbox_scan_node *node = depth < SBOX_SCAN_DEPTH_MAX ? sbox_scan_node_new() : NULL;
    if (!node)
        return NULL;
    node->id.dev = sbox_reader_le64(r);
    node->id.ino = sbox_reader_le64(r);
    node->mtime = (int64_t)sbox_reader_le64(r);
    node->ctime = (int64_t)sbox_reader_le64(r);
    uint8_t trusted = sbox_reader_byte(r);
    node->trusted = trusted == 1;
    uint32_t count = sbox_reader_le32(r);
    bool good = !r->failed && trusted <= 1;
    for (uint32_t i = 0; good && i < count; i++)
        good = decode_name(r, node, depth);
    if (good)
        return node;
    sbox_scan_node_free(node);
    return NULL;
}

struct sbox_scan_node *sbox_scan_node_decode(const void *data, size_t size)
{
    struct sbox_reader r = sbox_reader_of(data, size);
    const char *head = sbox_reader_bytes(&r, sizeof magic - 1);
    if (!head || memcmp(head, magic, sizeof magic - 1) != 0)
        return NULL;
    struct sbox_scan_node *node = decode(&r, 0);
    if (node && sbox_reader_left(&r) == 0)
        return node;
    sbox_scan_node_free(node);
    return NULL;
}
