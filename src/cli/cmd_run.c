/* sbox run: check, then execute in the sandbox. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/log.h"
#include "cli/in_path.h"
#include "cli/run.h"
#include "project/mark.h"
#include "sandbox/build.h"
#include "sandbox/quarantine.h"

#include <sys/wait.h>

static void run_release(struct sbox_run *run)
{
    for (size_t i = 0; i < run->policy.path_count; i++)
        free(run->paths[i].path);
    free(run->paths);
    free(run->trees);
    sbox_home_caches_release(&run->caches);
    sbox_cachedir_release(&run->cache_dir);
    sbox_run_network_release(&run->network);
    sbox_protects_release(&run->protects);
    sbox_env_wipe_strv(&run->environment);
    sbox_env_report_release(&run->dropped);
    sbox_facts_release(&run->facts);
    sbox_verify_result_release(&run->verified);
    sbox_session_release(&run->session);
}

static int failed(const struct sbox_error *err)
{
    sbox_say("%s", err->message);
    return SBOX_EXIT_FAILED;
}

/* A name that the caller's own PATH does not have either is a slip, and not the sandbox's doing. */
static const char *cannot_run_text(const char *name, int error)
{
    if (error != ENOENT && error != ENOTDIR)
        return strerror(error);
    return !strchr(name, '/') && !sbox_in_path(name)
               ? "not found in PATH"
               : "not found in the sandbox (a program outside the usual places? --ro DIR)";
}

/* A signal's default action is repeated for Ctrl-C only: shells end a script's loop on it. */
static int exit_status(const struct sbox_sandbox_result *result)
{
    if (result->exec_errno) {
        bool absent = result->exec_errno == ENOENT || result->exec_errno == ENOTDIR;
        sbox_say("cannot execute '%s': %s", sbox_esc(result->cannot_run),
                 cannot_run_text(result->cannot_run, result->exec_errno));
        return absent ? SBOX_EXIT_NOT_FOUND : SBOX_EXIT_CANNOT_EXECUTE;
    }
    if (WIFEXITED(result->status))
        return WEXITSTATUS(result->status);
    return 128 + WTERMSIG(result->status);
}

static int dry_run(struct sbox_run *run)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_plan plan = {0};
    if (sbox_plan_build(&run->policy, &run->facts, &plan, &err) < 0)
        return failed(&err);
    int r = sbox_run_print(run, &plan);
    sbox_plan_release(&plan);
    return r < 0 ? SBOX_EXIT_FAILED : 0;
}

/* A tree that was replaced under the command: what happened to it is not known. */
static void mark_lost_tree(const struct sbox_run *run, const struct sbox_sandbox_result *result)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    for (size_t i = 0; result->lost && i < run->policy.tree_count; i++)
        if (strcmp(run->policy.trees[i].path, result->lost) == 0 &&
            sbox_mark_set(run->session.project_fd, result->lost, &err) < 0)
            sbox_say("%s", err.message);
}

enum { SLOW_SCAN = 500 }; /* directories: about a millisecond */

/* The quarantine needs a place of its own; a project that was never locked has none yet. */
static int project_directory(struct sbox_run *run, struct sbox_error *err)
{
    struct sbox_session *s = &run->session;
    if (s->project_fd >= 0)
        return 0;
    int r = sbox_session_make_data(s, err);
    if (r < 0)
        return r;
    s->project_fd = sbox_project_dir_open(&s->data, s->root.path, true, err);
    return s->project_fd < 0 ? s->project_fd : 0;
}

static int quarantine(struct sbox_run *run, struct sbox_strv *moved, struct sbox_error *err)
{
    int r = sbox_quarantine_run(&run->session.root, &run->session.scan, run->protects.items,
                                run->protects.count, run->session.project_fd, moved, err);
    if (r != -ENOTDIR || run->session.project_fd >= 0)
        return r;
    r = project_directory(run, err);
    return r < 0 ? r : quarantine(run, moved, err);
}

static int clean_up(struct sbox_run *run, int status)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    _cleanup_strv_ struct sbox_strv moved = {0};
    /* Where looking is slow, a place for its cache is made; where that fails it stays slow. */
    if (run->session.scan.directories > SLOW_SCAN)
        (void)project_directory(run, NULL);
    int r = quarantine(run, &moved, &err);
    char id[SBOX_PROJECT_ID_SIZE];
    sbox_project_id(run->session.root.path, id);
    for (size_t i = 0; i < moved.count; i++)
        sbox_say(
            "the command made the repository '%s', which would make git run something here; it "
            "was moved to %s/projects/%s/quarantine",
            sbox_esc(moved.items[i]), sbox_esc(run->session.data.path), id);
    if (r < 0) {
        sbox_say("cannot tell whether the command left something that git would run: %s",
                 err.message);
        return SBOX_EXIT_FAILED;
    }
    return status;
}

static int boot(struct sbox_run *run, const struct sbox_run_changes *changes)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_sandbox_result result = {0};
    int r = sbox_run_network_go(&run->network, &err);
    run->policy.watch = run->network.wanted ? &run->network.watch : NULL;
    if (r == 0)
        r = sbox_sandbox_run(&run->policy, &run->facts, changes->filter, changes->context, &result,
                             &err);
    sbox_run_network_end(&run->network);
    if (r < 0)
        return failed(&err);
    sbox_run_say_after(run, &result);
    mark_lost_tree(run, &result);
    int status = clean_up(run, exit_status(&result));
    if (run->install)
        sbox_home_caches_settle(&run->caches);
    if (run->install && result.exec_errno == 0) {
        sbox_run_say_no_network(run, status);
        sbox_run_say_installed(run);
    }
    sbox_run_journal(run, status);
    sbox_sandbox_result_release(&result);
    return status;
}

/* An install run has the project to itself; a look at the policy (--dry-run) changes nothing. */
static int enter(struct sbox_run *run, const struct sbox_options *o, struct sbox_error *err)
{
    int r = sbox_session_find(&run->session, o, err);
    if (r < 0)
        return r;
    return run->install && !o->dry_run ? sbox_session_enter_exclusive(&run->session, "install", err)
                                       : sbox_session_enter_shared(&run->session, "run", err);
}

int sbox_run_with(const struct sbox_options *o, const struct sbox_run_changes *changes)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_run run = {.keep_environment = changes->keep_environment};
    sbox_session_init(&run.session);
    sbox_run_judge_install(&run, o);
    sbox_run_network_init(&run.network);
    int status = sbox_run_network_begin(&run.network, o, &err) < 0 || enter(&run, o, &err) < 0
                     ? failed(&err)
                     : 0;
    if (status == 0)
        status = sbox_run_check_trees(&run, o);
    if (status == 0 && sbox_run_make_policy(&run, o, &err) < 0)
        status = failed(&err);
    if (status == 0 && changes->policy)
        changes->policy(&run.policy, changes->context);
    if (status == 0 && o->dry_run) {
        status = dry_run(&run);
    } else if (status == 0) {
        sbox_run_say_before(&run);
        status = boot(&run, changes);
    }
    run_release(&run);
    return status;
}

int sbox_cmd_run(const struct sbox_options *o)
{
    return sbox_run_with(o, &(struct sbox_run_changes){0});
}
