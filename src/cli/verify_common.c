#include "cli/verify_common.h"

#include "cli/progress.h"
#include "cli/text.h"
#include "cli/tree_text.h"

int sbox_verify_with(struct sbox_session *session, const struct sbox_options *o, const char *verb,
                     enum sbox_verify_mode mode, struct sbox_verify_result *ret,
                     struct sbox_error *err)
{
    int r = sbox_session_find(session, o, err);
    if (r == 0)
        r = sbox_session_enter_shared(session, verb, err);
    if (r < 0)
        return r;
    if (session->project_fd < 0)
        return sbox_verify_never_locked(&session->root, err);
    return sbox_verify_entered(session, o, mode, ret, err);
}

int sbox_verify_entered(struct sbox_session *session, const struct sbox_options *o,
                        enum sbox_verify_mode mode, struct sbox_verify_result *ret,
                        struct sbox_error *err)
{
    struct sbox_progress_line line;
    sbox_progress_begin(&line, "verifying", o->level == SBOX_LOG_QUIET);
    const struct sbox_verify_request request = {
        .datadir = &session->data,
        .root = &session->root,
        .scan = &session->scan,
        .paths = (const char *const *)o->args,
        .path_count = o->arg_count,
        .mode = mode,
        .progress = sbox_progress_draw,
        .progress_context = &line,
    };
    int r = sbox_verify_run(&request, ret, err);
    sbox_progress_end(&line);
    return r;
}

void sbox_verify_state_text(struct sbox_buf *out, const struct sbox_verified_tree *tree)
{
    switch (tree->state) {
    case SBOX_TREE_EQUAL:
        sbox_text_colour(out, SBOX_GREEN, "as locked");
        break;
    case SBOX_TREE_UNLOCKED:
        sbox_text_colour(out, SBOX_RED, "never locked");
        break;
    case SBOX_TREE_ABSENT:
        sbox_text_colour(out, SBOX_RED, "missing");
        break;
    case SBOX_TREE_DIFFERS:
        sbox_text_colour(out, SBOX_RED, "differs");
        sbox_buf_add_str(out, ": ");
        sbox_text_plural(out, tree->difference_count, "difference", "differences");
        break;
    }
}

static void json_difference(struct sbox_json *j, const struct sbox_difference *d)
{
    sbox_json_object(j, NULL);
    sbox_json_string(j, "verdict", sbox_verdict_text(d->verdict));
    sbox_json_string(j, "type", sbox_entry_type_text(d->type));
    sbox_json_path(j, "path", d->path, strlen(d->path));
    sbox_json_string(j, "package", d->package[0] ? d->package : NULL);
    sbox_json_string(j, "version", d->version[0] ? d->version : NULL);
    sbox_json_end_object(j);
}

static void json_tree(struct sbox_json *j, const struct sbox_verified_tree *t)
{
    sbox_json_object(j, NULL);
    sbox_json_path(j, "path", t->path, strlen(t->path));
    sbox_json_string(j, "kind", sbox_tree_kind_text(t->kind));
    sbox_json_string(j, "state", sbox_tree_state_text(t->state));
    sbox_json_bool(j, "outside", t->outside);
    sbox_json_uint(j, "entries", t->entries);
    sbox_json_uint(j, "hashed", t->hashed);
    sbox_json_uint(j, "bytes", t->bytes);
    if (t->state == SBOX_TREE_UNLOCKED) {
        sbox_json_null(j, "fingerprint");
        sbox_json_null(j, "local");
    } else {
        sbox_json_digest(j, "fingerprint", &t->fingerprint);
        sbox_json_digest(j, "local", &t->local);
    }
    sbox_json_array(j, "differences");
    for (size_t i = 0; i < t->difference_count; i++)
        json_difference(j, &t->differences[i]);
    sbox_json_end_array(j);
    sbox_json_end_object(j);
}

void sbox_verify_json(struct sbox_json *j, const struct sbox_verify_result *r,
                      enum sbox_verify_mode mode)
{
    sbox_json_object(j, NULL);
    sbox_json_bool(j, "same", r->same);
    sbox_json_string(j, "mode", mode == SBOX_VERIFY_FAST ? "fast" : "full");
    sbox_json_object(j, "lock");
    sbox_json_int(j, "id", r->lock_id);
    sbox_json_time(j, "time", r->lock_time);
    sbox_json_digest(j, "fingerprint", &r->fingerprint);
    sbox_json_digest(j, "local", &r->local);
    sbox_json_end_object(j);
    sbox_json_uint(j, "packages", r->packages);
    sbox_json_uint(j, "elapsed_ms", r->elapsed_ms);
    sbox_json_array(j, "trees");
    for (size_t i = 0; i < r->tree_count; i++)
        json_tree(j, &r->trees[i]);
    sbox_json_end_array(j);
    sbox_json_paths(j, "caches", r->caches, r->cache_count);
    sbox_json_end_object(j);
}
