/* The walk itself: depth, width, what cannot be read, what changes meanwhile. */
#include "base/cleanup.h"
#include "base/fd.h"
#include "lock/collect.h"
#include "lock/walk_impl.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int walk(const struct scratch *s, unsigned threads, struct sbox_walk *ret,
                struct sbox_error *err)
{
    struct sbox_walk_request request = {
        .root = s->fd, .label = "tree", .threads = threads, .skip_caches = true};
    return sbox_walk_run(&request, ret, err);
}

/* Makes `levels` directories of a long name inside of each other, each with a file and, if asked,
 * a second directory; longer than PATH_MAX, so on descriptors. */
static void make_deep(const struct scratch *s, unsigned levels, const char *name, bool wide)
{
    int fd = dup(s->fd);
    for (unsigned i = 0; i < levels; i++) {
        assert_int_equal(mkdirat(fd, name, 0755), 0);
        if (wide) {
            assert_int_equal(mkdirat(fd, "z", 0755), 0);
            assert_int_equal(mkdirat(fd, "zz", 0755), 0);
        }
        int file = openat(fd, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        assert_true(file >= 0);
        sbox_close(file);
        int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(below >= 0);
        sbox_close(fd);
        fd = below;
    }
    sbox_close(fd);
}

struct longest {
    size_t path;
    uint64_t entries;
};

static int measure(const struct sbox_entry *entry, const char *path, size_t size, void *context)
{
    struct longest *l = context;
    (void)entry;
    (void)path;
    l->entries++;
    if (size > l->path)
        l->path = size;
    return 0;
}

static void remove_deep(const struct scratch *s, const char *name)
{
    /* rm -rf by rename: lift the inner directory out again and again. */
    for (;;) {
        int fd = openat(s->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return;
        (void)unlinkat(fd, "f", 0);
        (void)unlinkat(fd, "z", AT_REMOVEDIR);
        (void)unlinkat(fd, "zz", AT_REMOVEDIR);
        bool deeper = renameat(fd, name, s->fd, "lifted") == 0;
        sbox_close(fd);
        assert_int_equal(unlinkat(s->fd, name, AT_REMOVEDIR), 0);
        if (!deeper)
            return;
        assert_int_equal(renameat(s->fd, "lifted", s->fd, name), 0);
    }
}

static void test_deeper_than_path_max(void **state)
{
    struct scratch *s = *state;
    char name[101];
    memset(name, 'n', 100);
    name[100] = '\0';
    make_deep(s, 1200, name, false);
    struct sbox_walk w = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(walk(s, 2, &w, &err), 0);
    assert_int_equal(w.entries, 1 + 2 * 1200);
    struct longest l = {0};
    assert_int_equal(sbox_walk_visit(&w, measure, &l), 0);
    assert_int_equal(l.entries, w.entries);
    assert_int_equal(l.path, 1200 * 101 - 1);
    struct sbox_collected c = {0};
    assert_int_equal(sbox_collect(&w, SBOX_TREE_NODE_MODULES, s->fd, &c, &err), 0);
    sbox_collected_release(&c);
    sbox_walk_release(&w);
    remove_deep(s, name);
}

/* Two pending siblings on each level would keep a descriptor a level open: they must not. */
static void test_depth_and_few_descriptors(void **state)
{
    struct scratch *s = *state;
    make_deep(s, 1500, "d", true);
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    struct rlimit few = {.rlim_cur = 400, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    struct sbox_walk w = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    int r = walk(s, 2, &w, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(r, 0);
    assert_int_equal(w.entries, 1 + 4 * 1500);
    sbox_walk_release(&w);
    remove_deep(s, "d");
}

static void test_wide_directories_are_shared_out(void **state)
{
    struct scratch *s = *state;
    char name[32];
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "wide/f%d", i);
        scratch_write(s, name, name);
    }
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct sbox_walk w = {0};
        assert_int_equal(walk(s, threads, &w, NULL), 0);
        assert_int_equal(w.hashed, 1000);
        assert_int_equal(w.entries, 1002);
        struct longest l = {0};
        assert_int_equal(sbox_walk_visit(&w, measure, &l), 0);
        assert_int_equal(l.entries, 1002);
        sbox_walk_release(&w);
    }
}

/* Root reads everything: as somebody else. */
static int walk_as_nobody(const struct scratch *s, const char *says)
{
    if (geteuid() == 0 &&
        (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
        return 3;
    struct sbox_walk w = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    if (walk(s, 2, &w, &err) != -EACCES)
        return 1;
    return strstr(err.message, says) ? 0 : 2;
}

static void assert_named(const struct scratch *s, const char *says)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(walk_as_nobody(s, says));
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_what_cannot_be_read_is_named(void **state)
{
    struct scratch *s = *state;
    assert_int_equal(fchmod(s->fd, 0755), 0);
    scratch_write(s, "a/secret", "x");
    scratch_mkdir(s, "a/closed");
    assert_int_equal(fchmodat(s->fd, "a/secret", 0, 0), 0);
    assert_named(s, "tree/a/secret");
    assert_int_equal(fchmodat(s->fd, "a/secret", 0644, 0), 0);
    assert_int_equal(fchmodat(s->fd, "a/closed", 0, 0), 0);
    assert_named(s, "tree/a/closed");
}

struct writer {
    const struct scratch *s;
    atomic_bool stop;
};

static void *write_on(void *argument)
{
    struct writer *w = argument;
    int fd = openat(w->s->fd, "big", O_WRONLY | O_CLOEXEC);
    for (unsigned char i = 0; !atomic_load(&w->stop); i++)
        if (pwrite(fd, &i, 1, 0) != 1)
            break;
    sbox_close(fd);
    return NULL;
}

static void test_a_file_that_changes_is_named(void **state)
{
    struct scratch *s = *state;
    scratch_write(s, "big", "");
    int fd = openat(s->fd, "big", O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, 64 << 20), 0);
    sbox_close(fd);
    struct writer writer = {.s = s};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_on, &writer), 0);
    struct sbox_walk w = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    int r = walk(s, 1, &w, &err);
    atomic_store(&writer.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(r, -EAGAIN);
    assert_non_null(strstr(err.message, "'tree/big' changed while it was read"));
}

static void *swap_on(void *argument)
{
    struct writer *w = argument;
    while (!atomic_load(&w->stop)) {
        (void)renameat(w->s->fd, "swap", w->s->fd, "gone");
        (void)!symlinkat("/etc/passwd", w->s->fd, "swap");
        (void)unlinkat(w->s->fd, "swap", 0);
        (void)renameat(w->s->fd, "gone", w->s->fd, "swap");
    }
    return NULL;
}

/* A name that is a file, nothing, or a link from one moment to the next: an answer each time, never
 * the content behind the link, never a crash. */
static void test_a_file_that_is_swapped(void **state)
{
    struct scratch *s = *state;
    scratch_write(s, "swap", "content");
    struct writer writer = {.s = s};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, swap_on, &writer), 0);
    int wrong = 0; /* asserted when the thread is gone, which uses this frame */
    for (int i = 0; i < 500; i++) {
        struct sbox_walk w = {0};
        struct sbox_error err = SBOX_ERROR_INIT;
        int r = walk(s, 1, &w, &err);
        if (r < 0)
            wrong += r != -EAGAIN || !strstr(err.message, "changed while it was read");
        else
            wrong += w.bytes % 7 != 0;
        sbox_walk_release(&w);
    }
    atomic_store(&writer.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(wrong, 0);
}

/* The same at the worst moment: the listing said "file", and now it is something else. */
static void test_a_listing_that_is_out_of_date(void **state)
{
    struct scratch *s = *state;
    scratch_link(s, "link", "/etc/passwd");
    scratch_mkdir(s, "directory");
    assert_int_equal(mkfifoat(s->fd, "fifo", 0644), 0);
    static const char *const names[] = {"link", "directory", "fifo", "gone"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct sbox_walk_request request = {.label = "tree"};
        struct sbox_walk result = {0};
        struct sbox_pool pool = {
            .request = &request, .walk = &result, .mutex = PTHREAD_MUTEX_INITIALIZER};
        static char buffer[SBOX_WALK_BUFFER];
        struct sbox_worker worker = {.pool = &pool, .hash = sbox_sha256_new(), .buffer = buffer};
        struct sbox_entry entry = {
            .name = names[i], .type = SBOX_ENTRY_FILE, .expected = SBOX_NO_ITEM};
        struct sbox_dir dir = {.name = "", .entries = &entry, .entry_count = 1, .fd = s->fd};
        sbox_walk_look(&worker, &dir, s->fd, 0, 1);
        assert_int_equal(pool.code, -EAGAIN);
        assert_int_equal(worker.bytes, 0);
        sbox_sha256_free(worker.hash);
    }
}

static void count_call(const struct sbox_progress *progress, void *context)
{
    struct sbox_progress *last = context;
    assert_true(progress->bytes >= last->bytes);
    *last = *progress;
}

static void test_progress_goes_forward(void **state)
{
    struct scratch *s = *state;
    scratch_write(s, "big", "");
    int fd = openat(s->fd, "big", O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, 512 << 20), 0);
    sbox_close(fd);
    struct sbox_progress last = {0};
    struct sbox_walk w = {0};
    struct sbox_walk_request request = {.root = s->fd,
                                        .label = "tree",
                                        .threads = 1,
                                        .progress = count_call,
                                        .progress_context = &last};
    assert_int_equal(sbox_walk_run(&request, &w, NULL), 0);
    assert_int_equal(w.bytes, 512 << 20);
    sbox_walk_release(&w);
}

#define SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH(test_deeper_than_path_max),
        SCRATCH(test_depth_and_few_descriptors),
        SCRATCH(test_wide_directories_are_shared_out),
        SCRATCH(test_what_cannot_be_read_is_named),
        SCRATCH(test_a_file_that_changes_is_named),
        SCRATCH(test_a_file_that_is_swapped),
        SCRATCH(test_a_listing_that_is_out_of_date),
        SCRATCH(test_progress_goes_forward),
    };
    return cmocka_run_group_tests_name("walk", tests, NULL, NULL);
}
