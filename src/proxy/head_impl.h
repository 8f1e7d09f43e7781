/* What the heads of requests and responses have in common: lines, field lines (head_fields.c), and
 * the fields that say how the message is framed (framing.c). */
#ifndef SBOX_PROXY_HEAD_IMPL_H
#define SBOX_PROXY_HEAD_IMPL_H

#include "base/error.h"
#include "proxy/head.h"

/* Notes why and returns -EINVAL; the texts follow "not understood: " in answers and in the log. */
int sbox_head_refuse(const char **ret_why, const char *why);

bool sbox_head_is_token(struct sbox_text t);                /* RFC 9110 section 5.6.2; not empty */
bool sbox_head_equal(struct sbox_text t, const char *word); /* byte for byte */
bool sbox_head_is_word(struct sbox_text t, const char *word); /* ASCII case does not count */

/* The next byte of a line that is text: VCHAR, blank, tab, obs-text. */
static inline bool sbox_head_is_value_byte(unsigned char c)
{
    return c == '\t' || (c >= ' ' && c != 0x7f);
}

/* Looks for the end of the head: 1, 0, -EINVAL, -E2BIG as sbox_head_parse. *ret_first is the first
 * line without its CRLF, *ret_fields the field lines with theirs, *ret_size the whole. */
int sbox_head_split(const char *data, size_t size, struct sbox_text *ret_first,
                    struct sbox_text *ret_fields, size_t *ret_size, const char **ret_why);

/* `lines` as sbox_head_split found them, at most SBOX_HEAD_FIELDS_MAX. 0, -EINVAL, -E2BIG. */
int sbox_head_fields(struct sbox_text lines, struct sbox_head_field *fields, size_t *ret_count,
                     const char **ret_why);

/* "HTTP/1.0" or "HTTP/1.1" and nothing else. 0 or -EINVAL. */
int sbox_head_version(struct sbox_text t, bool *ret_1_0, const char **ret_why);

struct sbox_framing {
    enum sbox_body body;
    uint64_t length;
    bool has_length;
    bool close;   /* Connection: close */
    bool keep;    /* Connection: keep-alive */
    bool upgrade; /* Connection: upgrade, and Upgrade says to what */
};

/* 0 or -EINVAL. */
int sbox_framing_parse(const struct sbox_head_field *fields, size_t count, bool http_1_0,
                       struct sbox_framing *ret, const char **ret_why);

#endif
