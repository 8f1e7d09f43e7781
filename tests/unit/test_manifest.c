#include "base/cleanup.h"
#include "base/fd.h"
#include "store/db.h"
#include "store/manifest.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>

/* A lock with one tree of `count` members; each member's records are `fill` times its number. */
static struct sbox_stored_lock make_lock(struct sbox_arena *memory, size_t count, size_t fill)
{
    _cleanup_sha256_ struct sbox_sha256 *h = sbox_sha256_new();
    struct sbox_stored_tree *tree = sbox_arena_zalloc(memory, 1, sizeof *tree);
    assert_non_null(tree);
    tree->path = (struct sbox_bytes){.data = "node_modules", .size = 12};
    tree->members = sbox_arena_zalloc(memory, count, sizeof *tree->members);
    tree->member_count = count;
    for (size_t i = 0; i < count; i++) {
        struct sbox_stored_member *m = &tree->members[i];
        char name[32];
        int n = snprintf(name, sizeof name, "package-%05zu", i);
        m->path = (struct sbox_bytes){.data = sbox_arena_copy(memory, name, (size_t)n),
                                      .size = (size_t)n};
        m->name = m->path;
        char *records = sbox_arena_alloc(memory, fill + sizeof i);
        memset(records, (int)(i & 0xff), fill);
        memcpy(records + fill, &i, sizeof i);
        m->records = (struct sbox_bytes){.data = records, .size = fill + sizeof i};
        assert_int_equal(sbox_sha256_of(h, records, fill + sizeof i, &m->digest), 0);
    }
    return (struct sbox_stored_lock){.time = 1700000000, .trees = tree, .tree_count = 1};
}

static int64_t write_lock(const struct scratch *s, const char *root, size_t count)
{
    struct sbox_arena memory = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_stored_lock lock = make_lock(&memory, count, 100);
    _cleanup_manifest_ struct sbox_manifest *m = NULL;
    assert_int_equal(sbox_manifest_open(s->fd, s->path, true, &m, &err), 0);
    int64_t id = 0;
    assert_int_equal(sbox_manifest_write(m, root, &lock, &id, &err), 0);
    sbox_arena_release(&memory);
    return id;
}

static int read_lock(const struct scratch *s, const char *root, struct sbox_stored_lock *ret,
                     struct sbox_error *err)
{
    _cleanup_manifest_ struct sbox_manifest *m = NULL;
    int r = sbox_manifest_open(s->fd, s->path, false, &m, err);
    return r == 0 ? sbox_manifest_read(m, root, ret, err) : r;
}

static void assert_members(const struct scratch *s, const char *root, size_t count)
{
    struct sbox_stored_lock lock = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(read_lock(s, root, &lock, &err), 0);
    assert_int_equal(lock.tree_count, 1);
    assert_int_equal(lock.trees[0].member_count, count);
    sbox_stored_lock_release(&lock);
}

static int refused(const struct scratch *s, struct sbox_error *err)
{
    struct sbox_stored_lock lock = {0};
    *err = SBOX_ERROR_INIT;
    int reading = read_lock(s, "/p", &lock, err);
    _cleanup_manifest_ struct sbox_manifest *m = NULL;
    assert_int_equal(sbox_manifest_open(s->fd, s->path, true, &m, err), reading);
    return reading;
}

static void test_round_trip(void **state)
{
    struct scratch *s = *state;
    struct sbox_stored_lock lock = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(read_lock(s, "/p", &lock, &err), -ENOENT);
    int64_t first = write_lock(s, "/p", 3);
    assert_int_equal(read_lock(s, "/other", &lock, &err), -ENODATA);
    assert_int_equal(read_lock(s, "/p", &lock, &err), 0);
    assert_int_equal(lock.id, first);
    assert_int_equal(lock.trees[0].member_count, 3);
    assert_string_equal(lock.trees[0].path.data, "node_modules");
    assert_string_equal(lock.trees[0].members[2].path.data, "package-00002");
    assert_int_equal(lock.trees[0].members[2].records.size, 108);
    assert_null(lock.trees[0].link.data);
    sbox_stored_lock_release(&lock);
    assert_true(write_lock(s, "/p", 4) > first);
    assert_members(s, "/p", 4);
}

static void test_file_is_private(void **state)
{
    struct scratch *s = *state;
    struct stat st;
    write_lock(s, "/p", 1);
    assert_int_equal(fstatat(s->fd, "manifest.db", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_units_are_stored_once(void **state)
{
    struct scratch *s = *state;
    write_lock(s, "/p", 50);
    write_lock(s, "/q", 50);
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    assert_int_equal(sqlite3_open(scratch_path(s, "manifest.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM unit", -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(q, 0), 50);
    sqlite3_finalize(q);
    sqlite3_close(db);
}

static void test_stat_is_refreshed_in_place(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    write_lock(s, "/p", 1);
    _cleanup_manifest_ struct sbox_manifest *m = NULL;
    assert_int_equal(sbox_manifest_open(s->fd, s->path, false, &m, &err), 0);
    struct sbox_stored_lock lock = {0};
    assert_int_equal(sbox_manifest_read(m, "/p", &lock, &err), 0);
    assert_null(lock.trees[0].stat.data);
    assert_int_equal(sbox_manifest_refresh(m, lock.trees[0].id, "abc", 3, &err), 0);
    assert_int_equal(sbox_manifest_refresh(m, lock.trees[0].id + 99, "abc", 3, &err), 0);
    sbox_stored_lock_release(&lock);
    assert_int_equal(sbox_manifest_read(m, "/p", &lock, &err), 0);
    assert_string_equal(lock.trees[0].stat.data, "abc");
    sbox_stored_lock_release(&lock);
}

/* What is refused stays as it was, byte for byte. */
static void assert_untouched(const struct scratch *s, const void *was, size_t size)
{
    _cleanup_free_ char *is = NULL;
    size_t is_size = 0;
    assert_int_equal(sbox_read_file_at(s->fd, "manifest.db", 1 << 26, &is, &is_size), 0);
    assert_int_equal(is_size, size);
    assert_memory_equal(is, was, size);
}

static void test_refuses_what_is_no_manifest(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err;
    const char zeros[4096] = {0};
    const struct {
        const char *data;
        size_t size;
        const char *says;
    } rows[] = {
        {"", 0, "is empty"},
        {"hello", 5, "not a database"},
        {zeros, sizeof zeros, "not a database"},
        {"SQLite format 3", 16, "not a database"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        scratch_write_bytes(s, "manifest.db", rows[i].data, rows[i].size);
        assert_int_equal(fchmodat(s->fd, "manifest.db", 0600, 0), 0);
        assert_int_equal(refused(s, &err), -EBADMSG);
        assert_non_null(strstr(err.message, rows[i].says));
        assert_untouched(s, rows[i].data, rows[i].size);
        scratch_remove(s, "manifest.db");
    }
}

static void run_sql(const struct scratch *s, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(scratch_path(s, "manifest.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_refuses_foreign_newer_and_changed_schemas(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err;
    const struct {
        const char *sql;
        int code;
        const char *says;
    } rows[] = {
        {"PRAGMA application_id = 7", -EBADMSG, "another program"},
        {"PRAGMA user_version = 99", -EPROTONOSUPPORT, "newer sbox"},
        {"CREATE TRIGGER t AFTER INSERT ON lock BEGIN DELETE FROM lock; END", -EBADMSG, "schema"},
        {"CREATE VIEW v AS SELECT 1", -EBADMSG, "schema"},
        {"ALTER TABLE stat ADD COLUMN more INT", -EBADMSG, "schema"},
        {"DROP TABLE stat", -EBADMSG, "schema"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_lock(s, "/p", 2);
        run_sql(s, rows[i].sql);
        _cleanup_free_ char *was = NULL;
        size_t size = 0;
        assert_int_equal(sbox_read_file_at(s->fd, "manifest.db", 1 << 26, &was, &size), 0);
        assert_int_equal(refused(s, &err), rows[i].code);
        assert_non_null(strstr(err.message, rows[i].says));
        assert_untouched(s, was, size);
        scratch_remove(s, "manifest.db");
    }
}

static void test_refuses_links_and_loose_modes(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err;
    write_lock(s, "/p", 2);
    assert_int_equal(fchmodat(s->fd, "manifest.db", 0666, 0), 0);
    assert_int_equal(refused(s, &err), -EPERM);
    assert_int_equal(fchmodat(s->fd, "manifest.db", 0600, 0), 0);
    assert_int_equal(renameat(s->fd, "manifest.db", s->fd, "real.db"), 0);
    scratch_link(s, "manifest.db", "real.db");
    assert_int_equal(refused(s, &err), -ELOOP);
    assert_int_equal(unlinkat(s->fd, "manifest.db", 0), 0);
    assert_int_equal(mkfifoat(s->fd, "manifest.db", 0600), 0);
    assert_int_equal(refused(s, &err), -EBADMSG);
}

/* Every 97th byte of a good file in turn: the answer is the lock or an error, never another lock.
 */
static void test_corruption_never_yields_another_lock(void **state)
{
    struct scratch *s = *state;
    write_lock(s, "/p", 5);
    _cleanup_free_ char *good = NULL;
    size_t size = 0;
    assert_int_equal(sbox_read_file_at(s->fd, "manifest.db", 1 << 26, &good, &size), 0);
    size_t refusals = 0;
    for (size_t at = 0; at < size; at += 97) {
        good[at] = (char)(good[at] ^ 0x55);
        scratch_write_bytes(s, "manifest.db", good, size);
        assert_int_equal(fchmodat(s->fd, "manifest.db", 0600, 0), 0);
        struct sbox_stored_lock lock = {0};
        struct sbox_error err = SBOX_ERROR_INIT;
        int r = read_lock(s, "/p", &lock, &err);
        if (r < 0)
            refusals++;
        else
            assert_true(lock.tree_count <= 1);
        sbox_stored_lock_release(&lock);
        good[at] = (char)(good[at] ^ 0x55);
    }
    assert_true(refusals > 10);
}

static void test_a_changed_unit_is_noticed(void **state)
{
    struct scratch *s = *state;
    struct sbox_stored_lock lock = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    write_lock(s, "/p", 2);
    run_sql(s, "UPDATE unit SET records = x'00' WHERE id = 1");
    assert_int_equal(read_lock(s, "/p", &lock, &err), -EBADMSG);
    assert_non_null(strstr(err.message, "digest"));
}

/* Writes ever new locks of 600 packages that nobody has seen yet: most of its time is spent in the
 * middle of a transaction larger than sqlite's cache. */
static void write_without_end(const struct scratch *s)
{
    struct sbox_arena memory = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_manifest *m = NULL;
    if (sbox_manifest_open(s->fd, s->path, true, &m, &err) < 0)
        _exit(1);
    for (size_t round = 0;; round++) {
        int64_t id = 0;
        struct sbox_stored_lock lock = make_lock(&memory, 600, 6000 + round);
        if (sbox_manifest_write(m, "/p", &lock, &id, &err) < 0)
            _exit(1);
        sbox_arena_release(&memory);
    }
}

/* Killed at any moment of a write: the lock before or the lock after, and the next write works. */
static void test_kill_leaves_a_valid_lock(void **state)
{
    struct scratch *s = *state;
    write_lock(s, "/p", 1);
    for (int round = 0; round < 40; round++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            write_without_end(s);
        (void)usleep((useconds_t)(5000 + round * 1900));
        assert_int_equal(kill(pid, SIGKILL), 0);
        int status = 0;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status)); /* it had not failed by itself */
        struct sbox_stored_lock lock = {0};
        struct sbox_error err = SBOX_ERROR_INIT;
        assert_int_equal(read_lock(s, "/p", &lock, &err), 0);
        size_t n = lock.trees[0].member_count;
        assert_true(n == 1 || n == 600);
        sbox_stored_lock_release(&lock);
    }
    write_lock(s, "/p", 2);
    assert_members(s, "/p", 2);
}

/* Killed while the first manifest ever is made: nothing half-made is in the way afterwards. */
static void test_kill_while_creating(void **state)
{
    struct scratch *s = *state;
    for (int round = 0; round < 20; round++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            write_lock(s, "/p", 1);
            _exit(0);
        }
        (void)usleep((useconds_t)(round * 150));
        (void)kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        write_lock(s, "/p", 3);
        assert_members(s, "/p", 3);
        scratch_remove(s, "manifest.db");
        scratch_remove(s, "manifest.db-journal");
    }
}

static void test_a_held_manifest_is_busy(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    write_lock(s, "/p", 1);
    _cleanup_manifest_ struct sbox_manifest *m = NULL;
    assert_int_equal(sbox_manifest_open(s->fd, s->path, false, &m, &err), 0);
    struct sbox_stored_lock lock = {0};
    assert_int_equal(sbox_manifest_read(m, "/p", &lock, &err), 0);
    sqlite3 *other = NULL;
    assert_int_equal(sqlite3_open(scratch_path(s, "manifest.db"), &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sbox_manifest_refresh(m, lock.trees[0].id, "x", 1, &err), -EBUSY);
    assert_non_null(strstr(err.message, "the last lock stands"));
    sqlite3_close(other);
    sbox_stored_lock_release(&lock);
}

static void test_two_writers_take_turns(void **state)
{
    struct scratch *s = *state;
    pid_t pids[2];
    for (int i = 0; i < 2; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            for (int n = 0; n < 10; n++)
                write_lock(s, i == 0 ? "/p" : "/q", 20);
            _exit(0);
        }
    }
    for (int i = 0; i < 2; i++) {
        int status = -1;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_members(s, "/p", 20);
    assert_members(s, "/q", 20);
}

static bool write_proc(const char *path, const char *text)
{
    _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && sbox_write_full(fd, text, strlen(text)) == 0;
}

/* A mount namespace of its own; as an ordinary user by way of a user namespace. */
static bool own_mounts(void)
{
    unsigned uid = geteuid();
    unsigned gid = getegid();
    if (uid == 0)
        return unshare(CLONE_NEWNS) == 0 &&
               mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return false;
    char uids[32];
    char gids[32];
    (void)snprintf(uids, sizeof uids, "%u %u 1", uid, uid);
    (void)snprintf(gids, sizeof gids, "%u %u 1", gid, gid);
    return write_proc("/proc/self/uid_map", uids) && write_proc("/proc/self/setgroups", "deny") &&
           write_proc("/proc/self/gid_map", gids);
}

/* In a child: a data directory of 256 KB. */
static int write_on_a_full_disk(const struct scratch *s)
{
    if (!own_mounts() || mount("none", s->path, "tmpfs", 0, "size=256k,mode=700") < 0)
        return 6;
    struct scratch full = *s;
    full.fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct sbox_arena memory = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_stored_lock small = make_lock(&memory, 2, 100);
    struct sbox_stored_lock big = make_lock(&memory, 200, 4000);
    struct sbox_manifest *m = NULL;
    int64_t id = 0;
    if (sbox_manifest_open(full.fd, full.path, true, &m, &err) < 0 ||
        sbox_manifest_write(m, "/p", &small, &id, &err) < 0)
        return 2;
    if (sbox_manifest_write(m, "/p", &big, &id, &err) != -ENOSPC ||
        !strstr(err.message, "the last lock stands"))
        return 3;
    sbox_manifest_close(m);
    struct sbox_stored_lock now = {0};
    if (read_lock(&full, "/p", &now, &err) < 0)
        return 4;
    return now.trees[0].member_count == 2 ? 0 : 5;
}

static void test_a_full_disk_leaves_the_previous_lock(void **state)
{
    struct scratch *s = *state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(write_on_a_full_disk(s));
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH(test_round_trip),
        SCRATCH(test_file_is_private),
        SCRATCH(test_units_are_stored_once),
        SCRATCH(test_stat_is_refreshed_in_place),
        SCRATCH(test_refuses_what_is_no_manifest),
        SCRATCH(test_refuses_foreign_newer_and_changed_schemas),
        SCRATCH(test_refuses_links_and_loose_modes),
        SCRATCH(test_corruption_never_yields_another_lock),
        SCRATCH(test_a_changed_unit_is_noticed),
        SCRATCH(test_kill_leaves_a_valid_lock),
        SCRATCH(test_kill_while_creating),
        SCRATCH(test_a_held_manifest_is_busy),
        SCRATCH(test_two_writers_take_turns),
        SCRATCH(test_a_full_disk_leaves_the_previous_lock),
    };
    return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
