/* Install runs: which they are, and what they end with. */
#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/change_text.h"
#include "cli/progress.h"
#include "cli/run.h"

void sbox_run_judge_install(struct sbox_run *run, const struct sbox_options *o)
{
    enum sbox_install_verb verb =
        o->install == SBOX_INSTALL_NO ? SBOX_INSTALL_VERB_NONE : sbox_install_verb(o->args);
    run->install = verb != SBOX_INSTALL_VERB_NONE || o->install == SBOX_INSTALL_YES;
    run->may_differ = verb == SBOX_INSTALL_VERB_REPLACE || o->install == SBOX_INSTALL_YES;
}

/* What belongs to no package (.package-lock.json, .bin) changes with every install. */
static bool is_shown(const struct sbox_lock_change *c)
{
    return c->name[0] != '\0';
}

static void say_changes(const struct sbox_lock_result *r, size_t count)
{
    size_t shown = 0;
    for (size_t i = 0; i < r->change_count && shown < SBOX_CHANGES_SHOWN; i++) {
        _cleanup_buf_ struct sbox_buf line = {0};
        if (!is_shown(&r->changes[i]))
            continue;
        sbox_text_change(&line, &r->changes[i], r->tree_count > 1);
        sbox_note("  %.*s", (int)line.size, line.data ? line.data : "");
        shown++;
    }
    if (shown < count)
        sbox_note("  and %zu more", count - shown);
}

/* Links of trees that are what was locked were judged then; a tree that is a link itself was not
 * compared. */
static bool is_news(const struct sbox_lock_result *r, const struct sbox_leaving_link *l)
{
    return !l->interpreter && (r->change_count > 0 || l->path[0] == '\0');
}

static size_t say_links(const struct sbox_lock_result *r)
{
    size_t said = 0;
    for (size_t i = 0; i < r->link_count; i++) {
        const struct sbox_leaving_link *l = &r->links[i];
        if (!is_news(r, l))
            continue;
        sbox_note("leaves the project: %s%s%s -> %s", sbox_esc(l->tree), l->path[0] ? "/" : "",
                  sbox_esc(l->path), sbox_esc(l->target));
        said++;
    }
    return said;
}

static void say_headline(const struct sbox_lock_result *r, size_t count)
{
    const char *plural = count == 1 ? "" : "s";
    if (r->first)
        sbox_note("%zu package%s in trees that were never locked%s", count, plural,
                  count ? ":" : "");
    else if (count > 0)
        sbox_note("%zu package%s changed since the last lock:", count, plural);
    else
        sbox_note("no package changed since the last lock, but files that belong to none did");
}

static void say_preview(const struct sbox_lock_result *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->change_count; i++)
        count += is_shown(&r->changes[i]);
    if (r->change_count > 0) {
        say_headline(r, count);
        say_changes(r, count);
    }
    size_t links = say_links(r);
    if (r->change_count == 0 && links == 0) {
        if (!r->first)
            sbox_note("the trees are what was locked");
        return;
    }
    sbox_note(r->first ? "accept: sbox lock" : "review: sbox diff; accept: sbox lock");
}

static int preview(struct sbox_run *run, struct sbox_lock_result *ret, struct sbox_error *err)
{
    struct sbox_progress_line line;
    int r = sbox_session_look(&run->session, err);
    if (r < 0)
        return r;
    const struct sbox_lock_request request = {
        .datadir = &run->session.data,
        .root = &run->session.root,
        .scan = &run->session.scan,
        .home = getenv("HOME"),
        .progress = sbox_progress_draw,
        .progress_context = &line,
    };
    sbox_progress_begin(&line, "comparing", sbox_log_level_get() == SBOX_LOG_QUIET);
    r = sbox_lock_preview(&request, ret, err);
    sbox_progress_end(&line);
    return r;
}

/* npm tries for minutes before it gives up, and then names everything but the reason. */
void sbox_run_say_no_network(const struct sbox_run *run, int status)
{
    if (run->install && status != 0 && !run->network.wanted && !run->network.open)
        sbox_note("this install had no network; if it needs some: -o @npm, @pip, @cargo or HOST");
}

/* The command's exit status stands, whatever can be told of the trees. */
void sbox_run_say_installed(struct sbox_run *run)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_lock_result result = {0};
    if (preview(run, &result, &err) < 0)
        sbox_say("cannot tell what the install changed: %s", err.message);
    else
        say_preview(&result);
    sbox_lock_result_release(&result);
}
