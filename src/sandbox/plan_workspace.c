/* The workspace: writable at its own path, except for what a run may not see or change in it. The
 * order is part of the protection: trees first, then pins and read-only parts of git, masks last,
 * so that nothing is ever mounted over a mask. */
#include "sandbox/build.h"

#include "base/escape.h"
#include "base/sha256.h"

#include <limits.h>
#include <sys/mount.h>

static bool names_root_read_only(const struct sbox_policy *policy)
{
    for (size_t i = 0; i < policy->path_count; i++)
        if (policy->paths[i].rule == SBOX_PATH_RO &&
            strcmp(policy->paths[i].path, policy->root->path) == 0)
            return true;
    return false;
}

static int add_workspace(struct sbox_plan *plan, const struct sbox_policy *policy)
{
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_WORKSPACE, SBOX_LAYER_CORE,
                                           policy->root->path, policy->root->path + 1);
    if (!step)
        return -ENOMEM;
    step->id = policy->root->id;
    bool read_only = names_root_read_only(policy);
    step->attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (read_only ? MOUNT_ATTR_RDONLY : 0u);
    step->grant = read_only ? SBOX_GRANT_READ : SBOX_GRANT_WRITE;
    step->why = read_only ? "the workspace, --ro" : "the workspace, writable";
    plan->workspace = step->target;
    return 0;
}

int sbox_plan_cache_dir(const char *cache_path, const char *tree, const char *cache, char *ret,
                        size_t size)
{
    struct sbox_digest digest;
    char hex[17];
    sbox_sha256_small(tree, strlen(tree), &digest);
    sbox_hex(digest.bytes, 8, hex);
    int n = snprintf(ret, size, "%s/%s/%s", cache_path, hex, cache);
    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* The host's directory is first bound to a place of its own, while host paths can still be named,
 * and from there into the overlay. */
static int add_cache_dir(struct sbox_plan *plan, const struct sbox_policy *policy, const char *tree,
                         const char *cache)
{
    char host[PATH_MAX];
    char inside[PATH_MAX];
    char kept[32];
    int r = sbox_plan_cache_dir(policy->cache_path, tree, cache, host, sizeof host);
    (void)snprintf(kept, sizeof kept, ".sbox/keep/%zu", plan->count);
    if (r < 0 || (size_t)snprintf(inside, sizeof inside, "%s/%s", tree, cache) >= sizeof inside)
        return -ENAMETOOLONG;
    struct sbox_step *bind = sbox_plan_add(plan, SBOX_OP_BIND, SBOX_LAYER_TREES, host, kept);
    if (!bind)
        return -ENOMEM;
    bind->attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_CACHE, SBOX_LAYER_TREES, kept, inside);
    if (!step)
        return -ENOMEM;
    step->attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    step->why = "--keep-cache";
    return 0;
}

static int add_cache_dirs(struct sbox_plan *plan, const struct sbox_policy *policy,
                          const struct sbox_policy_tree *tree)
{
    int r = 0;
    for (size_t i = 0; r == 0 && sbox_tree_caches[i]; i++)
        r = add_cache_dir(plan, policy, tree->path, sbox_tree_caches[i]);
    return r;
}

/* Does `path` lie in a directory that is masked? Then it is hidden with it, and there is nothing
 * left to mount on. */
static bool is_covered(const struct sbox_policy *policy, const char *path)
{
    for (size_t i = 0; i < policy->protect_count; i++) {
        const struct sbox_protect *mask = &policy->protects[i];
        size_t n = strlen(mask->path);
        if (mask->kind == SBOX_PROTECT_MASK && S_ISDIR(mask->mode) &&
            strncmp(path, mask->path, n) == 0 && path[n] == '/')
            return true;
    }
    return false;
}

static int add_tree(struct sbox_plan *plan, const struct sbox_policy *policy,
                    const struct sbox_policy_tree *tree)
{
    if (tree->real || is_covered(policy, tree->path))
        return 0;
    struct sbox_step *step =
        sbox_plan_add(plan, SBOX_OP_OVERLAY, SBOX_LAYER_TREES, NULL, tree->path);
    if (!step)
        return -ENOMEM;
    step->id = tree->id;
    step->mode = tree->mode;
    step->attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    step->why = "locked tree: changes are thrown away";
    plan->guard = true;
    return policy->keep_cache ? add_cache_dirs(plan, policy, tree) : 0;
}

static int add_protect(struct sbox_plan *plan, const struct sbox_protect *protect)
{
    static const struct {
        enum sbox_op op;
        enum sbox_layer layer;
        uint64_t attr;
    } how[] = {
        [SBOX_PROTECT_PIN] = {SBOX_OP_PIN, SBOX_LAYER_GIT, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV},
        [SBOX_PROTECT_RO] = {SBOX_OP_LOCK_RO, SBOX_LAYER_GIT,
                             MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV},
        [SBOX_PROTECT_FILTER] = {SBOX_OP_FILTER, SBOX_LAYER_MASKS,
                                 MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV},
        [SBOX_PROTECT_FILTER_GIT] = {SBOX_OP_FILTER, SBOX_LAYER_GIT,
                                     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV},
        [SBOX_PROTECT_MASK] = {SBOX_OP_MASK, SBOX_LAYER_MASKS, 0},
    };
    struct sbox_step *step = sbox_plan_add(plan, how[protect->kind].op, how[protect->kind].layer,
                                           protect->text, protect->path);
    if (!step)
        return -ENOMEM;
    step->id = protect->id;
    step->mode = protect->mode;
    step->attr = how[protect->kind].attr;
    step->why = protect->why;
    plan->guard = true;
    return 0;
}

int sbox_plan_workspace(struct sbox_plan *plan, const struct sbox_policy *policy)
{
    int r = add_workspace(plan, policy);
    for (size_t i = 0; r == 0 && i < policy->tree_count; i++)
        r = add_tree(plan, policy, &policy->trees[i]);
    for (int kind = SBOX_PROTECT_PIN; r == 0 && kind <= SBOX_PROTECT_MASK; kind++)
        for (size_t i = 0; r == 0 && i < policy->protect_count; i++)
            if ((int)policy->protects[i].kind == kind &&
                !is_covered(policy, policy->protects[i].path))
                r = add_protect(plan, &policy->protects[i]);
    return r;
}
