/* --ro, --rw and --mask of places outside the workspace. Places inside it were turned into protects
 * before (protect.h). Read-only rules are carried out after writable ones and masks after both: the
 * most protective rule that names a path wins, whatever the order on the command line. Within one
 * kind, parents come before children, since a mount covers what lies below it. */
#include "sandbox/build.h"

#include <sys/mount.h>

static int by_rule_then_path(const void *a, const void *b)
{
    const struct sbox_policy_path *x = *(const struct sbox_policy_path *const *)a;
    const struct sbox_policy_path *y = *(const struct sbox_policy_path *const *)b;
    static const int rank[] = {
        [SBOX_PATH_RW] = 0, [SBOX_PATH_RO] = 1, [SBOX_PATH_MASK] = 2, [SBOX_PATH_UNMASK] = 3};
    if (rank[x->rule] != rank[y->rule])
        return rank[x->rule] - rank[y->rule];
    return strcmp(x->path, y->path);
}

static bool covered_by_ro(const struct sbox_policy *policy, const struct sbox_policy_path *path)
{
    for (size_t i = 0; i < policy->path_count; i++)
        if (policy->paths[i].rule == SBOX_PATH_RO &&
            sbox_path_within(path->path, policy->paths[i].path))
            return true;
    return false;
}

static int add_path(struct sbox_plan *plan, const struct sbox_policy *policy,
                    const struct sbox_policy_path *path)
{
    if (path->rule == SBOX_PATH_UNMASK || sbox_path_within(path->path, policy->root->path))
        return 0;
    if (path->rule == SBOX_PATH_MASK) {
        struct sbox_step *mask =
            sbox_plan_add(plan, SBOX_OP_HIDE, SBOX_LAYER_MASKS, NULL, path->path + 1);
        if (mask)
            mask->why = "--mask";
        return mask ? 0 : -ENOMEM;
    }
    struct sbox_step *step =
        sbox_plan_add(plan, SBOX_OP_BIND, SBOX_LAYER_VIEW, path->path, path->path + 1);
    if (!step)
        return -ENOMEM;
    bool writable = path->rule == SBOX_PATH_RW && !covered_by_ro(policy, path);
    step->attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (writable ? 0u : MOUNT_ATTR_RDONLY);
    step->grant = writable ? SBOX_GRANT_WRITE : SBOX_GRANT_READ;
    step->why = path->rule == SBOX_PATH_RW ? "--rw" : "--ro";
    return 0;
}

/* A path that was exposed and holds a directory of sbox's own: that stays hidden. */
static int hide_own(struct sbox_plan *plan, const struct sbox_policy *policy, const char *own,
                    const char *why)
{
    for (size_t i = 0; own && i < policy->path_count; i++) {
        if (!sbox_path_within(own, policy->paths[i].path))
            continue;
        struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_HIDE, SBOX_LAYER_CORE, NULL, own + 1);
        if (!step)
            return -ENOMEM;
        step->why = why;
        return 0;
    }
    return 0;
}

int sbox_plan_paths(struct sbox_plan *plan, const struct sbox_policy *policy)
{
    if (policy->path_count == 0)
        return 0;
    const struct sbox_policy_path **sorted = calloc(policy->path_count, sizeof *sorted);
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < policy->path_count; i++)
        sorted[i] = &policy->paths[i];
    qsort(sorted, policy->path_count, sizeof *sorted, by_rule_then_path);
    int r = 0;
    for (size_t i = 0; r == 0 && i < policy->path_count; i++)
        r = add_path(plan, policy, sorted[i]);
    free(sorted);
    if (r == 0)
        r = hide_own(plan, policy, policy->data_path, "sbox's own data directory");
    if (r == 0)
        r = hide_own(plan, policy, policy->cache_top, "caches of install runs");
    return r;
}
