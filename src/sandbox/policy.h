/* The policy: what one run may see and do, gathered by cli before anything is built. All pointers
 * are borrowed and must outlive the run. */
#ifndef SBOX_SANDBOX_POLICY_H
#define SBOX_SANDBOX_POLICY_H

#include "base/error.h"
#include "base/strv.h"
#include "net/address.h"
#include "project/root.h"
#include "project/scan.h"
#include "sandbox/env_scrub.h"

#include <stdbool.h>

enum { SBOX_PASS_FDS_MAX = 16 };

/* A locked tree that was verified for this run. */
struct sbox_policy_tree {
    const char *path; /* relative to the root */
    struct sbox_fileid id;
    mode_t mode;
    bool real; /* shown as it is, writable: git tracks it */
};

/* Something inside the workspace that is protected where it lies (protect.h). */
struct sbox_protect {
    enum sbox_protect_kind {
        SBOX_PROTECT_PIN,        /* may not be renamed or removed */
        SBOX_PROTECT_RO,         /* may not be changed */
        SBOX_PROTECT_FILTER,     /* is seen without its secrets, and not changed */
        SBOX_PROTECT_FILTER_GIT, /* the same for what git obeys: lost, it ends the run */
        SBOX_PROTECT_MASK,       /* may not be seen */
    } kind;
    char *path; /* relative to the root */
    struct sbox_fileid id;
    mode_t mode;
    const char *why; /* static */
    char *text;      /* of a FILTER: what is left of it; else NULL */
};

/* One --ro, --rw, --mask or --unmask after its path was resolved (policy_paths.h). */
struct sbox_policy_path {
    char *path; /* canonical, absolute */
    enum sbox_path_rule { SBOX_PATH_RO, SBOX_PATH_RW, SBOX_PATH_MASK, SBOX_PATH_UNMASK } rule;
    mode_t mode;
    struct sbox_fileid id;
};

/* One cache of a package manager (home_caches.h); with neither directory it is empty. */
struct sbox_policy_cache {
    const char *place; /* where the tool looks, below $HOME; static */
    char *own;         /* the project's private one: holds `u` and `w`; NULL: there is none */
    char *host;        /* the host's own, a layer below it; NULL */
};

/* Egress: what of the network exists inside, beside loopback (gateway.c). */
struct sbox_policy_network {
    int socket; /* init's end of the pair to sbox-proxy: listeners go over it (net/wire.h) */
    const uint16_t *ports; /* transparent listeners */
    size_t port_count;
    const struct sbox_address *literals; /* routed one by one */
    size_t literal_count;
    const uint16_t *host_ports; /* listeners on the sandbox's own loopback */
    size_t host_port_count;
    const uint16_t *published; /* ports inside that -p makes reachable */
    size_t published_count;
    bool without_veth; /* tests only: as if the kernel had none */
};

/* Somebody else's descriptor that the supervisor polls during the run. `ready` returns false when
 * it is to be polled no longer. */
struct sbox_policy_watch {
    int fd;
    bool (*ready)(void *context);
    void *context;
};

struct sbox_policy {
    const struct sbox_root *root;
    const struct sbox_scan *scan;
    const struct sbox_policy_tree *trees;
    size_t tree_count;
    const struct sbox_protect *protects;
    size_t protect_count;
    const struct sbox_policy_path *paths;
    size_t path_count;

    const char *home;      /* canonical; NULL when the caller has none */
    const char *data_path; /* sbox's data directory: never visible */
    const struct sbox_policy_cache *caches;
    size_t cache_count;
    const char *cache_top;    /* ~/.cache/sbox: never visible as such; NULL when there is no home */
    const char *cache_path;   /* ~/.cache/sbox/<id>: for --keep-cache; NULL otherwise */
    char *const *command;     /* argv, NULL-terminated */
    char *const *environment; /* already scrubbed */
    const struct sbox_policy_network *network; /* NULL: loopback only */
    const struct sbox_policy_watch *watch;     /* NULL: none */
    bool host_network; /* bare --allow-net-out: no network namespace of its own */
    bool install;      /* an install run: trees are real, caches are kept */
    bool allow_env;    /* --allow-env: no masks over .env */
    bool keep_cache;
    mode_t umask; /* the caller's, for the command */
    int pass_fds[SBOX_PASS_FDS_MAX];
    size_t pass_fd_count;
    int landlock_abi; /* of the running kernel, or capped by a test */
};

#endif
