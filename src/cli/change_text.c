#include "cli/change_text.h"

#include "base/escape.h"

static char change_mark(enum sbox_change_kind kind)
{
    switch (kind) {
    case SBOX_CHANGE_ADDED:
        return '+';
    case SBOX_CHANGE_REMOVED:
        return '-';
    case SBOX_CHANGE_VERSION:
        return '~';
    case SBOX_CHANGE_CONTENT:
        return '!';
    }
    return '?';
}

void sbox_text_change(struct sbox_buf *out, const struct sbox_lock_change *c, bool name_tree)
{
    bool named = c->name[0] != '\0';
    sbox_buf_addf(out, "%c %s", change_mark(c->kind), named ? sbox_esc(c->name) : "");
    if (!named)
        sbox_buf_addf(out, "%s%s%s", sbox_esc(c->tree), c->path[0] ? "/" : "", sbox_esc(c->path));
    const char *version = c->is[0] ? c->is : c->was;
    if (c->kind == SBOX_CHANGE_VERSION)
        sbox_buf_addf(out, " %s -> %s", c->was[0] ? sbox_esc(c->was) : "(none)",
                      c->is[0] ? sbox_esc(c->is) : "(none)");
    else if (version[0])
        sbox_buf_addf(out, " %s", sbox_esc(version));
    if (c->kind == SBOX_CHANGE_CONTENT)
        sbox_buf_add_str(out, named ? " content changed, version did not" : " content changed");
    if (named && (name_tree || strcmp(c->name, c->path) != 0))
        sbox_buf_addf(out, "  (%s%s%s)", sbox_esc(c->tree), c->path[0] ? "/" : "",
                      sbox_esc(c->path));
}
