/* ClientHellos, built part by part so that each length can lie; every one also byte by byte, and
 * cut into records at every place. */
#include "proxy/sni.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "unit/cmocka_all.h"

static void add16(struct sbox_buf *b, size_t value)
{
    sbox_buf_add_byte(b, (uint8_t)(value >> 8));
    sbox_buf_add_byte(b, (uint8_t)value);
}

static void add_extension(struct sbox_buf *b, unsigned type, const void *data, size_t size)
{
    add16(b, type);
    add16(b, size);
    sbox_buf_add(b, data, size);
}

static void add_name(struct sbox_buf *b, const char *name, size_t size)
{
    _cleanup_buf_ struct sbox_buf list = {0};
    add16(&list, size + 3);
    sbox_buf_add_byte(&list, 0);
    add16(&list, size);
    sbox_buf_add(&list, name, size);
    add_extension(b, 0, list.data, list.size);
}

/* `middle`: session, ciphers, compression. `extensions` NULL: the message ends without any. */
static struct sbox_buf hello_with(const void *middle, size_t size,
                                  const struct sbox_buf *extensions)
{
    _cleanup_buf_ struct sbox_buf b = {0};
    struct sbox_buf message = {0};
    static const uint8_t random[32];
    add16(&b, 0x0303);
    sbox_buf_add(&b, random, sizeof random);
    sbox_buf_add(&b, middle, size);
    if (extensions) {
        add16(&b, extensions->size);
        sbox_buf_add(&b, extensions->data, extensions->size);
    }
    sbox_buf_add(&message, "\1\0", 2);
    add16(&message, b.size);
    sbox_buf_add(&message, b.data, b.size);
    return message;
}

static struct sbox_buf hello_of(const struct sbox_buf *extensions)
{
    return hello_with("\4sess\0\4\x13\1\x13\2\1\0", 13, extensions);
}

static void add_record(struct sbox_buf *b, const void *data, size_t size)
{
    sbox_buf_add(b, "\x16\3\1", 3);
    add16(b, size);
    sbox_buf_add(b, data, size);
}

/* The whole and all prefixes: MORE up to some byte, from there on the answer. */
static enum sbox_sni parse(const void *data, size_t size, struct sbox_host *ret)
{
    enum sbox_sni whole = sbox_sni_parse(data, size, ret);
    for (size_t cut = 0; cut <= size; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1); /* asan sees a read past the end */
        assert_non_null(copy);
        memcpy(copy, data, cut);
        struct sbox_host host;
        enum sbox_sni answer = sbox_sni_parse(copy, cut, &host);
        free(copy);
        assert_true(answer == whole || answer == SBOX_SNI_MORE);
        if (answer == SBOX_SNI_NAME)
            assert_true(sbox_host_equal(&host, ret));
    }
    return whole;
}

static enum sbox_sni parse_message(const struct sbox_buf *message, struct sbox_host *ret)
{
    _cleanup_buf_ struct sbox_buf b = {0};
    assert_false(sbox_buf_failed(message));
    add_record(&b, message->data, message->size);
    return parse(b.data, b.size, ret);
}

static enum sbox_sni parse_extensions(const struct sbox_buf *extensions, struct sbox_host *ret)
{
    _cleanup_buf_ struct sbox_buf message = hello_of(extensions);
    return parse_message(&message, ret);
}

static enum sbox_sni parse_name(const char *name, size_t size, struct sbox_host *ret)
{
    _cleanup_buf_ struct sbox_buf x = {0};
    add_extension(&x, 0x0a0a, "", 0); /* GREASE */
    add_name(&x, name, size);
    add_extension(&x, 43, "\2\3\4", 3);
    return parse_extensions(&x, ret);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum sbox_sni answer;
        const char *host;
    } rows[] = {
        {"a.test", SBOX_SNI_NAME, "a.test"},
        {"A.Test", SBOX_SNI_NAME, "a.test"},
        {"a.test.", SBOX_SNI_NAME, "a.test"},
        {"a_b.test", SBOX_SNI_NAME, "a_b.test"},
        {"127.0.0.1", SBOX_SNI_NAME, "127.0.0.1"},
        {"", SBOX_SNI_BAD, ""},
        {".", SBOX_SNI_BAD, ""},
        {"a..test", SBOX_SNI_BAD, ""},
        {"a test", SBOX_SNI_BAD, ""},
        {"a.test:443", SBOX_SNI_BAD, ""},
        {"x@a.test", SBOX_SNI_BAD, ""},
        {"*.test", SBOX_SNI_BAD, ""},
        {"\xc3\xbc.test", SBOX_SNI_BAD, ""},
        {"%61.test", SBOX_SNI_BAD, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_host h = {0};
        char text[SBOX_HOST_SIZE];
        if (parse_name(rows[i].name, strlen(rows[i].name), &h) != rows[i].answer)
            fail_msg("%s", rows[i].name);
        assert_string_equal(sbox_host_format(&h, text)[0] ? text : "", rows[i].host);
    }
    struct sbox_host h;
    assert_int_equal(parse_name("a.test\0.b.test", 14, &h), SBOX_SNI_BAD);
    assert_int_equal(parse_name("a.test\0", 7, &h), SBOX_SNI_BAD);
}

static void test_long_names(void **state)
{
    (void)state;
    char name[400];
    struct sbox_host h;
    for (size_t i = 0; i < sizeof name; i++)
        name[i] = i % 50 == 49 ? '.' : 'a';
    assert_int_equal(parse_name(name, 253, &h), SBOX_SNI_NAME);
    assert_int_equal(parse_name(name, 254, &h), SBOX_SNI_BAD);
    assert_int_equal(parse_name(name, 255, &h), SBOX_SNI_BAD);
    assert_int_equal(parse_name(name, 256, &h), SBOX_SNI_BAD);
    assert_int_equal(parse_name(name, sizeof name, &h), SBOX_SNI_BAD);
}

static void test_no_name(void **state)
{
    (void)state;
    struct sbox_host h;
    _cleanup_buf_ struct sbox_buf x = {0};
    assert_int_equal(parse_extensions(NULL, &h), SBOX_SNI_NONE);
    assert_int_equal(parse_extensions(&x, &h), SBOX_SNI_NONE);
    add_extension(&x, 43, "\2\3\4", 3);
    add_extension(&x, 0xfe0d, "ech", 3);
    assert_int_equal(parse_extensions(&x, &h), SBOX_SNI_NONE);
}

static void test_lists_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t size;
    } rows[] = {
        {"", 0},                         /* what a server answers */
        {"\0\0", 2},                     /* an empty list */
        {"\0\1\0", 3},                   /* too short for an entry */
        {"\0\4\0\0\1", 5},               /* the list is longer than the extension */
        {"\0\3\0\0\1a", 6},              /* and shorter */
        {"\0\4\0\0\2a", 6},              /* the name is longer than the list */
        {"\0\5\0\0\1aa", 7},             /* and shorter */
        {"\0\4\1\0\1a", 6},              /* another type of name */
        {"\0\x08\0\0\1a\0\x09\0\0", 10}, /* the rest could be an extension */
        {"\0\4\0\0\1a\0\x09\0\0", 10},
        {"\0\x08\0\0\1a\0\0\1b", 10}, /* two names */
        {"\0\x08\0\0\1a\1\0\1b", 10}, /* a name and something else */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_host h;
        _cleanup_buf_ struct sbox_buf x = {0};
        add_extension(&x, 0, rows[i].data, rows[i].size);
        if (parse_extensions(&x, &h) != SBOX_SNI_BAD)
            fail_msg("row %zu", i);
        /* what follows is not taken for part of it */
        add_extension(&x, 7, "abcdefgh", 8);
        if (parse_extensions(&x, &h) != SBOX_SNI_BAD)
            fail_msg("row %zu", i);
    }
    struct sbox_host h;
    _cleanup_buf_ struct sbox_buf twice = {0};
    add_name(&twice, "a.test", 6);
    add_extension(&twice, 1, "", 0);
    add_name(&twice, "a.test", 6);
    assert_int_equal(parse_extensions(&twice, &h), SBOX_SNI_BAD);
}

/* Every single byte that holds a length, one more and one less. */
static void test_lengths_that_lie(void **state)
{
    (void)state;
    static const size_t places[] = {
        3,           /* the message */
        4 + 34 + 6,  /* ciphers */
        4 + 34 + 11, /* compression */
        4 + 34 + 14, /* extensions */
        4 + 34 + 18, /* server_name */
        4 + 34 + 20, /* list */
        4 + 34 + 23, /* name */
    };
    _cleanup_buf_ struct sbox_buf x = {0};
    add_name(&x, "a.test", 6);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (int change = -1; change <= 1; change += 2) {
            struct sbox_host h;
            _cleanup_buf_ struct sbox_buf message = hello_of(&x);
            message.data[places[i]] = (char)(message.data[places[i]] + change);
            enum sbox_sni answer = parse_message(&message, &h);
            if (answer != SBOX_SNI_BAD)
                fail_msg("place %zu %+d: %d", places[i], change, answer);
        }
    }
}

static enum sbox_sni parse_middle(const void *middle, size_t size)
{
    struct sbox_host h;
    _cleanup_buf_ struct sbox_buf x = {0};
    add_name(&x, "a.test", 6);
    _cleanup_buf_ struct sbox_buf message = hello_with(middle, size, &x);
    return parse_message(&message, &h);
}

static void test_session_ciphers_compression(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 33; size++) {
        uint8_t middle[1 + 33 + 6] = {(uint8_t)size};
        memcpy(middle + 1 + size, "\0\2\x13\1\1", 5); /* and a zero */
        assert_int_equal(parse_middle(middle, 1 + size + 6),
                         size > 32 ? SBOX_SNI_BAD : SBOX_SNI_NAME);
    }
    assert_int_equal(parse_middle("\0\0\2\x13\1\2\0\1", 8), SBOX_SNI_NAME);
    assert_int_equal(parse_middle("\0\0\0\1\0", 5), SBOX_SNI_BAD);
    assert_int_equal(parse_middle("\0\0\2\x13\1\0", 6), SBOX_SNI_BAD);
    assert_int_equal(parse_middle("\0\0\3\x13\1\x13\1\0", 8), SBOX_SNI_BAD);
}

/* Two records, cut at every place; three; one a byte. */
static void test_cut_into_records(void **state)
{
    (void)state;
    _cleanup_buf_ struct sbox_buf x = {0};
    add_name(&x, "a.test", 6);
    _cleanup_buf_ struct sbox_buf message = hello_of(&x);
    _cleanup_buf_ struct sbox_buf bytes = {0};
    struct sbox_host h;
    for (size_t i = 0; i < message.size; i++)
        add_record(&bytes, message.data + i, 1);
    assert_int_equal(parse(bytes.data, bytes.size, &h), SBOX_SNI_NAME);
    assert_string_equal(h.name, "a.test");
    for (size_t i = 1; i < message.size; i++) {
        _cleanup_buf_ struct sbox_buf b = {0};
        add_record(&b, message.data, i);
        add_record(&b, message.data + i, message.size - i);
        sbox_buf_add(&b, "\x17\3\3\0\1x", 6);
        assert_int_equal(parse(b.data, b.size, &h), SBOX_SNI_NAME);
        /* something else between the two */
        for (size_t type = 20; type <= 24; type++) {
            _cleanup_buf_ struct sbox_buf broken = {0};
            add_record(&broken, message.data, i);
            sbox_buf_add_byte(&broken, (uint8_t)type);
            sbox_buf_add(&broken, "\3\3\0\1x", type == 22 ? 2 : 5);
            if (type == 22)
                add16(&broken, 0); /* an empty one */
            add_record(&broken, message.data + i, message.size - i);
            assert_int_equal(parse(broken.data, broken.size, &h), SBOX_SNI_BAD);
        }
    }
}

static void test_not_tls(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t size;
        enum sbox_sni answer;
    } rows[] = {
        {"", 0, SBOX_SNI_MORE},
        {"\x16", 1, SBOX_SNI_MORE},
        {"\x16\3", 2, SBOX_SNI_MORE},
        {"\x16\3\1\2\0", 5, SBOX_SNI_MORE},
        {"GET / HTTP/1.1\r\n", 16, SBOX_SNI_NOT_TLS},
        {"SSH-2.0-x", 9, SBOX_SNI_NOT_TLS},
        {"\0\0\0\x08\x04\xd2\x16\x2f", 8, SBOX_SNI_NOT_TLS}, /* PostgreSQL asks for TLS */
        {"\x80\x2e\1\3\1", 5, SBOX_SNI_NOT_TLS},             /* SSL 2 */
        {"\x16\2\1", 3, SBOX_SNI_MORE},
        {"\x16\x10\1", 3, SBOX_SNI_NOT_TLS},
        {"\x16\xfe\xfd", 3, SBOX_SNI_NOT_TLS},         /* DTLS */
        {"\x16\3\0\0\1\0\0\0", 8, SBOX_SNI_NOT_TLS},   /* MongoDB, a message of 790 bytes */
        {"\x16\3\1\0\4\2\0\0\0", 9, SBOX_SNI_NOT_TLS}, /* ServerHello */
        {"\x16\3\1\0\0", 5, SBOX_SNI_BAD},
        {"\x16\3\1\x40\1", 5, SBOX_SNI_BAD},
        {"\x16\3\1\x40\0", 5, SBOX_SNI_MORE},
        {"\x16\3\1\x40\0\1\0\x40\0", 9, SBOX_SNI_MORE},
        {"\x16\3\1\x40\0\1\0\x40\1", 9, SBOX_SNI_BAD},
        {"\x16\3\1\x40\0\1\1\0\0", 9, SBOX_SNI_BAD},
        {"\x15\3\1\0\2\1\0", 7, SBOX_SNI_BAD},
        {"\x14\3\1\0\1\1", 6, SBOX_SNI_BAD},
        {"\x15\3\1\0\1", 5, SBOX_SNI_NOT_TLS},
        {"\x14\3\1\0\2", 5, SBOX_SNI_NOT_TLS},
        {"\x15\3\1\1\2", 5, SBOX_SNI_NOT_TLS},
        {"\x15\2", 2, SBOX_SNI_MORE},
        {"\x15\2\0\0\2\1\0", 7, SBOX_SNI_BAD}, /* Go passes over it */
        {"\x15\x10", 2, SBOX_SNI_NOT_TLS},
        {"\x15\3\1\0", 4, SBOX_SNI_MORE},
        {"\x17\3\3\0\1x", 6, SBOX_SNI_NOT_TLS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sbox_host h;
        if (parse(rows[i].data, rows[i].size, &h) != rows[i].answer)
            fail_msg("row %zu", i);
    }
}

/* Servers differ in which version of the first record they take. */
static void test_versions_of_records(void **state)
{
    (void)state;
    _cleanup_buf_ struct sbox_buf x = {0};
    add_name(&x, "a.test", 6);
    _cleanup_buf_ struct sbox_buf message = hello_of(&x);
    for (int major = 0; major <= 255; major++) {
        struct sbox_host h;
        _cleanup_buf_ struct sbox_buf b = {0};
        add_record(&b, message.data, message.size);
        b.data[1] = (char)major;
        assert_int_equal(parse(b.data, b.size, &h), major < 16 ? SBOX_SNI_NAME : SBOX_SNI_NOT_TLS);
    }
}

/* A hello of SBOX_SNI_MAX bytes, headers and all, is understood; one more is not. */
static void test_the_longest_hello(void **state)
{
    (void)state;
    for (size_t size = SBOX_SNI_MAX - 1; size <= SBOX_SNI_MAX + 1; size++) {
        _cleanup_buf_ struct sbox_buf x = {0};
        _cleanup_buf_ struct sbox_buf b = {0};
        struct sbox_host h;
        add_name(&x, "a.test", 6);
        size_t pad = size - (5 + 4 + 34 + 13 + 2 + x.size + 4);
        _cleanup_free_ char *zeros = calloc(pad, 1);
        add_extension(&x, 21, zeros, pad);
        _cleanup_buf_ struct sbox_buf message = hello_of(&x);
        add_record(&b, message.data, message.size);
        assert_int_equal(b.size, size);
        bool fits = size <= SBOX_SNI_MAX;
        enum sbox_sni answer = sbox_sni_parse((const uint8_t *)b.data, size, &h);
        assert_int_equal(answer, fits ? SBOX_SNI_NAME : SBOX_SNI_BAD);
        answer = sbox_sni_parse((const uint8_t *)b.data, size - 1, &h);
        assert_int_equal(answer, fits ? SBOX_SNI_MORE : SBOX_SNI_BAD);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_no_name),
        cmocka_unit_test(test_lists_that_are_refused),
        cmocka_unit_test(test_lengths_that_lie),
        cmocka_unit_test(test_session_ciphers_compression),
        cmocka_unit_test(test_cut_into_records),
        cmocka_unit_test(test_not_tls),
        cmocka_unit_test(test_versions_of_records),
        cmocka_unit_test(test_the_longest_hello),
    };
    return cmocka_run_group_tests_name("sni", tests, NULL, NULL);
}
