#include "base/escape.h"
#include "lock/compare.h"
#include "lock/leaving.h"
#include "lock/tree.h"
#include "lock/unit.h"
#include "unit/cmocka_all.h"

static const struct sbox_digest some = {.bytes = {1, 2, 3}};
static const struct sbox_digest other = {.bytes = {9}};

static struct sbox_record entry(const char *path, uint8_t type)
{
    return (struct sbox_record){.path = path,
                                .path_size = (uint32_t)strlen(path),
                                .type = type,
                                .mode = type == SBOX_ENTRY_LINK ? 0 : 0644,
                                .content = type == SBOX_ENTRY_FILE ? &some : NULL,
                                .size = type == SBOX_ENTRY_FILE ? 5 : 0,
                                .target = type == SBOX_ENTRY_LINK ? "t" : NULL,
                                .target_size = type == SBOX_ENTRY_LINK};
}

static void encode(struct sbox_buf *out, const struct sbox_record *records, uint32_t count)
{
    char header[SBOX_UNIT_HEADER];
    sbox_unit_header(header, count);
    sbox_buf_add(out, header, sizeof header);
    for (uint32_t i = 0; i < count; i++)
        sbox_record_encode(out, &records[i]);
}

static int decode(const void *data, size_t size, struct sbox_record *ret, uint32_t room)
{
    uint32_t count = 0;
    int r = sbox_unit_count(data, size, &count);
    if (r < 0)
        return r;
    assert_true(count <= room);
    r = sbox_unit_decode(data, size, ret, count);
    return r < 0 ? r : (int)count;
}

static void test_round_trip(void **state)
{
    (void)state;
    struct sbox_record in[] = {entry("", SBOX_ENTRY_DIRECTORY), entry("a", SBOX_ENTRY_DIRECTORY),
                               entry("a/b\n\xff", SBOX_ENTRY_FILE), entry("a-b", SBOX_ENTRY_LINK),
                               entry("fifo", SBOX_ENTRY_FIFO)};
    in[2].mode = 04755;
    in[2].xattrs = &other;
    struct sbox_record out[5];
    _cleanup_buf_ struct sbox_buf b = {0};
    encode(&b, in, 5);
    assert_int_equal(decode(b.data, b.size, out, 5), 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(out[i].path_size, in[i].path_size);
        assert_memory_equal(out[i].path, in[i].path, in[i].path_size);
        assert_int_equal(sbox_record_compare(&in[i], &out[i]), SBOX_VERDICT_SAME);
    }
}

static void test_every_cut_and_every_surplus_is_refused(void **state)
{
    (void)state;
    struct sbox_record in[] = {entry("", SBOX_ENTRY_DIRECTORY), entry("f", SBOX_ENTRY_FILE),
                               entry("l", SBOX_ENTRY_LINK)};
    struct sbox_record out[3];
    _cleanup_buf_ struct sbox_buf b = {0};
    encode(&b, in, 3);
    for (size_t n = 0; n < b.size; n++)
        assert_int_equal(decode(b.data, n, out, 3), -EBADMSG);
    sbox_buf_add_byte(&b, 0);
    assert_int_equal(decode(b.data, b.size, out, 3), -EBADMSG);
}

static void test_other_spellings_are_refused(void **state)
{
    (void)state;
    static const char *const paths[] = {"/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "./a"};
    struct sbox_record out[2];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct sbox_record in = entry(paths[i], SBOX_ENTRY_FILE);
        _cleanup_buf_ struct sbox_buf b = {0};
        encode(&b, &in, 1);
        assert_int_equal(decode(b.data, b.size, out, 2), -EBADMSG);
    }
    struct sbox_record nul = entry("a", SBOX_ENTRY_FILE);
    nul.path = "a\0b";
    nul.path_size = 3;
    struct sbox_record mode = entry("a", SBOX_ENTRY_FILE);
    mode.mode = 010000;
    struct sbox_record type = entry("a", 'x');
    struct sbox_record link = entry("a", SBOX_ENTRY_LINK);
    link.mode = 0777;
    const struct sbox_record *bad[] = {&nul, &mode, &type, &link};
    for (size_t i = 0; i < 4; i++) {
        _cleanup_buf_ struct sbox_buf b = {0};
        encode(&b, bad[i], 1);
        assert_int_equal(decode(b.data, b.size, out, 2), -EBADMSG);
    }
}

static void test_order_is_strict(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"b", "a"}, {"a", "a"}, {"a-b", "a/b"}, {"ab", "a"}};
    struct sbox_record out[2];
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct sbox_record in[] = {entry(pairs[i][0], SBOX_ENTRY_FILE),
                                   entry(pairs[i][1], SBOX_ENTRY_FILE)};
        _cleanup_buf_ struct sbox_buf b = {0};
        encode(&b, in, 2);
        assert_int_equal(decode(b.data, b.size, out, 2), -EBADMSG);
    }
    assert_true(sbox_path_order("a/z", 3, "a-b", 3) < 0);
    assert_true(sbox_path_order("a", 1, "a/z", 3) < 0);
    assert_true(sbox_path_order("\xff", 1, "a", 1) > 0);
}

static void test_verdicts(void **state)
{
    (void)state;
    struct sbox_record was = entry("f", SBOX_ENTRY_FILE);
    struct sbox_record is = was;
    is.content = &other;
    assert_int_equal(sbox_record_compare(&was, &is), SBOX_VERDICT_MODIFIED);
    is = was;
    is.mode = 0755;
    assert_int_equal(sbox_record_compare(&was, &is), SBOX_VERDICT_MODE);
    is = was;
    is.xattrs = &some;
    assert_int_equal(sbox_record_compare(&was, &is), SBOX_VERDICT_XATTR);
    is = entry("f", SBOX_ENTRY_DIRECTORY);
    assert_int_equal(sbox_record_compare(&was, &is), SBOX_VERDICT_TYPE);
    was = is = entry("l", SBOX_ENTRY_LINK);
    is.target = "u";
    assert_int_equal(sbox_record_compare(&was, &is), SBOX_VERDICT_TARGET);
}

struct unit_row {
    enum sbox_tree_kind kind;
    const char *path;
    bool directory;
    const char *unit;
};

static void test_units(void **state)
{
    (void)state;
    static const struct unit_row rows[] = {
        {SBOX_TREE_NODE_MODULES, "", true, ""},
        {SBOX_TREE_NODE_MODULES, "a", true, "a"},
        {SBOX_TREE_NODE_MODULES, "a", false, ""}, /* a link to a workspace package */
        {SBOX_TREE_NODE_MODULES, "a/x/y", false, "a"},
        {SBOX_TREE_NODE_MODULES, "@s", true, ""},
        {SBOX_TREE_NODE_MODULES, "@s/a", true, "@s/a"},
        {SBOX_TREE_NODE_MODULES, "@s/a", false, ""},
        {SBOX_TREE_NODE_MODULES, "@s/a/i.js", false, "@s/a"},
        {SBOX_TREE_NODE_MODULES, ".bin/a", false, ""},
        {SBOX_TREE_NODE_MODULES, ".package-lock.json", false, ""},
        {SBOX_TREE_NODE_MODULES, "a/node_modules", true, "a"},
        {SBOX_TREE_NODE_MODULES, "a/node_modules/b/c", false, "a/node_modules/b"},
        {SBOX_TREE_NODE_MODULES, "a/node_modules/.bin/c", false, "a"},
        {SBOX_TREE_NODE_MODULES, ".pnpm/b@1/node_modules/b/i.js", false,
         ".pnpm/b@1/node_modules/b"},
        {SBOX_TREE_VENV, "lib/python3.11/site-packages/six.py", false,
         "lib/python3.11/site-packages/six.py"},
        {SBOX_TREE_VENV, "lib/python3.11/site-packages/flask/app.py", false,
         "lib/python3.11/site-packages/flask"},
        {SBOX_TREE_VENV, "lib/python3.11/site-packages", true, ""},
        {SBOX_TREE_VENV, "bin/python", false, ""},
        {SBOX_TREE_VENDOR, "a/b", false, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(
            sbox_unit_of(rows[i].kind, rows[i].path, strlen(rows[i].path), rows[i].directory),
            strlen(rows[i].unit));
}

/* Two members that nest, as in node_modules/a/node_modules/b. */
static int load(struct sbox_buf *outer, struct sbox_buf *inner, const char *inner_path,
                struct sbox_tree *ret)
{
    struct sbox_stored_member members[] = {
        {.path = {.data = "", .size = 0}, .records = {.data = outer->data, .size = outer->size}},
        {.path = {.data = inner_path, .size = strlen(inner_path)},
         .records = {.data = inner->data, .size = inner->size}},
    };
    struct sbox_stored_tree tree = {
        .path = {.data = "t", .size = 1}, .members = members, .member_count = 2};
    return sbox_tree_load(&tree, ret, NULL);
}

static void test_members_are_spliced(void **state)
{
    (void)state;
    struct sbox_record outer[] = {entry("", SBOX_ENTRY_DIRECTORY), entry("a", SBOX_ENTRY_DIRECTORY),
                                  entry("a/z", SBOX_ENTRY_FILE), entry("q", SBOX_ENTRY_FILE)};
    struct sbox_record inner[] = {entry("", SBOX_ENTRY_DIRECTORY), entry("f", SBOX_ENTRY_FILE)};
    _cleanup_buf_ struct sbox_buf o = {0};
    _cleanup_buf_ struct sbox_buf i = {0};
    encode(&o, outer, 4);
    encode(&i, inner, 2);
    struct sbox_tree tree = {0};
    assert_int_equal(load(&o, &i, "a/m", &tree), 0);
    assert_int_equal(tree.count, 6);
    static const char *const names[] = {"", "a", "m", "f", "z", "q"};
    static const uint32_t ends[] = {6, 5, 4, 4, 5, 6};
    for (uint32_t k = 0; k < 6; k++) {
        assert_int_equal(tree.items[k].name_size, strlen(names[k]));
        assert_memory_equal(tree.items[k].name, names[k], strlen(names[k]));
        assert_int_equal(tree.items[k].end, ends[k]);
    }
    sbox_tree_release(&tree);
    assert_int_equal(load(&o, &i, "a", &tree), -EBADMSG);      /* there twice */
    assert_int_equal(load(&o, &i, "gone/m", &tree), -EBADMSG); /* in no directory */
    assert_int_equal(load(&o, &i, "q/m", &tree), -EBADMSG);    /* below a file */
    assert_int_equal(load(&i, &o, "f", &tree), -EBADMSG);
}

static void test_stat_table_is_taken_whole_or_not_at_all(void **state)
{
    (void)state;
    struct sbox_stat_row rows[2] = {{.ino = 1, .mtime = 2, .ctime = 3}, {.ino = 4}};
    struct sbox_stat_table table = {.dev = 7, .rows = rows, .count = 2};
    _cleanup_buf_ struct sbox_buf b = {0};
    sbox_stat_table_encode(&b, &table);
    assert_int_equal(sbox_stat_table_parse(b.data, b.size, 2).rows[1].ino, 4);
    assert_int_equal(sbox_stat_table_parse(b.data, b.size, 3).count, 0);
    assert_int_equal(sbox_stat_table_parse(b.data, b.size - 1, 2).count, 0);
    assert_int_equal(sbox_stat_table_parse(NULL, 0, 0).count, 0);
}

static void test_trust_needs_age(void **state)
{
    (void)state;
    struct sbox_stat st = {.dev = 1, .ino = 2, .ctime = 1000000000, .mode = 0100644};
    assert_int_equal(sbox_trust_row(&st, 1, 2000000000).ino, 2);
    assert_int_equal(sbox_trust_row(&st, 1, 1000000000).ino, 0);
    assert_int_equal(sbox_trust_row(&st, 1, 1010000000).ino, 0); /* within a tick or two */
    assert_int_equal(sbox_trust_row(&st, 9, 2000000000).ino, 0); /* another file system */
}

static void test_links_are_followed_as_text(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"a/l", "../b", "/w/t/b"},
        {"l", "../../x", "/x"},
        {"l", "../../../../x", "/x"},
        {"a/b/l", "./c/../d", "/w/t/a/b/d"},
        {"l", "/etc//passwd", "/etc/passwd"},
        {"l", "../..", "/"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = sbox_leads_lexically("/w/t", rows[i][0], rows[i][1]);
        assert_string_equal(text, rows[i][2]);
        free(text);
    }
}

static void test_where_links_may_lead(void **state)
{
    (void)state;
    static const struct {
        const char *real;
        int code;
    } rows[] = {
        {"/home/u/lib", 0},
        {"/home/u/.local/share/uv/python/x/bin/python3", 0},
        {"/home/u/.ssh", -EPERM},
        {"/home/u/.ssh/id_rsa", -EPERM},
        {"/home/u/.local/share/uvx", -EPERM},
        {"/home/u", -EPERM},
        {"/home", -EPERM},
        {"/", -EPERM},
        {"/etc", -EPERM},
        {"/home/u/w", -EPERM}, /* holds the workspace */
        {"/srv/store/pkg", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(sbox_leads_allowed(rows[i].real, "/home/u/w/p", "/home/u", NULL),
                         rows[i].code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_cut_and_every_surplus_is_refused),
        cmocka_unit_test(test_other_spellings_are_refused),
        cmocka_unit_test(test_order_is_strict),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_members_are_spliced),
        cmocka_unit_test(test_stat_table_is_taken_whole_or_not_at_all),
        cmocka_unit_test(test_trust_needs_age),
        cmocka_unit_test(test_links_are_followed_as_text),
        cmocka_unit_test(test_where_links_may_lead),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
