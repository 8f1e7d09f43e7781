/* For the tests of request heads: every message is also fed byte by byte, and no prefix may answer
 * otherwise than the whole. Failures are cmocka assertions. */
#ifndef SBOX_TESTS_HEAD_PARSE_H
#define SBOX_TESTS_HEAD_PARSE_H

#include "proxy/head.h"

#include "base/buf.h"
#include "base/error.h"
#include "unit/cmocka_all.h"

#define HOST "Host: a.test\r\n"
#define END  "\r\n"

/* Where the bytes end is where the page may end: a read past them is seen under asan. */
static inline int parse_copy(const char *data, size_t size, struct sbox_head *ret,
                             const char **ret_why)
{
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    copy = realloc(copy, size ? size : 1);
    assert_non_null(copy);
    struct sbox_head h;
    int r = sbox_head_parse(copy, size, &h, ret_why);
    free(copy);
    if (r == 1)
        *ret = h;
    return r;
}

/* The whole and all prefixes: 0 up to some byte, from there on the answer. */
static inline int parse_cut(const char *data, size_t size, struct sbox_head *ret,
                            const char **ret_why)
{
    const char *why = NULL;
    int whole = sbox_head_parse(data, size, ret, ret_why);
    for (size_t i = 0; i < size; i++) {
        struct sbox_head h;
        int r = parse_copy(data, i, &h, &why);
        if (r == 0)
            continue;
        assert_int_equal(r, whole);
        if (r == 1)
            assert_int_equal(h.size, ret->size);
        else
            assert_ptr_equal(why, *ret_why);
    }
    return whole;
}

static inline int parse(const char *text, struct sbox_head *ret)
{
    const char *why = NULL;
    int r = parse_cut(text, strlen(text), ret, &why);
    if (r < 0)
        assert_non_null(why);
    return r;
}

static inline void expect_refused(const char *text)
{
    struct sbox_head h;
    if (parse(text, &h) != -EINVAL)
        fail_msg("not refused: %s", text);
}

static inline void expect_text(struct sbox_text t, const char *expected)
{
    assert_int_equal(t.size, strlen(expected));
    assert_memory_equal(t.at, expected, t.size);
}

#endif
