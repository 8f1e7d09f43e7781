/* Caches of package managers (home_caches.h says which). In an install run the private one is
 * written and kept. In an ordinary run it is a layer under one that is thrown away; those that have
 * no host's cache below them share one overlay, since each costs a start as much as many binds
 * (measured). */
#include "sandbox/build.h"

#include <limits.h>
#include <sys/mount.h>

#define TOGETHER ".sbox/caches"

static int finish(struct sbox_step *step, const char *why)
{
    if (!step)
        return -ENOMEM;
    step->attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    step->grant = why ? SBOX_GRANT_WRITE : SBOX_GRANT_NONE;
    step->why = why;
    return 0;
}

/* `upper` NULL: thrown away. `first` may be NULL. */
static struct sbox_step *add_layers(struct sbox_plan *plan, const char *upper, const char *first,
                                    const char *second, const char *target)
{
    const char *const lowers[SBOX_STEP_LOWERS] = {first, second};
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_LAYERS, SBOX_LAYER_VIEW, upper, target);
    size_t count = 0;
    for (size_t i = 0; step && i < SBOX_STEP_LOWERS; i++) {
        const char *kept = lowers[i] ? sbox_plan_keep(plan, lowers[i]) : NULL;
        if (lowers[i] && !kept)
            return NULL;
        if (kept)
            step->lower[count++] = kept;
    }
    return step;
}

static int add_kept(struct sbox_plan *plan, const struct sbox_policy_cache *cache,
                    const char *content, const char *target)
{
    return finish(cache->host ? add_layers(plan, cache->own, cache->host, NULL, target)
                              : sbox_plan_add(plan, SBOX_OP_BIND, SBOX_LAYER_VIEW, content, target),
                  "cache of this project's install runs, kept");
}

/* All private caches as one overlay, out of sight: <id>/home of home_caches.h. */
static int add_together(struct sbox_plan *plan, const struct sbox_policy_cache *any)
{
    char home[PATH_MAX];
    size_t size = strlen(any->own) - strlen(any->place) - 1;
    if ((size_t)snprintf(home, sizeof home, "%.*s", (int)size, any->own) >= sizeof home)
        return -ENAMETOOLONG;
    return finish(add_layers(plan, NULL, home, NULL, TOGETHER), NULL);
}

static int add_empty(struct sbox_plan *plan, const char *target, const char *why)
{
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_SCRATCH, SBOX_LAYER_VIEW, NULL, target);
    if (step)
        step->mode = 0700;
    return finish(step, why);
}

static int add_thrown_away(struct sbox_plan *plan, const struct sbox_policy_cache *cache,
                           const char *content, const char *target, bool *together)
{
    static const char why[] = "cache; what is written is thrown away";
    char source[PATH_MAX];
    if (!cache->host && !cache->own)
        return add_empty(plan, target, why);
    if (cache->host)
        return finish(add_layers(plan, NULL, cache->own ? content : NULL, cache->host, target),
                      why);
    int r = *together ? 0 : add_together(plan, cache);
    *together = true;
    if (r == 0 &&
        (size_t)snprintf(source, sizeof source, TOGETHER "/%s/u", cache->place) >= sizeof source)
        r = -ENAMETOOLONG;
    return r < 0 ? r
                 : finish(sbox_plan_add(plan, SBOX_OP_AGAIN, SBOX_LAYER_VIEW, source, target), why);
}

int sbox_plan_caches(struct sbox_plan *plan, const struct sbox_policy *policy)
{
    bool together = false;
    int r = 0;
    for (size_t i = 0; r == 0 && i < policy->cache_count; i++) {
        const struct sbox_policy_cache *cache = &policy->caches[i];
        char target[PATH_MAX];
        char content[PATH_MAX];
        const char *own = cache->own ? cache->own : "";
        if ((size_t)snprintf(target, sizeof target, "%s/%s", policy->home + 1, cache->place) >=
                sizeof target ||
            (size_t)snprintf(content, sizeof content, "%s/u", own) >= sizeof content)
            return -ENAMETOOLONG;
        r = policy->install && cache->own
                ? add_kept(plan, cache, content, target)
                : add_thrown_away(plan, cache, content, target, &together);
    }
    return r;
}
