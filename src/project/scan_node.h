/* What one directory held when it was read: the unit of the scan's cache. */
#ifndef SBOX_PROJECT_SCAN_NODE_H
#define SBOX_PROJECT_SCAN_NODE_H

#include "base/buf.h"
#include "base/fd.h"

enum { SBOX_SCAN_NAME_MAX = 255, SBOX_SCAN_DEPTH_MAX = 4096 };

/* What a name in a directory is to the scan. */
enum sbox_scan_role {
    SBOX_ROLE_DIR,          /* a directory to enter */
    SBOX_ROLE_NODE_MODULES, /* a tree, always */
    SBOX_ROLE_VENV,         /* a tree when it holds pyvenv.cfg, else as DIR */
    SBOX_ROLE_VENDOR,       /* a tree when it holds a marker, else as DIR */
    SBOX_ROLE_YARN,         /* `.yarn` beside .pnp.*: its parts are trees */
    SBOX_ROLE_YARN_PART,    /* a tree, always */
    SBOX_ROLE_SECRET,
    SBOX_ROLE_GIT,
    SBOX_ROLE_SOCKET,
    SBOX_ROLE_CONF,
    SBOX_ROLE_COUNT
};

struct sbox_scan_name {
    uint8_t role;
    bool directory; /* else a file, link, socket */
    char *name;
    struct sbox_scan_node *node; /* of a directory that was entered; owned; may be NULL */
};

struct sbox_scan_node {
    struct sbox_fileid id;
    int64_t mtime; /* nanoseconds */
    int64_t ctime;
    bool trusted; /* read long enough after its last change */
    bool closed;  /* ours, but may not be listed or entered; not in the cache file */
    struct sbox_scan_name *names;
    size_t count;
    size_t room;
};

struct sbox_scan_node *sbox_scan_node_new(void);
void sbox_scan_node_free(struct sbox_scan_node *node);
/* Forgets the names; keeps the node. */
void sbox_scan_node_clear(struct sbox_scan_node *node);
/* Appends; `name` is copied. NULL when out of memory. */
struct sbox_scan_name *sbox_scan_node_add(struct sbox_scan_node *node, enum sbox_scan_role role,
                                          bool directory, const char *name);

/* The cache file. Decoding refuses whatever it does not understand (NULL). */
void sbox_scan_node_encode(struct sbox_buf *out, const struct sbox_scan_node *node);
struct sbox_scan_node *sbox_scan_node_decode(const void *data, size_t size);

#endif
