/* The plan: what is done to build one sandbox, as data.
 *
 * policy.h says what is wanted; plan_*.c turn it into a list of steps without a system call, so
 * that it can be unit-tested and printed (--dry-run); view.c, sealed.c and command.c carry the
 * steps out. Each step names the layer it belongs to. A test-only program switches a layer off by
 * removing its steps (sbox_plan_drop_layer), to show which attack that layer alone holds;
 * production code has no way to do so.
 *
 * Phases, in order:
 *   SETUP    in the new namespaces, old root still there: the view is put together on a tmpfs
 *   SEALED   after pivot_root: trees, git internals, masks, inside the workspace. Masks come last
 *   AHEAD    in the process that becomes the command, while init still carries out the two above:
 *            what needs nothing of the view
 *   COMMAND  in the same process, when the view is complete
 */
#ifndef SBOX_SANDBOX_PLAN_H
#define SBOX_SANDBOX_PLAN_H

#include "base/error.h"
#include "base/fd.h"
#include "base/strv.h"

#include <stdbool.h>
#include <stdint.h>

enum sbox_layer {
    SBOX_LAYER_CORE, /* the skeleton: cannot be switched off */
    SBOX_LAYER_PIDNS,
    SBOX_LAYER_NETNS,
    SBOX_LAYER_IPCNS,
    SBOX_LAYER_VIEW,     /* only what the view names exists; off: the host's root */
    SBOX_LAYER_READONLY, /* read-only mounts outside the workspace */
    SBOX_LAYER_PROC,     /* /proc: sys and the like read-only, kernel tables hidden */
    SBOX_LAYER_MASKS,    /* .env and its family, --mask */
    SBOX_LAYER_TREES,    /* locked trees behind a throw-away layer */
    SBOX_LAYER_GIT,      /* git internals read-only, .git pinned */
    SBOX_LAYER_GUARD,    /* masks put back, git watched */
    SBOX_LAYER_NESTED,   /* no user namespaces below this one */
    SBOX_LAYER_DUMPABLE, /* init and guard cannot be looked into */
    SBOX_LAYER_LIMITS,   /* no core dumps */
    SBOX_LAYER_FDS,      /* descriptors above 2 closed */
    SBOX_LAYER_CAPS,     /* no capabilities */
    SBOX_LAYER_LANDLOCK,
    SBOX_LAYER_SECCOMP,
    SBOX_LAYER_ENVIRONMENT, /* secrets scrubbed from the environment */
    SBOX_LAYER_COUNT
};

enum sbox_phase { SBOX_PHASE_SETUP, SBOX_PHASE_SEALED, SBOX_PHASE_AHEAD, SBOX_PHASE_COMMAND };

enum sbox_op {
    /* SETUP. `target` is relative to the new root. Parents are made as needed. */
    SBOX_OP_DIR,       /* an empty directory with `mode` */
    SBOX_OP_SYMLINK,   /* target -> source */
    SBOX_OP_FILE,      /* a small file that holds the bytes of `source` */
    SBOX_OP_BIND,      /* host path `source`, recursively, with mount attributes `attr` */
    SBOX_OP_WORKSPACE, /* the same for the workspace: reopened and compared with `id` */
    SBOX_OP_LAYERS,    /* `lower` under `source`/u; NULL: under a directory that is thrown away */
    SBOX_OP_AGAIN,     /* what lies at `source` of the new root, at `target` as well */
    SBOX_OP_SCRATCH,   /* a fresh writable directory with `mode`, thrown away at the end */
    SBOX_OP_PROC,      /* procfs of the sandbox's own pid namespace */
    SBOX_OP_DEVPTS,
    SBOX_OP_TTY,     /* the caller's terminal `source`, at the same place inside */
    SBOX_OP_SELF_RO, /* make what is mounted or lies at `target` read-only (a self-bind) */
    SBOX_OP_HIDE,    /* cover `target` (absent: fine) with something nobody may open: EACCES */
    SBOX_OP_SYSCTL,  /* write `source` into the procfs file `target` */
    SBOX_OP_REPLACE, /* the bytes of `source` in place of the file that `target` leads to */

    /* SEALED. `target` is relative to the workspace; opened beneath it, compared with `id`. */
    SBOX_OP_OVERLAY, /* a throw-away layer over a directory; `source`: space-separated caches */
    SBOX_OP_CACHE,   /* host directory `source` at `target` inside an overlay (--keep-cache) */
    SBOX_OP_PIN,     /* a self-bind: what is a mountpoint cannot be renamed */
    SBOX_OP_LOCK_RO, /* a read-only self-bind */
    SBOX_OP_FILTER,  /* the text `source` over a file */
    SBOX_OP_MASK,    /* file or link: /dev/null over it; directory: an empty read-only one */

    /* AHEAD. */
    SBOX_OP_NET_SYSCTL, /* write `source` into the procfs file `target`, of the new network */
    SBOX_OP_NO_CORE,
    SBOX_OP_CLOSE_FDS,
    SBOX_OP_NO_NEW_PRIVS,
    SBOX_OP_DROP_CAPS,
    SBOX_OP_SECCOMP,

    /* COMMAND. */
    SBOX_OP_LANDLOCK,
};

/* What Landlock grants below the step's target: it repeats the view (confine/landlock.h). */
enum sbox_grant {
    SBOX_GRANT_NONE,
    SBOX_GRANT_READ,
    SBOX_GRANT_WRITE,
    SBOX_GRANT_DEVICE,
};

enum { SBOX_STEP_LOWERS = 2 };

struct sbox_step {
    enum sbox_op op;
    enum sbox_layer layer;
    enum sbox_grant grant;
    uint64_t attr;      /* MOUNT_ATTR_* */
    mode_t mode;        /* for DIR, SCRATCH; for SEALED ops: st_mode of the scanned entry */
    bool optional;      /* a source that does not exist is passed over */
    const char *source; /* owned by the plan's strings */
    const char *target;
    const char
        *lower[SBOX_STEP_LOWERS]; /* LAYERS: host directories, the upper one first; or NULL */
    struct sbox_fileid id;        /* what a reopened descriptor must be */
    const char *why;              /* for --dry-run; static */
};

struct sbox_plan {
    struct sbox_step *steps;
    size_t count;
    size_t room;
    struct sbox_strv strings;
    uint64_t namespaces;       /* CLONE_NEW* */
    bool resolver_on_loopback; /* there is no resolv.conf inside: programs ask 127.0.0.1 */
    bool guard;                /* a guard process is needed */
    bool undumpable;           /* init and guard clear their dumpable flag */
    bool host_root; /* tests only (layer `view` off): the host's root instead of an own one */
    const char *workspace; /* relative to the new root */
};

void sbox_plan_release(struct sbox_plan *plan);

/* Appends a step; strings are copied. Returns the step to fill in, or NULL when out of memory. The
 * pointer is valid until the next call. */
struct sbox_step *sbox_plan_add(struct sbox_plan *plan, enum sbox_op op, enum sbox_layer layer,
                                const char *source, const char *target);

/* Copies a string that lives as long as the plan; NULL when out of memory. */
const char *sbox_plan_keep(struct sbox_plan *plan, const char *s);

enum sbox_phase sbox_op_phase(enum sbox_op op);
const char *sbox_op_text(enum sbox_op op);
const char *sbox_layer_name(enum sbox_layer layer);
/* The layer of that name, or -1. */
int sbox_layer_by_name(const char *name);

/* For tests only: takes a layer out of the plan. */
void sbox_plan_drop_layer(struct sbox_plan *plan, enum sbox_layer layer);

#endif
