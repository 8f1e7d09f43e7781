/* sbox's own words around a run: stderr only, and nothing when there is nothing to say. */
#include "cli/run.h"

#include "base/escape.h"
#include "base/log.h"

#include <sys/mount.h>

static void detail_hidden(const struct sbox_run *run)
{
    for (size_t i = 0; i < run->protects.count; i++) {
        const struct sbox_protect *p = &run->protects.items[i];
        if (p->kind == SBOX_PROTECT_MASK || p->text)
            sbox_detail("'%s': %s", sbox_esc(p->path), p->why);
    }
    for (size_t i = 0; i < run->facts.setting_count; i++) {
        const struct sbox_facts_setting *s = &run->facts.settings[i];
        if (s->filtered)
            sbox_detail("'%s%s': %s", s->path[0] == '/' ? "" : "~/", s->path, s->why);
    }
}

void sbox_run_say_before(const struct sbox_run *run)
{
    detail_hidden(run);
    if (run->network.open)
        sbox_say("warning: --allow-net-out without hosts is deprecated: the command has the whole "
                 "network; list hosts instead (--allow-net-out=HOST[,...])");
    if (run->protects.secret_tracked)
        sbox_note(
            "'%s' is hidden and git tracks it: git add -A, commit -a, stash and checkout of it "
            "fail inside (commit other files by name), and its content is in git's history",
            sbox_esc(run->protects.tracked_example));
    if (run->protects.filtered_tracked)
        sbox_note(
            "'%s' is shown without its secrets and git tracks it: git add -A and commit -a inside "
            "would commit it so (commit other files by name)",
            sbox_esc(run->protects.filtered_tracked));
    if (run->protects.secret_linked)
        sbox_note("'%s' is hidden, but the file has another name (hard link) that is not",
                  sbox_esc(run->protects.linked_example));
    for (size_t i = 0; i < run->dropped.count; i++) {
        const struct sbox_env_drop *d = &run->dropped.items[i];
        if (d->reason == SBOX_ENV_CUT) {
            sbox_detail("environment: %s %s", sbox_esc(d->name), sbox_env_reason_text(d->reason));
            continue;
        }
        sbox_detail("environment: %s withheld (%s: %s); pass it with -e %s", sbox_esc(d->name),
                    sbox_env_reason_text(d->reason), d->detail ? d->detail : "", sbox_esc(d->name));
    }
}

static void say_discarded(const struct sbox_sandbox_result *result)
{
    if (result->discarded_count == 0)
        return;
    sbox_note("%zu file%s written into locked trees %s thrown away (%s%s); --install keeps them",
              result->discarded_count, result->discarded_count == 1 ? "" : "s",
              result->discarded_count == 1 ? "was" : "were",
              result->discarded.count ? sbox_esc(result->discarded.items[0]) : "",
              result->discarded_count > 1 ? ", ..." : "");
}

void sbox_run_say_after(const struct sbox_run *run, const struct sbox_sandbox_result *result)
{
    for (size_t i = 0; i < result->masked_again.count && i < 3; i++)
        sbox_note("'%s' was replaced while the command ran; it was hidden again",
                  sbox_esc(result->masked_again.items[i]));
    for (size_t i = 0; i < result->ended_by.count; i++)
        sbox_say("%s", result->ended_by.items[i]);
    if (result->plain_caches)
        sbox_note("no layers on this kernel or file system: %s",
                  run->install ? "the host's own caches were not used" : "caches were read-only");
    say_discarded(result);
}

static const char *access_text(const struct sbox_step *step)
{
    if (step->op == SBOX_OP_MASK || step->op == SBOX_OP_HIDE)
        return "hidden";
    if (step->op == SBOX_OP_FILTER ||
        (step->op == SBOX_OP_REPLACE && step->layer == SBOX_LAYER_MASKS))
        return "filtered";
    if (step->op == SBOX_OP_OVERLAY || step->op == SBOX_OP_AGAIN ||
        (step->op == SBOX_OP_LAYERS && !step->source))
        return "throw-away";
    if (step->op == SBOX_OP_LOCK_RO || step->op == SBOX_OP_DIR || step->op == SBOX_OP_FILE ||
        (step->attr & MOUNT_ATTR_RDONLY)) /* a bare directory or file is part of the view's root */
        return "read-only";
    if (step->op == SBOX_OP_BIND && step->grant == SBOX_GRANT_NONE)
        return "device";
    return step->op == SBOX_OP_PIN ? "pinned" : "writable";
}

int sbox_run_print(const struct sbox_run *run, const struct sbox_plan *plan)
{
    (void)printf("workspace    %s (%s)\n", sbox_esc(run->session.root.path),
                 sbox_root_kind_text(run->session.root.kind));
    (void)printf("directory    %s\n", sbox_esc(run->session.root.cwd));
    if (run->install)
        (void)printf("kind         install run: it has the project to itself\n");
    sbox_run_network_print(&run->network);
    (void)printf("trees        %zu locked, %s\n", run->policy.tree_count,
                 run->policy.tree_count == 0 ? "nothing to check"
                 : run->install              ? "real and writable"
                                             : "equal to the lock");
    for (size_t i = 0; i < plan->count; i++) {
        const struct sbox_step *step = &plan->steps[i];
        bool below = sbox_op_phase(step->op) == SBOX_PHASE_SEALED;
        if (step->why && step->op != SBOX_OP_SYMLINK)
            (void)printf("%-12s %s%s  (%s%s)\n", access_text(step), below ? "" : "/",
                         sbox_esc(step->target), step->why, step->optional ? ", if it exists" : "");
    }
    for (size_t i = 0; i < run->facts.setting_count; i++)
        if (!run->facts.settings[i].text && run->facts.settings[i].path[0] != '/')
            (void)printf("left out     ~/%s  (%s)\n", run->facts.settings[i].path,
                         run->facts.settings[i].why);
    for (size_t i = 0; i < run->dropped.count; i++)
        (void)printf("%s     %s  (%s)\n",
                     run->dropped.items[i].reason == SBOX_ENV_CUT ? "filtered" : "withheld",
                     sbox_esc(run->dropped.items[i].name),
                     sbox_env_reason_text(run->dropped.items[i].reason));
    return fflush(stdout) == 0 ? 0 : -errno;
}
