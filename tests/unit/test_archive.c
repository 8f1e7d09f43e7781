/* Units into archives and back; and archives that are not what they should be. */
#include "archive/reach.h"
#include "archive/unit.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { BIG = 700001 }; /* more than two buffers */

/* libarchive 3.6 forgets the output buffer of an archive that was given up (archive_write_fail).
 * sbox-archive does not live on after that. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libarchive.so";
}

static struct sbox_unit_tools tools;

static int tools_setup(void **state)
{
    (void)state;
    tools.hash = sbox_sha256_new();
    tools.buffer = malloc(SBOX_UNIT_BUFFER);
    return tools.hash && tools.buffer ? 0 : -1;
}

static int tools_teardown(void **state)
{
    (void)state;
    sbox_sha256_free(tools.hash);
    free(tools.buffer);
    sbox_buf_release(&tools.name);
    return 0;
}

/* -- the unit that every test starts from ------------------------------------------------------ */

static struct sbox_digest digests[6];
static struct sbox_record records[6];

static const char *big(void)
{
    static char data[BIG + 1];
    memset(data, 'x', BIG);
    return data;
}

static void add_record(uint32_t at, const char *path, uint8_t type, uint16_t mode,
                       const char *content)
{
    records[at] = (struct sbox_record){
        .path = path, .path_size = (uint32_t)strlen(path), .type = type, .mode = mode};
    if (type == SBOX_ENTRY_LINK) {
        records[at].target = content;
        records[at].target_size = (uint16_t)strlen(content);
    } else if (content) {
        struct sbox_digest *digest = &digests[at];
        records[at].size = strlen(content);
        sbox_sha256_small(content, strlen(content), digest);
        records[at].content = digest;
    }
}

static void plant(const struct scratch *s)
{
    scratch_write(s, "u/a/big", big());
    scratch_write(s, "u/we\xffird\nname", "hello\n");
    scratch_link(s, "u/link", "a/big");
    scratch_write(s, "secret", "hello\n");
    add_record(0, "", SBOX_ENTRY_DIRECTORY, 0755, NULL);
    add_record(1, "a", SBOX_ENTRY_DIRECTORY, 0700, NULL);
    add_record(2, "a/big", SBOX_ENTRY_FILE, 04755, big());
    add_record(3, "fifo", SBOX_ENTRY_FIFO, 0644, NULL);
    add_record(4, "link", SBOX_ENTRY_LINK, 0, "a/big");
    add_record(5, "we\xffird\nname", SBOX_ENTRY_FILE, 0644, "hello\n");
}

static const struct sbox_unit unit = {.records = records, .count = 6};

static int temporary(const struct scratch *s)
{
    int fd = openat(s->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static int write_unit(const struct scratch *s, int output, struct sbox_unit_failure *failure)
{
    _cleanup_close_ int dir = openat(s->fd, "u", O_PATH | O_DIRECTORY | O_CLOEXEC);
    uint64_t bytes = 0;
    return sbox_unit_write(&tools, &unit, dir, output, &bytes, failure);
}

static int read_index(const struct scratch *s, int source, uint64_t index, char **ret, size_t *size)
{
    struct sbox_unit_reader reader;
    struct sbox_unit_failure failure;
    _cleanup_close_ int output = temporary(s);
    assert_int_equal(lseek(source, 0, SEEK_SET), 0);
    int r = sbox_unit_reader_init(&reader, &unit, source, &failure);
    if (r == 0)
        r = sbox_unit_reader_take(&reader, &tools, index, output, &failure);
    sbox_unit_reader_release(&reader);
    assert_int_equal(lseek(output, 0, SEEK_SET), 0);
    if (r == 0 && ret)
        assert_int_equal(sbox_read_file_fd(output, BIG, ret, size), 0);
    return r;
}

static void test_there_and_back(void **state)
{
    const struct scratch *s = *state;
    struct sbox_unit_failure failure = {0};
    plant(s);
    _cleanup_close_ int file = temporary(s);
    assert_int_equal(write_unit(s, file, &failure), 0);
    _cleanup_free_ char *content = NULL;
    size_t size = 0;
    assert_int_equal(read_index(s, file, 5, &content, &size), 0);
    assert_int_equal(size, 6);
    assert_memory_equal(content, "hello\n", 6);
    _cleanup_free_ char *large = NULL;
    assert_int_equal(read_index(s, file, 2, &large, &size), 0);
    assert_int_equal(size, BIG);
    assert_memory_equal(large, big(), BIG);
    /* what is no file cannot be asked for */
    assert_int_equal(read_index(s, file, 1, NULL, NULL), -EINVAL);
    assert_int_equal(read_index(s, file, 4, NULL, NULL), -EINVAL);
    assert_int_equal(read_index(s, file, 6, NULL, NULL), -EINVAL);
}

static void test_two_in_order(void **state)
{
    const struct scratch *s = *state;
    struct sbox_unit_reader reader;
    struct sbox_unit_failure failure = {0};
    plant(s);
    _cleanup_close_ int file = temporary(s);
    _cleanup_close_ int output = temporary(s);
    assert_int_equal(write_unit(s, file, &failure), 0);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    assert_int_equal(sbox_unit_reader_init(&reader, &unit, file, &failure), 0);
    assert_int_equal(sbox_unit_reader_take(&reader, &tools, 2, output, &failure), 0);
    assert_int_equal(sbox_unit_reader_take(&reader, &tools, 5, output, &failure), 0);
    assert_int_equal(sbox_unit_reader_take(&reader, &tools, 5, output, &failure), -EINVAL);
    sbox_unit_reader_release(&reader);
}

/* -- what changed since it was hashed ---------------------------------------------------------- */

static void expect_changed(const struct scratch *s, uint64_t record)
{
    struct sbox_unit_failure failure = {0};
    _cleanup_close_ int file = temporary(s);
    assert_int_equal(write_unit(s, file, &failure), -EAGAIN);
    assert_int_equal(failure.record, record);
    assert_string_equal(failure.why, "changed while it was locked");
}

static void test_changed(void **state)
{
    const struct scratch *s = *state;
    plant(s);
    scratch_write(s, "u/we\xffird\nname", "hellO\n"); /* the same size */
    expect_changed(s, 5);
    scratch_write(s, "u/we\xffird\nname", "hello\nmore");
    expect_changed(s, 5);
    scratch_write(s, "u/we\xffird\nname", "hell");
    expect_changed(s, 5);
    scratch_remove(s, "u/we\xffird\nname");
    expect_changed(s, 5);
    scratch_link(s, "u/we\xffird\nname", "../secret"); /* has the right content */
    expect_changed(s, 5);
    scratch_remove(s, "u/a");
    scratch_write(s, "b/big", big());
    scratch_link(s, "u/a", "../b");
    expect_changed(s, 2);
}

static void test_long_path(void **state)
{
    const struct scratch *s = *state;
    enum { PARTS = 1200 };
    char path[PARTS * 5 + 5];
    size_t n = 0;
    int at = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
    for (int i = 0; i < PARTS; i++) {
        assert_int_equal(mkdirat(at, "abcd", 0700), 0);
        int next = openat(at, "abcd", O_PATH | O_DIRECTORY | O_CLOEXEC);
        sbox_close(at);
        at = next;
        memcpy(path + n, "abcd/", 5);
        n += 5;
    }
    _cleanup_close_ int made = openat(at, "file", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_true(made >= 0);
    memcpy(path + n, "file", 4);
    struct stat one;
    struct stat two;
    _cleanup_close_ int found = sbox_reach(s->fd, path, n + 4, O_RDONLY);
    assert_true(found >= 0 && fstat(found, &one) == 0 && fstat(made, &two) == 0);
    assert_int_equal(one.st_ino, two.st_ino);
    sbox_close(at);
}

/* -- archives of somebody else ----------------------------------------------------------------- */

struct forged {
    const char *name; /* NULL: as sbox-archive writes it */
    const char *content;
    const char *hardlink;
    const char *symlink;
    unsigned type;
    unsigned mode;
    bool leave_out;
    bool twice;
};

static void forge_entry(struct archive *a, const struct sbox_record *record, const struct forged *f)
{
    struct archive_entry *e = archive_entry_new();
    const char *content = f && f->content ? f->content : record->size == BIG ? big() : "hello\n";
    bool is_file = record->type == SBOX_ENTRY_FILE;
    const char *name = f && f->name ? f->name : sbox_unit_name(record, &tools.name);
    archive_entry_copy_pathname(e, name);
    archive_entry_set_filetype(e, f && f->type                           ? f->type
                                  : is_file                              ? AE_IFREG
                                  : record->type == SBOX_ENTRY_DIRECTORY ? AE_IFDIR
                                                                         : AE_IFLNK);
    archive_entry_set_perm(e, f && f->mode ? (mode_t)f->mode : record->mode);
    if (record->type == SBOX_ENTRY_LINK)
        archive_entry_copy_symlink(e, f && f->symlink ? f->symlink : "a/big");
    if (f && f->hardlink)
        archive_entry_copy_hardlink(e, f->hardlink);
    archive_entry_set_size(e, is_file ? (int64_t)strlen(content) : 0);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    if (is_file)
        (void)archive_write_data(a, content, strlen(content));
    archive_entry_free(e);
}

/* The archive of the unit, but entry `at` as `f` says. */
static int forge(const struct scratch *s, uint32_t at, const struct forged *f)
{
    int fd = temporary(s);
    struct archive *a = archive_write_new();
    assert_int_equal(archive_write_set_format_pax_restricted(a), ARCHIVE_OK);
    assert_int_equal(archive_write_set_format_option(a, "pax", "hdrcharset", "BINARY"), ARCHIVE_OK);
    assert_int_equal(archive_write_add_filter_zstd(a), ARCHIVE_OK);
    assert_int_equal(archive_write_open_fd(a, fd), ARCHIVE_OK);
    for (uint32_t i = 0; i < unit.count; i++) {
        const struct forged *now = i == at ? f : NULL;
        if (!sbox_unit_archived(&records[i]) || (now && now->leave_out))
            continue;
        forge_entry(a, &records[i], now);
        if (now && now->twice)
            forge_entry(a, &records[i], NULL);
    }
    assert_int_equal(archive_write_free(a), ARCHIVE_OK);
    return fd;
}

static void test_forged(void **state)
{
    const struct scratch *s = *state;
    static const struct {
        uint32_t at;
        struct forged forged;
    } rows[] = {
        {5, {.name = "../we"}},
        {5, {.name = "/etc/passwd"}},
        {5, {.name = "we"}},
        {2, {.name = "a/../a/big"}},
        {1, {.name = "b"}},
        {1, {.type = AE_IFREG}},
        {2, {.hardlink = "a"}},
        {2, {.type = AE_IFCHR}},
        {2, {.type = AE_IFIFO}},
        {2, {.type = AE_IFLNK}},
        {5, {.mode = 04755}},
        {4, {.symlink = "/etc/passwd"}},
        {4, {.type = AE_IFDIR}},
        {5, {.content = "hellO\n"}},   /* another digest */
        {5, {.content = "hello\n\n"}}, /* larger */
        {5, {.content = "hell"}},
        {4, {.leave_out = true}},
        {4, {.twice = true}},
        {1, {.twice = true}},
    };
    plant(s);
    _cleanup_close_ int good = forge(s, 0, NULL);
    assert_int_equal(read_index(s, good, 5, NULL, NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        _cleanup_close_ int fd = forge(s, rows[i].at, &rows[i].forged);
        if (read_index(s, fd, 5, NULL, NULL) != -EBADMSG)
            fail_msg("row %zu was taken", i);
    }
}

static void test_truncated_and_garbage(void **state)
{
    const struct scratch *s = *state;
    plant(s);
    _cleanup_close_ int file = forge(s, 0, NULL);
    off_t size = lseek(file, 0, SEEK_END);
    for (off_t cut = 0; cut < size; cut += 7) {
        _cleanup_close_ int fd = forge(s, 0, NULL);
        assert_int_equal(ftruncate(fd, cut), 0);
        int r = read_index(s, fd, 5, NULL, NULL);
        /* All that was wanted may be there already. */
        assert_true(r == -EBADMSG || (r == 0 && cut > size / 2));
    }
    scratch_write(s, "garbage", "this is no archive at all");
    _cleanup_close_ int garbage = openat(s->fd, "garbage", O_RDONLY | O_CLOEXEC);
    assert_int_equal(read_index(s, garbage, 5, NULL, NULL), -EBADMSG);
}

/* Megabytes of zeros where the records know of a file of six bytes. */
static void test_bomb(void **state)
{
    const struct scratch *s = *state;
    plant(s);
    char *zeros = malloc(64 << 20);
    assert_non_null(zeros);
    memset(zeros, 'z', (64 << 20) - 1);
    zeros[(64 << 20) - 1] = '\0';
    const struct forged bomb = {.content = zeros};
    _cleanup_close_ int fd = forge(s, 5, &bomb);
    assert_true(lseek(fd, 0, SEEK_END) < 1 << 20);
    assert_int_equal(read_index(s, fd, 5, NULL, NULL), -EBADMSG);
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_there_and_back, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_two_in_order, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_changed, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_long_path, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_forged, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_truncated_and_garbage, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_bomb, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests_name("archive", tests, tools_setup, tools_teardown);
}
