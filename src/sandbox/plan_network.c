/* What the network changes in the view: who is asked for names. The files that /etc names through
 * links come here too, since resolv.conf is often one of them. */
#include "sandbox/build.h"

#include "net/layout.h"

#include <sys/mount.h>

static const char names_why[] = "names are answered by sbox-proxy, for the hosts that are allowed";
static const char hosts_why[] = "of /etc/hosts what leads to this machine: sbox-proxy has the rest";

/* What stands in a file's place inside; NULL: the file itself. */
static const char *text_for(const struct sbox_policy *policy, const struct sbox_facts *facts,
                            const char *path, const char **ret_why)
{
    if (!policy->network)
        return NULL;
    if (facts->resolv_conf && strcmp(facts->resolv_conf, path) == 0) {
        *ret_why = names_why;
        return SBOX_NET_RESOLV_CONF;
    }
    if (facts->hosts && strcmp(facts->hosts, path) == 0) {
        *ret_why = hosts_why;
        return facts->hosts_text;
    }
    return NULL;
}

static int add_file(struct sbox_plan *plan, const char *path, const char *data, const char *why)
{
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_FILE, SBOX_LAYER_VIEW, data, path + 1);
    if (!step)
        return -ENOMEM;
    if (why) {
        step->grant = SBOX_GRANT_READ;
        step->attr = MOUNT_ATTR_RDONLY;
        step->why = why;
    }
    return 0;
}

/* It lies in a directory that is bound as a whole, or nowhere yet: the end of a dangling link. */
static int replace(struct sbox_plan *plan, const struct sbox_facts *facts, const char *path,
                   const char *text, const char *why)
{
    for (size_t i = 0; i < facts->dir_count; i++) {
        if (!sbox_path_within(path, facts->dirs[i].path))
            continue;
        struct sbox_step *step =
            sbox_plan_add(plan, SBOX_OP_REPLACE, SBOX_LAYER_VIEW, text, path + 1);
        if (!step)
            return -ENOMEM;
        step->attr = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
        step->why = why;
        return 0;
    }
    return add_file(plan, path, text, why);
}

static bool is_linked(const struct sbox_facts *facts, const char *path)
{
    for (size_t i = 0; i < facts->file_count; i++)
        if (strcmp(facts->files[i].path, path) == 0)
            return true;
    return false;
}

int sbox_plan_network(struct sbox_plan *plan, const struct sbox_policy *policy,
                      const struct sbox_facts *facts)
{
    const char *const own[] = {facts->resolv_conf, facts->hosts};
    int r = 0;
    plan->resolver_on_loopback = policy->network && !facts->resolv_conf;
    for (size_t i = 0; r == 0 && i < facts->file_count; i++) {
        const char *why = NULL;
        const char *text = text_for(policy, facts, facts->files[i].path, &why);
        r = add_file(plan, facts->files[i].path, text ? text : facts->files[i].data, why);
    }
    for (size_t i = 0; r == 0 && policy->network && i < sizeof own / sizeof *own; i++) {
        const char *why = NULL;
        const char *text = own[i] ? text_for(policy, facts, own[i], &why) : NULL;
        if (text && !is_linked(facts, own[i]))
            r = replace(plan, facts, own[i], text, why);
    }
    return r;
}
