#include "lock/package.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/strv.h"

#include <fcntl.h>

static const char dist_info[] = ".dist-info";

static struct sbox_bytes last_component(const struct sbox_bytes *path)
{
    const char *slash = memrchr(path->data, '/', path->size);
    const char *start = slash ? slash + 1 : path->data;
    return (struct sbox_bytes){.data = start, .size = (size_t)(path->data + path->size - start)};
}

const char *sbox_package_file(enum sbox_tree_kind kind, const struct sbox_bytes *unit)
{
    if (unit->size == 0)
        return NULL;
    if (kind == SBOX_TREE_NODE_MODULES)
        return "package.json";
    size_t n = sizeof dist_info - 1;
    if (kind == SBOX_TREE_VENV && unit->size > n &&
        memcmp(unit->data + unit->size - n, dist_info, n) == 0)
        return "RECORD";
    return NULL;
}

/* Reads `unit`/`file` again and compares it with what was hashed. */
static int read_source(int root, const struct sbox_bytes *unit, const char *file,
                       const struct sbox_package_source *source, char **ret, size_t *ret_size,
                       struct sbox_error *err)
{
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%.*s/%s", (int)unit->size, unit->data, file) < 0)
        return -ENOMEM;
    _cleanup_close_ int fd = sbox_open_beneath(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd == -ENAMETOOLONG)
        return fd;
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    int r = fd < 0 ? fd : sbox_read_file_fd(fd, SBOX_PKGJSON_MAX, &data, &size);
    _cleanup_sha256_ struct sbox_sha256 *h = sbox_sha256_new();
    struct sbox_digest now;
    if (r == 0)
        r = h ? sbox_sha256_of(h, data, size, &now) : -ENOTSUP;
    if (r == 0 && (size != source->size || memcmp(&now, &source->content, sizeof now) != 0))
        r = -EAGAIN;
    if (r < 0)
        return sbox_error_say(err, EAGAIN, "'%s' changed while it was read", sbox_esc(path));
    *ret = TAKE_PTR(data);
    *ret_size = size;
    return 0;
}

static int keep(struct sbox_arena *memory, const void *data, size_t size, struct sbox_bytes *ret)
{
    ret->data = sbox_arena_copy(memory, data, size);
    ret->size = size;
    return ret->data ? 0 : -ENOMEM;
}

static int identify_node(struct sbox_pkgjson_reader *reader, int root, struct sbox_stored_member *m,
                         const struct sbox_package_source *source, struct sbox_arena *memory,
                         struct sbox_error *err)
{
    if (!source->there)
        return 0;
    if (source->size > SBOX_PKGJSON_MAX) {
        m->doubts = SBOX_PKGJSON_TOO_BIG;
        return 0;
    }
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    int r = read_source(root, &m->path, "package.json", source, &data, &size, err);
    if (r < 0)
        return r == -ENAMETOOLONG ? 0 : r; /* too deep to be read by name: no name */
    _cleanup_pkgjson_ struct sbox_pkgjson p = {0};
    r = sbox_pkgjson_read(reader, data, size, &p, err);
    if (r == 0)
        r = keep(memory, p.name, strlen(p.name), &m->name);
    if (r == 0)
        r = keep(memory, p.version, strlen(p.version), &m->version);
    if (r == 0)
        r = keep(memory, p.hooks.data, p.hooks.size, &m->hooks);
    m->doubts = p.doubts;
    return r;
}

static int identify_nodes(int root, struct sbox_stored_member *members,
                          const struct sbox_package_source *sources, size_t count,
                          struct sbox_arena *memory, struct sbox_error *err)
{
    struct sbox_pkgjson_reader *reader = NULL;
    int r = sbox_pkgjson_reader_new(&reader, err);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = identify_node(reader, root, &members[i], &sources[i], memory, err);
    sbox_pkgjson_reader_free(reader);
    return r;
}

/* "flask-3.0.2.dist-info" (PEP 427: the name has no "-"). */
static void name_of_dist_info(const struct sbox_bytes *path, struct sbox_bytes *ret_name,
                              struct sbox_bytes *ret_version)
{
    struct sbox_bytes last = last_component(path);
    size_t size = last.size - (sizeof dist_info - 1);
    const char *dash = memchr(last.data, '-', size);
    size_t name = dash ? (size_t)(dash - last.data) : size;
    *ret_name = (struct sbox_bytes){.data = last.data, .size = name};
    *ret_version = (struct sbox_bytes){.data = last.data + name + (dash ? 1 : 0),
                                       .size = size - name - (dash ? 1 : 0)};
}

/* What a dist-info's RECORD claims: a name directly in site-packages. */
struct claim {
    struct sbox_bytes top;
    const struct sbox_stored_member *owner;
};

static int claim_order(const void *a, const void *b)
{
    const struct claim *x = a;
    const struct claim *y = b;
    size_t n = x->top.size < y->top.size ? x->top.size : y->top.size;
    int r = memcmp(x->top.data, y->top.data, n);
    return r != 0 ? r : (x->top.size > y->top.size) - (x->top.size < y->top.size);
}

/* RECORD (PEP 376) is CSV: path,hash,size. Only the first component of the path matters. */
static int add_claims(struct sbox_buf *claims, const struct sbox_stored_member *owner, char *text,
                      size_t size)
{
    struct sbox_bytes last = {0};
    char *end = text + size;
    for (char *line = text; line < end;) {
        char *next = memchr(line, '\n', (size_t)(end - line));
        char *stop = next ? next : end;
        if (line < stop && *line == '"')
            line++;
        char *at = line;
        while (at < stop && *at != '/' && *at != ',')
            at++;
        struct claim c = {.top = {.data = line, .size = (size_t)(at - line)}, .owner = owner};
        bool same =
            last.data && last.size == c.top.size && memcmp(last.data, c.top.data, last.size) == 0;
        if (c.top.size > 0 && *line != '.' && !same) {
            sbox_buf_add(claims, &c, sizeof c);
            last = c.top;
        }
        line = stop + 1;
    }
    return sbox_buf_failed(claims) ? -ENOMEM : 0;
}

static int read_claims(int root, struct sbox_stored_member *m,
                       const struct sbox_package_source *source, struct sbox_buf *claims,
                       struct sbox_arena *memory, struct sbox_error *err)
{
    name_of_dist_info(&m->path, &m->name, &m->version);
    if (!source->there || source->size > SBOX_PKGJSON_MAX)
        return 0;
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    int r = read_source(root, &m->path, "RECORD", source, &data, &size, err);
    if (r < 0)
        return r == -ENAMETOOLONG ? 0 : r;
    char *text = sbox_arena_copy(memory, data, size);
    return text ? add_claims(claims, m, text, size) : -ENOMEM;
}

static int identify_python(int root, struct sbox_stored_member *members,
                           const struct sbox_package_source *sources, size_t count,
                           struct sbox_arena *memory, struct sbox_error *err)
{
    _cleanup_buf_ struct sbox_buf claims = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++)
        if (sbox_package_file(SBOX_TREE_VENV, &members[i].path))
            r = read_claims(root, &members[i], &sources[i], &claims, memory, err);
    size_t n = claims.size / sizeof(struct claim);
    if (r < 0 || n == 0)
        return r;
    qsort(claims.data, n, sizeof(struct claim), claim_order);
    for (size_t i = 0; i < count; i++) {
        struct claim key = {.top = last_component(&members[i].path)};
        if (members[i].name.size > 0 || key.top.size == 0)
            continue;
        const struct claim *c = bsearch(&key, claims.data, n, sizeof key, claim_order);
        if (c) {
            members[i].name = c->owner->name;
            members[i].version = c->owner->version;
        }
    }
    return 0;
}

int sbox_package_identify(enum sbox_tree_kind kind, int root, struct sbox_stored_member *members,
                          const struct sbox_package_source *sources, size_t count,
                          struct sbox_arena *memory, struct sbox_error *err)
{
    int r = 0;
    if (kind == SBOX_TREE_NODE_MODULES)
        r = identify_nodes(root, members, sources, count, memory, err);
    else if (kind == SBOX_TREE_VENV)
        r = identify_python(root, members, sources, count, memory, err);
    return r == -ENOMEM ? sbox_error_set(err, ENOMEM, "name the packages") : r;
}
