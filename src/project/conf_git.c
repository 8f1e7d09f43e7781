/* A repository's git config, written anew from what git-config(1)'s syntax says it holds. Inside it
 * is read-only; here only secrets matter, not what git would execute. */
#include "base/error.h"

#include "project/conf_impl.h"
#include "project/git.h"

static void add_quoted(struct sbox_buf *out, struct sbox_span text)
{
    sbox_buf_add_byte(out, '"');
    for (size_t i = 0; i < text.size; i++) {
        char c = text.at[i];
        if (c == '"' || c == '\\')
            sbox_buf_add_byte(out, '\\');
        if (c == '\n')
            sbox_buf_add_str(out, "\\n");
        else
            sbox_buf_add_byte(out, (uint8_t)c);
    }
    sbox_buf_add_byte(out, '"');
}

/* Everything between the first dot and the last is the subsection. */
static void add_section(struct sbox_buf *out, const char *key, const char *dot, const char *last)
{
    sbox_buf_addf(out, "[%.*s", (int)(dot - key), key);
    if (last > dot) {
        sbox_buf_add_byte(out, ' ');
        add_quoted(out, sbox_span_of(dot + 1, last));
    }
    sbox_buf_add_str(out, "]\n");
}

/* A URL may be a part of the key: url.<base>.insteadOf, http.<url>.proxy, credential.<url>.helper.
 */
static bool is_secret(struct sbox_span key, struct sbox_span section, struct sbox_span value)
{
    struct sbox_buf cut = {0};
    bool secret = sbox_conf_key_secret(key) && !sbox_conf_value_plain(value);
    secret = secret || sbox_conf_cut_urls(&cut, section, false) > 0;
    secret = secret || sbox_conf_value_secret(section);
    sbox_buf_release(&cut);
    return secret;
}

static int keep(const char *key, const char *value, void *context)
{
    struct sbox_conf_writer *w = context;
    const char *dot = strchr(key, '.');
    const char *last = strrchr(key, '.');
    if (!dot || dot == key) /* git wants a name for the section */
        return -EBADMSG;
    struct sbox_span name = {last + 1, strlen(last + 1)};
    struct sbox_span section = sbox_span_of(key, last);
    struct sbox_span text = {value ? value : "", value ? strlen(value) : 0};
    struct sbox_buf cut = {0};
    bool proxy = strcmp(last, ".proxy") == 0;
    size_t urls = sbox_conf_cut_urls(&cut, text, proxy);
    struct sbox_span left = {cut.data, cut.size};
    if (is_secret(name, section, text) || sbox_conf_value_secret(left) ||
        (proxy && sbox_conf_proxy_unclear(left))) {
        sbox_conf_left_out(w);
    } else {
        add_section(&w->text, key, dot, last);
        sbox_buf_addf(&w->text, "\t%s", last + 1);
        if (value) {
            sbox_buf_add_str(&w->text, " = ");
            add_quoted(&w->text, left);
        }
        sbox_buf_add_byte(&w->text, '\n');
        w->taken += urls;
    }
    w->text.failed |= cut.failed;
    sbox_buf_release(&cut);
    return 0;
}

/* Comments do not come through: what the walk passes over is looked at as a whole. */
static bool comments_hold_secret(const char *data, size_t size)
{
    const char *end = data + size;
    struct sbox_span all;
    while (sbox_span_line(&data, end, &all)) {
        struct sbox_span line = sbox_span_trim(all);
        struct sbox_conf_writer dropped = {.taken = 0};
        bool comment = line.size > 0 && (line.at[0] == '#' || line.at[0] == ';');
        bool secret = comment && sbox_conf_other(&dropped, line);
        sbox_buf_release(&dropped.text);
        if (secret)
            return true;
    }
    return false;
}

/* Behind a value a comment may stand, too. When nothing else holds a login, this one does. */
static bool text_holds_login(const char *data, size_t size)
{
    struct sbox_buf cut = {0};
    bool holds = sbox_conf_cut_urls(&cut, (struct sbox_span){data, size}, false) > 0 || cut.failed;
    sbox_buf_release(&cut);
    return holds;
}

int sbox_conf_git(struct sbox_conf_writer *w, const char *data, size_t size)
{
    int r = sbox_git_config_walk(data, size, keep, w);
    if (r == 0 &&
        (comments_hold_secret(data, size) || (w->taken == 0 && text_holds_login(data, size))))
        w->taken++;
    return r;
}
