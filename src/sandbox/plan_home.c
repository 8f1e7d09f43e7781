/* $HOME inside: read-only and nearly empty. Toolchains are exposed by a fixed table, never because
 * the environment or a link in the workspace points at them; what tools insist on writing is a
 * throw-away directory; the rest of the home directory does not exist. */
#include "sandbox/build.h"

#include <limits.h>
#include <sys/mount.h>

static const char *const throw_away[] = {".cache", ".config", ".local/state", ".npm",
                                         ".yarn/berry"};

static int add_toolchain(struct sbox_plan *plan, const char *home, const char *name)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", home, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return 0;
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_BIND, SBOX_LAYER_VIEW, path, path + 1);
    if (!step)
        return -ENOMEM;
    step->attr = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    step->grant = SBOX_GRANT_READ;
    step->optional = true;
    step->why = "toolchain";
    return 0;
}

static int add_throw_away(struct sbox_plan *plan, const char *home, const char *name)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", home, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return -ENAMETOOLONG;
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_SCRATCH, SBOX_LAYER_VIEW, NULL, path + 1);
    if (!step)
        return -ENOMEM;
    step->mode = 0700;
    step->attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    step->grant = SBOX_GRANT_WRITE;
    step->why = "tools write here; thrown away";
    return 0;
}

/* Behind the throw-away directories, in which some of them lie. */
static int add_setting(struct sbox_plan *plan, const char *home,
                       const struct sbox_facts_setting *setting)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", home, setting->path);
    if (setting->path[0] == '/' || !setting->text || n < 0 || (size_t)n >= sizeof path)
        return 0;
    struct sbox_step *step =
        sbox_plan_add(plan, SBOX_OP_FILE, SBOX_LAYER_VIEW, setting->text, path + 1);
    if (!step)
        return -ENOMEM;
    step->why =
        setting->filtered ? "your settings without logins; --ro shows them whole" : "your settings";
    return 0;
}

static bool is_cache(const struct sbox_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->cache_count; i++)
        if (strcmp(policy->caches[i].place, name) == 0)
            return true;
    return false;
}

static int add_git_config(struct sbox_plan *plan, const char *home, const char *text)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/.gitconfig", home);
    if (!text || n < 0 || (size_t)n >= sizeof path)
        return 0;
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_FILE, SBOX_LAYER_VIEW, text, path + 1);
    if (!step)
        return -ENOMEM;
    step->why = "your git settings without signing, credentials and programs";
    return 0;
}

int sbox_plan_home(struct sbox_plan *plan, const struct sbox_policy *policy,
                   const struct sbox_facts *facts)
{
    const char *home = policy->home;
    if (!home || home[0] != '/' || home[1] == '\0')
        return 0;
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_DIR, SBOX_LAYER_VIEW, NULL, home + 1);
    if (!step)
        return -ENOMEM;
    step->mode = 0755;
    step->grant = SBOX_GRANT_READ;
    step->why = "home, nearly empty";
    int r = 0;
    for (size_t i = 0; r == 0 && i < facts->home_programs.count; i++)
        r = add_toolchain(plan, home, facts->home_programs.items[i]);
    for (size_t i = 0; r == 0 && i < sizeof throw_away / sizeof *throw_away; i++)
        if (!is_cache(policy, throw_away[i]))
            r = add_throw_away(plan, home, throw_away[i]);
    if (r == 0)
        r = sbox_plan_caches(plan, policy);
    for (size_t i = 0; r == 0 && i < facts->setting_count; i++)
        r = add_setting(plan, home, &facts->settings[i]);
    return r == 0 ? add_git_config(plan, home, facts->git_config) : r;
}
