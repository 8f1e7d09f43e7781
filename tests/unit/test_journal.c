#include "store/journal.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <sqlite3.h>

struct seen {
    int runs;
    int connections;
    int64_t first_started;
    int64_t last_status;
    char host[64];
};

static int on_run(const struct sbox_journal_run *run, void *context)
{
    struct seen *s = context;
    if (s->runs++ == 0)
        s->first_started = run->started_us;
    s->last_status = run->status;
    assert_string_equal(run->program, "np\xffm");
    return 0;
}

static int on_connection(const struct sbox_journal_connection *c, void *context)
{
    struct seen *s = context;
    s->connections++;
    (void)snprintf(s->host, sizeof s->host, "%s", c->host);
    assert_int_equal(c->bytes_in, INT64_C(5000000000));
    assert_string_equal(c->address, "192.0.2.1");
    return 0;
}

static void write_run(struct sbox_journal *j, const char *root, int64_t started)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    const struct sbox_journal_run run = {.program = "np\xffm", .started_us = started, .status = 7};
    const struct sbox_journal_connection c[2] = {
        {.host = "a.test", .address = "192.0.2.1", .bytes_in = INT64_C(5000000000)},
        {.host = "b.test",
         .address = "192.0.2.1",
         .bytes_in = INT64_C(5000000000),
         .started_us = 1},
    };
    if (sbox_journal_write(j, root, &run, c, 2, &err) < 0)
        fail_msg("%s", err.message);
}

static struct seen read_runs(struct sbox_journal *j, const char *root, unsigned limit)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct seen seen = {0};
    const struct sbox_journal_reader reader = {
        .run = on_run, .connection = on_connection, .context = &seen};
    assert_int_equal(sbox_journal_read(j, root, limit, &reader, &err), 0);
    return seen;
}

static void test_round_trip(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_journal *j = NULL;
    assert_int_equal(sbox_journal_open(s->fd, s->path, false, &j, &err), -ENOENT);
    assert_int_equal(sbox_journal_open(s->fd, s->path, true, &j, &err), 0);
    write_run(j, "/a", 1);
    write_run(j, "/a", 2);
    write_run(j, "/b", 3);
    struct seen seen = read_runs(j, "/a", 10);
    assert_int_equal(seen.runs, 2);
    assert_int_equal(seen.connections, 4);
    assert_int_equal(seen.first_started, 1); /* oldest first */
    assert_int_equal(seen.last_status, 7);
    assert_string_equal(seen.host, "b.test");
    seen = read_runs(j, "/a", 1);
    assert_int_equal(seen.runs, 1);
    assert_int_equal(seen.first_started, 2); /* the latest one */
    assert_int_equal(read_runs(j, "/c", 10).runs, 0);
    sbox_journal_close(j);
}

static void test_oldest_go(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_journal *j = NULL;
    assert_int_equal(sbox_journal_open(s->fd, s->path, true, &j, &err), 0);
    write_run(j, "/other", 1);
    for (int i = 0; i < SBOX_JOURNAL_RUNS_KEPT + 3; i++)
        write_run(j, "/a", i);
    struct seen seen = read_runs(j, "/a", 10000);
    assert_int_equal(seen.runs, SBOX_JOURNAL_RUNS_KEPT);
    assert_int_equal(seen.connections, 2 * SBOX_JOURNAL_RUNS_KEPT);
    assert_int_equal(seen.first_started, 3);
    assert_int_equal(read_runs(j, "/other", 10).runs, 1);
    sbox_journal_close(j);
}

/* The manifest's tables in the journal's place are not the journal's. */
static void test_foreign(void **state)
{
    struct scratch *s = *state;
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_journal *j = NULL;
    assert_int_equal(sbox_journal_open(s->fd, s->path, true, &j, &err), 0);
    sbox_journal_close(j);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(scratch_path(s, "journal.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    (void)sqlite3_close(db);
    assert_int_equal(sbox_journal_open(s->fd, s->path, true, &j, &err), -EBADMSG);
    assert_non_null(strstr(err.message, "journal.db"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_oldest_go, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_foreign, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
