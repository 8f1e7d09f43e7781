#include "base/cleanup.h"
#include "base/fd.h"
#include "unit/cmocka_all.h"
#include "unit/lock_project.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>

static int at(struct project *p)
{
    int fd = openat(p->scratch->fd, NM, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void test_lock_then_equal(void **state)
{
    struct project *p = *state;
    project_install(p);
    struct sbox_lock_result r = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    project_age();
    assert_int_equal(project_lock(p, NULL, &r, &err), 0);
    assert_true(r.first);
    assert_int_equal(err.code, 0);
    assert_int_equal(r.tree_count, 1);
    assert_int_equal(r.packages, 3);
    assert_string_equal(r.trees[0].path, "node_modules");
    assert_int_equal(r.entries, 14);
    sbox_lock_result_release(&r);
    assert_string_equal(project_both(p), "equal");
}

static void test_the_fast_path_reads_nothing(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    struct sbox_verify_result v = {0};
    assert_int_equal(project_verify(p, SBOX_VERIFY_FAST, &v, NULL), 0);
    assert_true(v.same);
    assert_int_equal(v.trees[0].hashed, 0);
    assert_int_equal(v.trees[0].entries, 14);
    sbox_verify_result_release(&v);
    assert_int_equal(project_verify(p, SBOX_VERIFY_FULL, &v, NULL), 0);
    assert_int_equal(v.trees[0].hashed, 6);
    assert_int_equal(v.trees[0].entries, 14);
    sbox_verify_result_release(&v);
}

/* Two projects, one manifest: the second has no lock yet, and that is no error. */
static void test_the_first_lock_beside_others(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    const struct scratch *s = p->scratch;
    scratch_mkdir(s, "other/.git");
    scratch_write(s, "other/node_modules/a/index.js", "1");
    sbox_root_release(&p->root);
    const char *other = scratch_path(s, "other");
    struct sbox_root_request request = {
        .directory = other, .workspace = other, .home = p->home, .datadir = &p->datadir};
    assert_int_equal(sbox_root_find(&request, &p->root, NULL), 0);
    struct sbox_lock_result r = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(project_lock(p, NULL, &r, &err), 0);
    assert_true(r.first);
    assert_int_equal(err.code, 0);
    sbox_lock_result_release(&r);
}

static void change_content(struct project *p)
{
    scratch_write(p->scratch, NM "/express/node_modules/qs/index.js", "exports.a = 2\n");
}

/* Same size, times put back, all in the tick of the lock. */
static void test_same_size_and_times_put_back(void **state)
{
    struct project *p = *state;
    project_install(p);
    struct stat st;
    assert_int_equal(fstatat(p->scratch->fd, NM "/express/node_modules/qs/index.js", &st, 0), 0);
    struct sbox_lock_result r = {0};
    assert_int_equal(project_lock(p, NULL, &r, NULL), 0); /* not aged on purpose */
    sbox_lock_result_release(&r);
    change_content(p);
    struct timespec times[2] = {st.st_atim, st.st_mtim};
    assert_int_equal(utimensat(p->scratch->fd, NM "/express/node_modules/qs/index.js", times, 0),
                     0);
    assert_string_equal(project_both(p), "modified express/node_modules/qs/index.js [qs@6.0.0]");
}

static void test_verdict_modified(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    change_content(p);
    assert_string_equal(project_both(p), "modified express/node_modules/qs/index.js [qs@6.0.0]");
}

/* A page that was dirty through a map when the lock was made. */
static void test_dirty_map(void **state)
{
    struct project *p = *state;
    project_install(p);
    _cleanup_close_ int fd = openat(p->scratch->fd, NM "/express/index.js", O_RDWR | O_CLOEXEC);
    char *map = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    map[0] = 'M';
    project_must_lock(p);
    assert_string_equal(project_both(p), "equal");
    map[0] = 'X';
    assert_string_equal(project_both(p), "modified express/index.js [express@4.1.0]");
    (void)munmap(map, 16);
}

static void test_verdict_added(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    scratch_write(p->scratch, NM "/express/new.js", "x");
    scratch_mkdir(p->scratch, NM "/zzz/empty");
    assert_string_equal(project_both(p), "added express/new.js [express@4.1.0]\n"
                                         "added zzz\nadded zzz/empty");
}

static void test_verdict_removed(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    scratch_remove(p->scratch, NM "/express/node_modules/qs");
    assert_string_equal(project_both(p), "removed express/node_modules/qs [qs@6.0.0]\n"
                                         "removed express/node_modules/qs/index.js [qs@6.0.0]\n"
                                         "removed express/node_modules/qs/package.json [qs@6.0.0]");
}

static void test_verdict_type(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    scratch_remove(p->scratch, NM "/express/index.js");
    scratch_write(p->scratch, NM "/express/index.js/inside", "x");
    scratch_remove(p->scratch, NM "/express/node_modules");
    scratch_write(p->scratch, NM "/express/node_modules", "x");
    assert_string_equal(project_both(p), "type express/index.js [express@4.1.0]\n"
                                         "added express/index.js/inside [express@4.1.0]\n"
                                         "type express/node_modules [express@4.1.0]\n"
                                         "removed express/node_modules/qs [qs@6.0.0]\n"
                                         "removed express/node_modules/qs/index.js [qs@6.0.0]\n"
                                         "removed express/node_modules/qs/package.json [qs@6.0.0]");
}

static void test_verdicts_mode_target_xattr(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    _cleanup_close_ int fd = at(p);
    assert_int_equal(fchmodat(fd, "express/index.js", 0755, 0), 0);
    assert_int_equal(fchmodat(fd, "@types", 01777, 0), 0);
    assert_int_equal(unlinkat(fd, ".bin/express", 0), 0);
    assert_int_equal(symlinkat("../express/other", fd, ".bin/express"), 0);
    const char *file = scratch_path(p->scratch, NM "/express/package.json");
    assert_int_equal(setxattr(file, "user.overlay.opaque", "y", 1, 0), 0);
    const char *directory = scratch_path(p->scratch, NM "/express/node_modules");
    assert_int_equal(setxattr(directory, "user.overlay.opaque", "y", 1, 0), 0);
    assert_string_equal(project_both(p), "target .bin/express\nmode @types\n"
                                         "mode express/index.js [express@4.1.0]\n"
                                         "xattr express/node_modules [express@4.1.0]\n"
                                         "xattr express/package.json [express@4.1.0]");
}

static void test_renamed_case(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    _cleanup_close_ int fd = at(p);
    assert_int_equal(renameat(fd, "express/index.js", fd, "express/Index.js"), 0);
    assert_string_equal(project_both(p), "added express/Index.js [express@4.1.0]\n"
                                         "removed express/index.js [express@4.1.0]");
}

static void test_replaced_by_equal_stat(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    _cleanup_close_ int fd = at(p);
    /* The same bytes in another inode: equal, but only after it was read. */
    scratch_write(p->scratch, NM "/express/copy", "module.exports = 1\n");
    assert_int_equal(renameat(fd, "express/copy", fd, "express/index.js"), 0);
    struct sbox_verify_result v = {0};
    assert_int_equal(project_verify(p, SBOX_VERIFY_FAST, &v, NULL), 0);
    assert_true(v.same);
    assert_int_equal(v.trees[0].hashed, 1);
    sbox_verify_result_release(&v);
}

static void test_stat_data_is_renewed(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    assert_int_equal(utimensat(p->scratch->fd, NM "/express/index.js", NULL, 0), 0);
    project_age();
    for (int round = 0; round < 2; round++) {
        struct sbox_verify_result v = {0};
        assert_int_equal(project_verify(p, SBOX_VERIFY_FAST, &v, NULL), 0);
        assert_true(v.same);
        assert_int_equal(v.trees[0].hashed, round == 0 ? 1 : 0);
        assert_int_equal(v.trees[0].bytes, round == 0 ? strlen("module.exports = 1\n") : 0);
        sbox_verify_result_release(&v);
    }
    change_content(p);
    assert_string_equal(project_both(p), "modified express/node_modules/qs/index.js [qs@6.0.0]");
}

static void test_special_files_are_recorded_and_never_opened(void **state)
{
    struct project *p = *state;
    project_install(p);
    _cleanup_close_ int fd = at(p);
    assert_int_equal(mkfifoat(fd, "fifo", 0644), 0); /* opening it for reading would block */
    scratch_link(p->scratch, NM "/zero", "/dev/zero");
    assert_int_equal(fchmodat(fd, "express/index.js", 04755, 0), 0);
    project_must_lock(p);
    assert_string_equal(project_both(p), "equal");
    assert_int_equal(unlinkat(fd, "fifo", 0), 0);
    assert_int_equal(fchmodat(fd, "express/index.js", 0755, 0), 0);
    assert_string_equal(project_both(p), "mode express/index.js [express@4.1.0]\nremoved fifo");
}

static void test_caches_are_said_but_no_difference(void **state)
{
    struct project *p = *state;
    project_install(p);
    scratch_mkdir(p->scratch, NM "/.vite");
    project_must_lock(p);
    scratch_write(p->scratch, NM "/.cache/babel/x.js", "x");
    struct sbox_verify_result v = {0};
    assert_int_equal(project_verify(p, SBOX_VERIFY_FULL, &v, NULL), 0);
    assert_true(v.same);
    assert_int_equal(v.cache_count, 1);
    assert_string_equal(v.caches[0], "node_modules/.cache");
    sbox_verify_result_release(&v);
    /* A link in a cache's place is no cache. */
    scratch_remove(p->scratch, NM "/.cache");
    scratch_link(p->scratch, NM "/.cache", "/tmp");
    assert_string_equal(project_both(p), "added .cache");
    /* Nor is one deeper down. */
    scratch_remove(p->scratch, NM "/.cache");
    scratch_mkdir(p->scratch, NM "/express/.cache");
    assert_string_equal(project_both(p), "added express/.cache [express@4.1.0]");
}

static void test_never_locked_absent_unlocked(void **state)
{
    struct project *p = *state;
    project_install(p);
    struct sbox_verify_result v = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(project_verify(p, SBOX_VERIFY_FAST, &v, &err), -ENODATA);
    assert_non_null(strstr(err.message, "sbox lock"));
    project_must_lock(p);
    scratch_write(p->scratch, "p/src/node_modules/evil/index.js", "x");
    assert_string_equal(project_both(p), "unlocked src/node_modules");
    scratch_remove(p->scratch, NM);
    assert_string_equal(project_both(p), "absent node_modules\nunlocked src/node_modules");
}

static void test_a_moved_project_was_never_locked(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    const struct scratch *s = p->scratch;
    assert_int_equal(renameat(s->fd, "p", s->fd, "q"), 0);
    sbox_root_release(&p->root);
    struct sbox_error err = SBOX_ERROR_INIT;
    const char *moved = scratch_path(s, "q");
    struct sbox_root_request request = {
        .directory = moved, .workspace = moved, .home = p->home, .datadir = &p->datadir};
    assert_int_equal(sbox_root_find(&request, &p->root, &err), 0);
    struct sbox_verify_result v = {0};
    assert_int_equal(project_verify(p, SBOX_VERIFY_FAST, &v, &err), -ENODATA);
}

static void test_nothing_to_lock_writes_nothing(void **state)
{
    struct project *p = *state;
    struct sbox_lock_result r = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(project_lock(p, NULL, &r, &err), -ENOENT);
    assert_non_null(strstr(err.message, "no dependency trees"));
    assert_int_equal(faccessat(p->datadir.fd, "manifest.db", F_OK, 0), -1);
    assert_false(sbox_project_marked_locked(&p->datadir, p->root.path));
}

static void test_a_damaged_manifest_is_no_answer(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    _cleanup_close_ int fd = openat(p->datadir.fd, "manifest.db", O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_true(fd >= 0);
    struct sbox_verify_result v = {0};
    struct sbox_lock_result r = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(project_verify(p, SBOX_VERIFY_FAST, &v, &err), -EBADMSG);
    assert_int_equal(project_lock(p, NULL, &r, &err), -EBADMSG);
}

/* "kind name was>is" of each change that has a name */
static const char *changes(const struct sbox_lock_result *r)
{
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < r->change_count; i++) {
        const struct sbox_lock_change *c = &r->changes[i];
        if (*c->name)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %s>%s;",
                                     sbox_change_text(c->kind), c->name, c->was, c->is);
    }
    return text;
}

static void test_changes_by_package(void **state)
{
    struct project *p = *state;
    project_install(p);
    project_must_lock(p);
    scratch_write(p->scratch, NM "/express/package.json",
                  "{\"name\":\"express\",\"version\":\"4.2.0\"}");
    scratch_write(p->scratch, NM "/new/package.json", "{\"name\":\"new\",\"version\":\"1\"}");
    scratch_remove(p->scratch, NM "/@types");
    change_content(p);
    struct sbox_lock_result r = {0};
    assert_int_equal(project_lock(p, NULL, &r, NULL), 0);
    assert_false(r.first);
    assert_string_equal(changes(&r), "removed @types/node 20.0.0>;version express 4.1.0>4.2.0;"
                                     "content qs 6.0.0>6.0.0;added new >1;");
    sbox_lock_result_release(&r);
    assert_int_equal(project_lock(p, NULL, &r, NULL), 0);
    assert_int_equal(r.change_count, 0);
    sbox_lock_result_release(&r);
}

static void test_fingerprint_ignores_umask(void **state)
{
    struct project *p = *state;
    project_install(p);
    struct sbox_lock_result a = {0};
    struct sbox_lock_result b = {0};
    assert_int_equal(project_lock(p, NULL, &a, NULL), 0);
    _cleanup_close_ int fd = at(p);
    assert_int_equal(fchmodat(fd, "express/index.js", 0600, 0), 0);
    assert_int_equal(fchmodat(fd, "express", 0700, 0), 0);
    assert_int_equal(project_lock(p, NULL, &b, NULL), 0);
    assert_memory_equal(&a.fingerprint, &b.fingerprint, sizeof a.fingerprint);
    assert_memory_not_equal(&a.local, &b.local, sizeof a.local);
    sbox_lock_result_release(&b);
    assert_int_equal(fchmodat(fd, "express/index.js", 0700, 0), 0);
    assert_int_equal(project_lock(p, NULL, &b, NULL), 0);
    assert_memory_not_equal(&a.fingerprint, &b.fingerprint, sizeof a.fingerprint);
    sbox_lock_result_release(&a);
    sbox_lock_result_release(&b);
}

static void test_named_tree_carries_the_others(void **state)
{
    struct project *p = *state;
    project_install(p);
    scratch_write(p->scratch, "p/sub/node_modules/x/index.js", "1");
    project_must_lock(p);
    change_content(p);
    scratch_write(p->scratch, "p/sub/node_modules/x/index.js", "2");
    struct sbox_lock_result r = {0};
    assert_int_equal(project_lock(p, "sub/node_modules/", &r, NULL), 0);
    assert_int_equal(r.tree_count, 2);
    assert_true(r.trees[0].carried);
    assert_false(r.trees[1].carried);
    sbox_lock_result_release(&r);
    assert_string_equal(project_both(p), "modified express/node_modules/qs/index.js [qs@6.0.0]");
}

static void test_paths_that_name_no_tree(void **state)
{
    struct project *p = *state;
    project_install(p);
    scratch_write(p->scratch, "p/file", "x");
    static const struct {
        const char *path;
        int code;
        const char *says;
    } rows[] = {
        {"node_modules/express", -EINVAL, "inside the tree"},
        {".", -EINVAL, "project itself"},
        {"missing", -ENOENT, "missing"},
        {"file", -ENOTDIR, "file"},
        {"", -EINVAL, "empty"},
        {"/", -EPERM, "system directory"},
        {"..", -EPERM, "holds the workspace"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sbox_lock_result r = {0};
        struct sbox_error err = SBOX_ERROR_INIT;
        assert_int_equal(project_lock(p, rows[i].path, &r, &err), rows[i].code);
        assert_non_null(strstr(err.message, rows[i].says));
    }
    assert_int_equal(faccessat(p->datadir.fd, "manifest.db", F_OK, 0), -1);
}

static void test_tree_outside_by_name(void **state)
{
    struct project *p = *state;
    project_install(p);
    scratch_write(p->scratch, "shared/lib.js", "1");
    struct sbox_lock_result r = {0};
    assert_int_equal(project_lock(p, "../shared", &r, NULL), 0);
    assert_int_equal(r.tree_count, 1);
    assert_true(r.trees[0].outside);
    sbox_lock_result_release(&r);
    project_must_lock(p); /* a plain lock keeps what was named */
    assert_string_equal(project_both(p), "equal");
    scratch_write(p->scratch, "shared/lib.js", "2");
    assert_string_equal(project_both(p), "modified lib.js");
}

/* On a file system whose times are not to be relied on, fast reads everything as well. */
static void test_tmpfs_is_always_hashed(void **state)
{
    struct project *p = *state;
    char directory[] = "/dev/shm/sbox-unit-XXXXXX";
    assert_non_null(mkdtemp(directory));
    _cleanup_close_ int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(sbox_write_file_atomic(fd, "f", "1", 1, 0644, false), 0);
    project_age();
    struct sbox_lock_result r = {0};
    assert_int_equal(project_lock(p, directory, &r, NULL), 0);
    sbox_lock_result_release(&r);
    struct sbox_verify_result v = {0};
    assert_int_equal(project_verify(p, SBOX_VERIFY_FAST, &v, NULL), 0);
    bool same = v.same;
    uint64_t hashed = v.trees[0].hashed;
    sbox_verify_result_release(&v);
    assert_int_equal(unlinkat(fd, "f", 0), 0);
    assert_int_equal(rmdir(directory), 0);
    assert_true(same);
    assert_int_equal(hashed, 1);
}

static void test_python_packages_by_dist_info(void **state)
{
    struct project *p = *state;
    const struct scratch *s = p->scratch;
#define SP "p/.venv/lib/python3.11/site-packages"
    scratch_write(s, "p/.venv/pyvenv.cfg", "home = /usr/bin\n");
    scratch_write(s, SP "/flask/app.py", "1");
    scratch_write(s, SP "/six.py", "1");
    scratch_write(
        s, SP "/flask-3.0.2.dist-info/RECORD",
        "flask/app.py,sha256=x,1\n../../../bin/flask,,\nflask-3.0.2.dist-info/RECORD,,\n");
    scratch_write(s, SP "/six-1.16.0.dist-info/RECORD", "six.py,,\n");
    scratch_link(s, "p/.venv/python", "/usr/bin/python3");
    project_must_lock(p);
    scratch_write(s, SP "/flask/app.py", "2");
    scratch_write(s, SP "/six.py", "2");
    assert_string_equal(project_both(p),
                        "modified lib/python3.11/site-packages/flask/app.py [flask@3.0.2]\n"
                        "modified lib/python3.11/site-packages/six.py [six@1.16.0]");
}

static void test_names_of_all_bytes(void **state)
{
    struct project *p = *state;
    const struct scratch *s = p->scratch;
    scratch_write(s, NM "/-rf/a b\n\xff:'\"", "1");
    project_must_lock(p);
    scratch_write(s, NM "/-rf/a b\n\xff:'\"", "2");
    assert_string_equal(project_both(p), "modified -rf/a b\\n\\xff:'\"");
}

#define PROJECT(f) cmocka_unit_test_setup_teardown(f, project_setup, project_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROJECT(test_lock_then_equal),
        PROJECT(test_the_first_lock_beside_others),
        PROJECT(test_the_fast_path_reads_nothing),
        PROJECT(test_same_size_and_times_put_back),
        PROJECT(test_verdict_modified),
        PROJECT(test_dirty_map),
        PROJECT(test_verdict_added),
        PROJECT(test_verdict_removed),
        PROJECT(test_verdict_type),
        PROJECT(test_verdicts_mode_target_xattr),
        PROJECT(test_renamed_case),
        PROJECT(test_replaced_by_equal_stat),
        PROJECT(test_stat_data_is_renewed),
        PROJECT(test_special_files_are_recorded_and_never_opened),
        PROJECT(test_caches_are_said_but_no_difference),
        PROJECT(test_never_locked_absent_unlocked),
        PROJECT(test_a_moved_project_was_never_locked),
        PROJECT(test_nothing_to_lock_writes_nothing),
        PROJECT(test_a_damaged_manifest_is_no_answer),
        PROJECT(test_changes_by_package),
        PROJECT(test_fingerprint_ignores_umask),
        PROJECT(test_named_tree_carries_the_others),
        PROJECT(test_paths_that_name_no_tree),
        PROJECT(test_tree_outside_by_name),
        PROJECT(test_tmpfs_is_always_hashed),
        PROJECT(test_python_packages_by_dist_info),
        PROJECT(test_names_of_all_bytes),
    };
    return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
