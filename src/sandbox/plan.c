#include "sandbox/plan.h"

#include <sched.h>
#include <sys/mount.h>

static const char *const layer_names[SBOX_LAYER_COUNT] = {
    [SBOX_LAYER_CORE] = "core",
    [SBOX_LAYER_PIDNS] = "pidns",
    [SBOX_LAYER_NETNS] = "netns",
    [SBOX_LAYER_IPCNS] = "ipcns",
    [SBOX_LAYER_VIEW] = "view",
    [SBOX_LAYER_READONLY] = "readonly",
    [SBOX_LAYER_PROC] = "proc",
    [SBOX_LAYER_MASKS] = "masks",
    [SBOX_LAYER_TREES] = "trees",
    [SBOX_LAYER_GIT] = "git",
    [SBOX_LAYER_GUARD] = "guard",
    [SBOX_LAYER_NESTED] = "nested",
    [SBOX_LAYER_DUMPABLE] = "dumpable",
    [SBOX_LAYER_LIMITS] = "limits",
    [SBOX_LAYER_FDS] = "fds",
    [SBOX_LAYER_CAPS] = "caps",
    [SBOX_LAYER_LANDLOCK] = "landlock",
    [SBOX_LAYER_SECCOMP] = "seccomp",
    [SBOX_LAYER_ENVIRONMENT] = "environment",
};

static const char *const op_texts[] = {
    [SBOX_OP_DIR] = "directory",
    [SBOX_OP_SYMLINK] = "link",
    [SBOX_OP_FILE] = "file",
    [SBOX_OP_BIND] = "bind",
    [SBOX_OP_WORKSPACE] = "workspace",
    [SBOX_OP_LAYERS] = "layers",
    [SBOX_OP_AGAIN] = "bind",
    [SBOX_OP_SCRATCH] = "throw-away",
    [SBOX_OP_PROC] = "proc",
    [SBOX_OP_DEVPTS] = "devpts",
    [SBOX_OP_TTY] = "terminal",
    [SBOX_OP_SELF_RO] = "read-only",
    [SBOX_OP_HIDE] = "hide",
    [SBOX_OP_SYSCTL] = "sysctl",
    [SBOX_OP_REPLACE] = "replace",
    [SBOX_OP_OVERLAY] = "overlay",
    [SBOX_OP_CACHE] = "cache",
    [SBOX_OP_PIN] = "pin",
    [SBOX_OP_LOCK_RO] = "protect",
    [SBOX_OP_FILTER] = "filter",
    [SBOX_OP_MASK] = "mask",
    [SBOX_OP_NET_SYSCTL] = "network sysctl",
    [SBOX_OP_NO_CORE] = "no core dumps",
    [SBOX_OP_CLOSE_FDS] = "close descriptors",
    [SBOX_OP_NO_NEW_PRIVS] = "no_new_privs",
    [SBOX_OP_DROP_CAPS] = "drop capabilities",
    [SBOX_OP_LANDLOCK] = "landlock",
    [SBOX_OP_SECCOMP] = "seccomp",
};

void sbox_plan_release(struct sbox_plan *plan)
{
    free(plan->steps);
    sbox_strv_release(&plan->strings);
    *plan = (struct sbox_plan){0};
}

const char *sbox_plan_keep(struct sbox_plan *plan, const char *s)
{
    return sbox_strv_add(&plan->strings, s) < 0 ? NULL
                                                : plan->strings.items[plan->strings.count - 1];
}

struct sbox_step *sbox_plan_add(struct sbox_plan *plan, enum sbox_op op, enum sbox_layer layer,
                                const char *source, const char *target)
{
    if (plan->count == plan->room) {
        size_t room = plan->room ? plan->room * 2 : 128;
        struct sbox_step *grown = realloc(plan->steps, room * sizeof *grown);
        if (!grown)
            return NULL;
        plan->steps = grown;
        plan->room = room;
    }
    struct sbox_step *step = &plan->steps[plan->count];
    *step = (struct sbox_step){.op = op, .layer = layer};
    step->source = source ? sbox_plan_keep(plan, source) : NULL;
    step->target = target ? sbox_plan_keep(plan, target) : NULL;
    if ((source && !step->source) || (target && !step->target))
        return NULL;
    plan->count++;
    return step;
}

enum sbox_phase sbox_op_phase(enum sbox_op op)
{
    if (op >= SBOX_OP_LANDLOCK)
        return SBOX_PHASE_COMMAND;
    if (op >= SBOX_OP_NET_SYSCTL)
        return SBOX_PHASE_AHEAD;
    return op >= SBOX_OP_OVERLAY ? SBOX_PHASE_SEALED : SBOX_PHASE_SETUP;
}

const char *sbox_op_text(enum sbox_op op)
{
    return op_texts[op];
}

const char *sbox_layer_name(enum sbox_layer layer)
{
    return layer_names[layer];
}

int sbox_layer_by_name(const char *name)
{
    for (int i = 0; i < SBOX_LAYER_COUNT; i++)
        if (strcmp(layer_names[i], name) == 0)
            return i;
    return -1;
}

static uint64_t layer_namespaces(enum sbox_layer layer)
{
    if (layer == SBOX_LAYER_PIDNS)
        return CLONE_NEWPID;
    if (layer == SBOX_LAYER_NETNS)
        return CLONE_NEWNET;
    if (layer == SBOX_LAYER_IPCNS)
        return CLONE_NEWIPC;
    return 0;
}

void sbox_plan_drop_layer(struct sbox_plan *plan, enum sbox_layer layer)
{
    plan->namespaces &= ~layer_namespaces(layer);
    if (layer == SBOX_LAYER_GUARD)
        plan->guard = false;
    if (layer == SBOX_LAYER_VIEW)
        plan->host_root = true;
    if (layer == SBOX_LAYER_DUMPABLE)
        plan->undumpable = false;
    size_t kept = 0;
    for (size_t i = 0; i < plan->count; i++) {
        struct sbox_step step = plan->steps[i];
        if (layer == SBOX_LAYER_READONLY)
            step.attr &= ~(uint64_t)MOUNT_ATTR_RDONLY;
        /* A fresh procfs belongs to a pid namespace of one's own; without it, the host's. */
        if (layer == SBOX_LAYER_PIDNS && step.op == SBOX_OP_PROC) {
            step.op = SBOX_OP_BIND;
            step.source = "/proc";
        }
        /* What covers a directory lies in the view's own root. */
        bool needs_view = step.op == SBOX_OP_MASK && S_ISDIR(step.mode);
        if (step.layer != layer && !(layer == SBOX_LAYER_VIEW && needs_view))
            plan->steps[kept++] = step;
    }
    plan->count = kept;
}
