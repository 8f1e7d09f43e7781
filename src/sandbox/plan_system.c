/* The system's part of the view: programs and libraries read-only, a minimal /dev, a fresh /proc,
 * private /tmp and /var/tmp. What is not named here does not exist inside: no /sys, no /boot,
 * no other home, no socket of a host daemon. */
#include "sandbox/build.h"

#include <sys/mount.h>

static const uint64_t read_only = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

static int add_system_dirs(struct sbox_plan *plan, const struct sbox_facts *facts)
{
    for (size_t i = 0; i < facts->dir_count; i++) {
        const char *path = facts->dirs[i].path;
        const char *link = facts->dirs[i].link;
        struct sbox_step *step =
            link ? sbox_plan_add(plan, SBOX_OP_SYMLINK, SBOX_LAYER_VIEW, link, path + 1)
                 : sbox_plan_add(plan, SBOX_OP_BIND, SBOX_LAYER_VIEW, path, path + 1);
        if (!step)
            return -ENOMEM;
        if (!link) {
            step->attr = read_only;
            step->grant = SBOX_GRANT_READ;
        }
        step->why = "programs, libraries and system configuration";
    }
    for (size_t i = 0; i < facts->hidden_count; i++)
        if (!sbox_plan_add(plan, SBOX_OP_HIDE, SBOX_LAYER_MASKS, NULL, facts->hidden[i] + 1))
            return -ENOMEM;
    return 0;
}

/* Settings of package clients for the whole machine that hold logins. */
static int add_settings(struct sbox_plan *plan, const struct sbox_facts *facts)
{
    for (size_t i = 0; i < facts->setting_count; i++) {
        const struct sbox_facts_setting *s = &facts->settings[i];
        if (s->path[0] != '/')
            continue;
        struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_REPLACE, SBOX_LAYER_MASKS,
                                               s->text ? s->text : "", s->path + 1);
        if (!step)
            return -ENOMEM;
        step->attr = read_only;
        step->why = "the system's settings without logins";
    }
    return 0;
}

static int add_devices(struct sbox_plan *plan, const struct sbox_facts *facts)
{
    static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                          "/dev/random", "/dev/urandom", "/dev/tty"};
    static const char *const links[][2] = {{"/proc/self/fd", "dev/fd"},
                                           {"/proc/self/fd/0", "dev/stdin"},
                                           {"/proc/self/fd/1", "dev/stdout"},
                                           {"/proc/self/fd/2", "dev/stderr"},
                                           {"pts/ptmx", "dev/ptmx"}};
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_DIR, SBOX_LAYER_VIEW, NULL, "dev");
    if (!step)
        return -ENOMEM;
    step->mode = 0755;
    step->grant = SBOX_GRANT_DEVICE;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        step = sbox_plan_add(plan, SBOX_OP_BIND, SBOX_LAYER_VIEW, devices[i], devices[i] + 1);
        if (!step)
            return -ENOMEM;
        step->attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
        step->why = "device";
        /* A container may lack /dev/tty; the others every program counts on. */
        step->optional = i == 5;
    }
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (!sbox_plan_add(plan, SBOX_OP_SYMLINK, SBOX_LAYER_VIEW, links[i][0], links[i][1]))
            return -ENOMEM;
    if (!sbox_plan_add(plan, SBOX_OP_DEVPTS, SBOX_LAYER_VIEW, NULL, "dev/pts"))
        return -ENOMEM;
    if (facts->tty) {
        step = sbox_plan_add(plan, SBOX_OP_TTY, SBOX_LAYER_VIEW, facts->tty, facts->tty + 1);
        if (!step)
            return -ENOMEM;
        step->attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
        step->why = "your terminal";
    }
    return 0;
}

static int add_proc_read_only(struct sbox_plan *plan, const char *path)
{
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_SELF_RO, SBOX_LAYER_PROC, NULL, path);
    if (!step)
        return -ENOMEM;
    step->attr = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
    step->optional = true;
    return 0;
}

/* What root owns and nobody else may open: an ordinary user's uid is all that is mapped inside, so
 * the mode says no already, and Landlock grants no write below /proc. Root without capabilities is
 * still the owner. Each mount is a hundredth of a start (measured), so only root pays for these. */
static int add_proc_for_root(struct sbox_plan *plan)
{
    static const char *const parts[] = {"proc/irq", "proc/bus", "proc/fs", "proc/sysrq-trigger"};
    static const char *const hidden[] = {"proc/kcore",      "proc/kmsg",       "proc/timer_list",
                                         "proc/acpi",       "proc/scsi",       "proc/kpagecount",
                                         "proc/kpageflags", "proc/kpagecgroup"};
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof parts / sizeof *parts; i++)
        r = add_proc_read_only(plan, parts[i]);
    for (size_t i = 0; r == 0 && i < sizeof hidden / sizeof *hidden; i++)
        if (!sbox_plan_add(plan, SBOX_OP_HIDE, SBOX_LAYER_PROC, NULL, hidden[i]))
            r = -ENOMEM;
    return r;
}

static int add_proc(struct sbox_plan *plan, const struct sbox_facts *facts)
{
    /* World-readable, and of use to an attack on the kernel. */
    static const char *const hidden[] = {"proc/kallsyms", "proc/keys", "proc/sched_debug",
                                         "proc/latency_stats"};
    struct sbox_step *step = sbox_plan_add(plan, SBOX_OP_PROC, SBOX_LAYER_CORE, NULL, "proc");
    if (!step)
        return -ENOMEM;
    step->grant = SBOX_GRANT_READ;
    /* Written before /proc/sys turns read-only. The limit is the sandbox's own user namespace's. */
    if (!sbox_plan_add(plan, SBOX_OP_SYSCTL, SBOX_LAYER_NESTED, "0",
                       "proc/sys/user/max_user_namespaces"))
        return -ENOMEM;
    int r = add_proc_read_only(plan, "proc/sys");
    for (size_t i = 0; r == 0 && i < sizeof hidden / sizeof *hidden; i++)
        if (!sbox_plan_add(plan, SBOX_OP_HIDE, SBOX_LAYER_PROC, NULL, hidden[i]))
            r = -ENOMEM;
    return r == 0 && facts->uid == 0 ? add_proc_for_root(plan) : r;
}

static int add_scratch_dirs(struct sbox_plan *plan)
{
    static const struct {
        const char *target;
        mode_t mode;
    } dirs[] = {{"tmp", 01777}, {"var/tmp", 01777}, {"dev/shm", 01777}};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        struct sbox_step *step =
            sbox_plan_add(plan, SBOX_OP_SCRATCH, SBOX_LAYER_VIEW, NULL, dirs[i].target);
        if (!step)
            return -ENOMEM;
        step->mode = dirs[i].mode;
        step->attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
        step->grant = SBOX_GRANT_WRITE;
        step->why = "private, thrown away";
    }
    /* Not writable: outside it is root's, too. What /etc links to in it is put there as files. */
    struct sbox_step *run = sbox_plan_add(plan, SBOX_OP_DIR, SBOX_LAYER_VIEW, NULL, "run");
    if (!run)
        return -ENOMEM;
    run->mode = 0755;
    run->grant = SBOX_GRANT_READ;
    return sbox_plan_add(plan, SBOX_OP_SYMLINK, SBOX_LAYER_VIEW, "../run", "var/run") ? 0 : -ENOMEM;
}

int sbox_plan_system(struct sbox_plan *plan, const struct sbox_facts *facts)
{
    int r = add_system_dirs(plan, facts);
    if (r == 0)
        r = add_settings(plan, facts);
    if (r == 0)
        r = add_devices(plan, facts);
    if (r == 0)
        r = add_proc(plan, facts);
    if (r == 0)
        r = add_scratch_dirs(plan);
    return r;
}
