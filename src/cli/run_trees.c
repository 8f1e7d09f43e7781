/* Do the trees allow a run? Product's matrix: a tree that was never locked, is absent or differs
 * refuses with 120 and is named. An install run makes or changes trees, so the first two are only
 * said; a tree that differs refuses it as well, unless it is removed first (npm ci) or --install
 * was given: what is wrong with it would be mixed into what the install brings. Without any lock
 * and without any tree there is nothing to check, and the database is not even opened. */
#include "cli/run.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "project/mark.h"

enum { NAMED_MAX = 20 };

static void say_difference(const struct sbox_verified_tree *tree, const struct sbox_difference *d)
{
    char package[300] = "";
    if (d->package && d->package[0])
        (void)snprintf(package, sizeof package, " (%s%s%s)", sbox_esc(d->package),
                       d->version[0] ? " " : "", sbox_esc(d->version));
    sbox_say("  %s: %s%s%s%s", sbox_verdict_text(d->verdict), sbox_esc(tree->path),
             d->path[0] ? "/" : "", sbox_esc(d->path), package);
}

/* What lies below a directory that came or went as a whole says nothing more. */
static bool said_with(const struct sbox_difference *above, const struct sbox_difference *d)
{
    return above && above->verdict == d->verdict && above->type == SBOX_ENTRY_DIRECTORY &&
           (d->verdict == SBOX_VERDICT_ADDED || d->verdict == SBOX_VERDICT_REMOVED) &&
           sbox_path_within(d->path, above->path);
}

static void say_differences(const struct sbox_verified_tree *tree)
{
    const struct sbox_difference *above = NULL;
    size_t named = 0;
    size_t left = tree->difference_count;
    for (size_t i = 0; i < tree->difference_count; i++) {
        const struct sbox_difference *d = &tree->differences[i];
        bool said = said_with(above, d);
        if (!said && named == NAMED_MAX)
            break;
        left--;
        if (said)
            continue;
        above = d;
        say_difference(tree, d);
        named++;
    }
    if (left > 0)
        sbox_say("  ... and %zu more: sbox verify --all", left);
}

/* Says what is wrong with the tree, if anything; may the run start in spite of it? */
static bool judge_tree(const struct sbox_run *run, const struct sbox_verified_tree *tree)
{
    const char *name = sbox_esc(tree->path);
    bool goes_on = tree->state == SBOX_TREE_DIFFERS ? run->may_differ : run->install;
    void (*say)(const char *, ...) = goes_on ? sbox_note : sbox_say;
    const char *refused = goes_on ? "" : "refused: ";
    switch (tree->state) {
    case SBOX_TREE_UNLOCKED:
        say("%s'%s' was never locked", refused, name);
        return goes_on;
    case SBOX_TREE_ABSENT:
        say("%s'%s' is locked but not there", refused, name);
        return goes_on;
    case SBOX_TREE_DIFFERS:
        say("%s'%s' is not what was locked (%zu difference%s)", refused, name,
            tree->difference_count, tree->difference_count == 1 ? "" : "s");
        if (!goes_on)
            say_differences(tree);
        return goes_on;
    case SBOX_TREE_EQUAL:
        break;
    }
    return true;
}

static int judge_trees(const struct sbox_run *run)
{
    bool refused = false;
    for (size_t i = 0; i < run->verified.tree_count; i++)
        refused |= !judge_tree(run, &run->verified.trees[i]);
    if (!refused)
        return 0;
    if (run->install)
        sbox_say("if the change is yours: sbox lock; otherwise remove the tree and install anew "
                 "(npm ci does both); --install goes on over it as it is");
    else
        sbox_say("see it: sbox diff; accept it: sbox lock; undo it: sbox restore --delete");
    return SBOX_EXIT_REFUSED;
}

static int judge_never_locked(const struct sbox_run *run)
{
    if (!sbox_session_has_tree(&run->session))
        return 0;
    for (size_t i = 0; i < run->session.scan.count; i++) {
        const struct sbox_scan_entry *e = &run->session.scan.entries[i];
        if (e->kind != SBOX_SCAN_TREE)
            continue;
        if (run->install)
            sbox_note("'%s' was never locked", sbox_esc(e->path));
        else
            sbox_say("refused: '%s' was never locked", sbox_esc(e->path));
    }
    if (run->install)
        return 0;
    sbox_say("this project has no lock; after an install you trust: sbox lock");
    return SBOX_EXIT_REFUSED;
}

static int check_mark(const struct sbox_run *run)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    _cleanup_free_ char *marked = NULL;
    if (run->session.project_fd < 0)
        return 0;
    if (sbox_mark_get(run->session.project_fd, &marked, &err) < 0) {
        sbox_say("%s", err.message);
        return SBOX_EXIT_FAILED;
    }
    if (!marked)
        return 0;
    if (run->may_differ) {
        sbox_note("'%s' was replaced from outside while a command ran in it", sbox_esc(marked));
        return 0;
    }
    sbox_say("refused: '%s' was replaced from outside while a command ran in it; look at it, then: "
             "sbox lock",
             sbox_esc(marked));
    return SBOX_EXIT_REFUSED;
}

int sbox_run_check_trees(struct sbox_run *run, const struct sbox_options *o)
{
    int marked = check_mark(run);
    if (marked != 0)
        return marked;
    if (!run->session.root.locked)
        return judge_never_locked(run);
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_verify_request request = {
        .datadir = &run->session.data,
        .root = &run->session.root,
        .scan = &run->session.scan,
        .mode = o->check == SBOX_CHECK_FULL ? SBOX_VERIFY_FULL : SBOX_VERIFY_FAST,
    };
    int r = sbox_verify_run(&request, &run->verified, &err);
    if (r == -ENODATA)
        return judge_never_locked(run);
    if (r < 0) {
        sbox_say("cannot tell whether the trees are what was locked: %s", err.message);
        return SBOX_EXIT_FAILED;
    }
    return run->verified.same ? 0 : judge_trees(run);
}
