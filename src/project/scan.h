/* What lies in the workspace that a run must know of: dependency trees, secret files, git
 * internals, sockets of host processes.
 *
 * Theory of operation. Every name below the workspace may have been written by the attacker of an
 * earlier run, and another sandbox of the same project may be renaming directories right now. So
 * the walk goes directory by directory on descriptors (openat O_NOFOLLOW, never a path of more than
 * one component), and what it yields are descriptors together with (dev, ino): whoever acts on an
 * entry later reopens the path and compares it with the descriptor that is still open.
 *
 * The walk does not enter dependency trees, nor `.git` directories beyond their fixed internals. It
 * stays on the workspace's file system only as far as mount points go: it crosses them (a bind
 * mount in the workspace is part of the view), but guards against loops by (dev, ino).
 *
 * The cache (projects/<id>/scan) holds for each directory its dev, ino, mtime and ctime and what
 * was found in it. A directory whose four still agree, and whose ctime was not "near" the moment it
 * was read, is not read again. mtime alone could be put back with utimes(2); ctime can not. The
 * cache is never consulted for the entries themselves: they are opened anew each time.
 */
#ifndef SBOX_PROJECT_SCAN_H
#define SBOX_PROJECT_SCAN_H

#include "base/error.h"
#include "base/fd.h"
#include "project/conf.h"

#include <stdbool.h>
#include <stddef.h>

enum sbox_scan_kind {
    SBOX_SCAN_TREE,   /* a dependency tree (directory, or a link to one) */
    SBOX_SCAN_SECRET, /* .env and its family: file, directory or link */
    SBOX_SCAN_GIT,    /* a `.git` directory or file: of the root, or nested */
    SBOX_SCAN_SOCKET, /* a Unix socket */
    SBOX_SCAN_CONF,   /* settings of a package client, or logins (conf.h): file or link */
};

enum sbox_tree_kind {
    SBOX_TREE_NODE_MODULES,
    SBOX_TREE_VENV,   /* .venv or venv with a pyvenv.cfg */
    SBOX_TREE_VENDOR, /* vendor with a Composer, Go, Cargo or Bundler marker */
    SBOX_TREE_YARN,   /* .yarn/{cache,unplugged,releases,plugins,sdks} beside a .pnp.* */
};

struct sbox_scan_entry {
    enum sbox_scan_kind kind;
    enum sbox_tree_kind tree; /* for SBOX_SCAN_TREE */
    char *path;               /* relative to the root, raw bytes, no leading "./" */
    int fd;                   /* O_PATH | O_NOFOLLOW, held open until release */
    struct sbox_fileid id;
    enum sbox_conf_syntax syntax; /* for SBOX_SCAN_CONF */
    mode_t mode;                  /* st_mode of the entry itself (S_ISLNK for a link) */
    uint64_t nlink;               /* > 1 for a secret file: it has another name somewhere */
    char *link;                   /* target text when it is a link, else NULL */
    bool tracked;                 /* git's index lists it, or something below it */
};

struct sbox_scan {
    struct sbox_scan_entry *entries; /* in path order (byte-wise) */
    size_t count;
    size_t directories; /* looked at; for -v and the tests of the cache */
    size_t reread;      /* of these, read anew because the cache did not vouch for them */
    bool has_index;     /* a git index was found and read */
};

struct sbox_scan_request {
    int root_fd;       /* the workspace */
    int project_dirfd; /* where the cache lies; -1: no cache is read or written */
    bool alone;        /* after a run, nobody is changing the workspace: no second look */
};

/* -ELOOP, -EFBIG and the like fail the whole scan: what could not be seen is not "absent". So does
 * a directory of the user's own without the right to list or enter it (-EACCES), which a command
 * could give itself; with `alone` the scan gives that right instead. A directory of somebody else
 * that cannot be opened is passed over. */
int sbox_scan_run(const struct sbox_scan_request *request, struct sbox_scan *ret,
                  struct sbox_error *err);
void sbox_scan_release(struct sbox_scan *scan);

/* Pure: is this the name of a file that commonly holds secrets? `.env`, `.env.*`, `.envrc`,
 * `.env~`,
 * `.env-x`, `.env_x`, `.env.d`, editor copies (`#.env#`, `.#.env`), in any case. */
bool sbox_scan_is_secret_name(const char *name);
/* Pure: `.env.example`, `.env.sample`, `.env.template`, `.env.dist`: public by convention. They are
 * left readable when git tracks them (then they are published already), else hidden like the rest.
 */
bool sbox_scan_is_template_name(const char *name);
/* Pure: caches inside trees that hold code nobody recorded: `.cache`, `.vite`, `.vite-temp`,
 * `.vitest`, `.turbo` directly below a tree. NULL-terminated list, shared by lock (not recorded)
 * and sandbox (not shown). */
extern const char *const sbox_tree_caches[];
bool sbox_is_tree_cache(const char *name);

#endif
