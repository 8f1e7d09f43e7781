/* Inside conf*.c: what the syntaxes share. */
#ifndef SBOX_PROJECT_CONF_IMPL_H
#define SBOX_PROJECT_CONF_IMPL_H

#include "base/buf.h"
#include "project/conf.h"

/* A piece of the text; not NUL-terminated. */
struct sbox_span {
    const char *at;
    size_t size;
};

struct sbox_conf_writer {
    struct sbox_buf text;
    size_t taken;
};

struct sbox_span sbox_span_of(const char *at, const char *end);
struct sbox_span sbox_span_trim(struct sbox_span s);
/* The next line without its end; false at the end of the text. "\r\n" ends a line, too. */
bool sbox_span_line(const char **at, const char *end, struct sbox_span *ret);

/* Does the key, or one of the keys in a path, say that its value is a secret? */
bool sbox_conf_key_secret(struct sbox_span key);
/* true, 443, "legacy" ...: words that are no secret whatever the key; or only ${NAME}s. */
bool sbox_conf_value_plain(struct sbox_span value);

/* One setting as it stands in the file: `all`, of which `key` and `value` are parts. Writes it, or
 * writes it with URLs cut, or leaves it out. True when it was left out. */
bool sbox_conf_setting(struct sbox_conf_writer *w, struct sbox_span all, struct sbox_span key,
                       struct sbox_span value);
/* A comment, a section: written unless it holds something that looks like a secret. True when it
 * was left out. */
bool sbox_conf_other(struct sbox_conf_writer *w, struct sbox_span all);
/* In place of what is left out. */
void sbox_conf_left_out(struct sbox_conf_writer *w);

/* Appends `value` with the credentials of its URLs cut; `proxy`: user:password@host may stand
 * without a scheme. Returns how many were cut. */
size_t sbox_conf_cut_urls(struct sbox_buf *out, struct sbox_span value, bool proxy);
/* Is there still a login in a proxy's value after that? (A password with a quote or a slash in it.)
 */
bool sbox_conf_proxy_unclear(struct sbox_span cut);
/* Does it hold a secret by its form, or a setting within the value that is one? */
bool sbox_conf_value_secret(struct sbox_span value);

/* The syntaxes: 0, or -EBADMSG for what is not understood. */
int sbox_conf_npmrc(struct sbox_conf_writer *w, const char *data, size_t size);
int sbox_conf_ini(struct sbox_conf_writer *w, const char *data, size_t size);
int sbox_conf_yarnrc(struct sbox_conf_writer *w, const char *data, size_t size);
int sbox_conf_yaml(struct sbox_conf_writer *w, const char *data, size_t size);
int sbox_conf_toml(struct sbox_conf_writer *w, const char *data, size_t size);
int sbox_conf_git(struct sbox_conf_writer *w, const char *data, size_t size);

#endif
