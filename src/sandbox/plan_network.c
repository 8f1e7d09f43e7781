/* What the network changes in the view: who is asked for names. The files that /etc names through
 * links come here too, since resolv.conf is often one of them. */
#include "sandbox/build.h"

#include "net/layout.h"

#include <sys/mount.h>

static const char why[] = "names are answered by sbox-proxy, for the hosts that are allowed";

static bool is_resolv_conf(const struct sbox_facts *facts, const char *path)
{
    return facts->resolv_conf && strcmp(facts->resolv_conf, path) == 0;
}

static int add_file(struct sbox_plan *plan, const char *path, const char *data, bool ours)
{
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_FILE, SBOX_LAYER_VIEW, data, path + 1);
    if (!step)
        return -ENOMEM;
    if (ours) {
        step->grant = SBOX_GRANT_READ;
        step->attr = MOUNT_ATTR_RDONLY;
        step->why = why;
    }
    return 0;
}

/* It lies in a directory that is bound as a whole, or nowhere yet: the end of a dangling link. */
static int replace_resolv_conf(struct sbox_plan *plan, const struct sbox_facts *facts)
{
    for (size_t i = 0; i < facts->dir_count; i++) {
        if (!sbox_path_within(facts->resolv_conf, facts->dirs[i].path))
            continue;
        struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_REPLACE, SBOX_LAYER_VIEW,
                                               SBOX_NET_RESOLV_CONF, facts->resolv_conf + 1);
        if (!step)
            return -ENOMEM;
        step->attr = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
        step->why = why;
        return 0;
    }
    return add_file(plan, facts->resolv_conf, SBOX_NET_RESOLV_CONF, true);
}

int sbox_plan_network(struct sbox_plan *plan, const struct sbox_policy *policy,
                      const struct sbox_facts *facts)
{
    bool pending = policy->network && facts->resolv_conf;
    plan->resolver_on_loopback = policy->network && !facts->resolv_conf;
    for (size_t i = 0; i < facts->file_count; i++) {
        bool ours = pending && is_resolv_conf(facts, facts->files[i].path);
        int r = add_file(plan, facts->files[i].path,
                         ours ? SBOX_NET_RESOLV_CONF : facts->files[i].data, ours);
        if (r < 0)
            return r;
        pending = pending && !ours;
    }
    return pending ? replace_resolv_conf(plan, facts) : 0;
}
