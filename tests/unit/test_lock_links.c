/* Trees that are links, and links in trees that lead elsewhere. */
#include "base/cleanup.h"
#include "base/fd.h"
#include "unit/cmocka_all.h"
#include "unit/lock_project.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>

static void test_links_that_leave_are_hashed(void **state)
{
    struct project *p = *state;
    project_install(p);
    scratch_write(p->scratch, "store/pkg/index.js", "1");
    scratch_link(p->scratch, NM "/pkg", "../../store/pkg");
    scratch_link(p->scratch, NM "/sh", "/usr/bin/env");
    scratch_link(p->scratch, NM "/nothing", "/nonexistent/x");
    scratch_mkdir(p->scratch, "p/packages/own");
    scratch_link(p->scratch, NM "/own", "../packages/own");
    struct sbox_lock_result r = {0};
    assert_int_equal(project_lock(p, NULL, &r, NULL), 0);
    assert_int_equal(r.link_count, 3);
    assert_int_equal(r.tree_count, 2);
    sbox_lock_result_release(&r);
    assert_string_equal(project_both(p), "equal");
    scratch_write(p->scratch, "store/pkg/index.js", "2");
    assert_string_equal(project_both(p), "modified index.js");
}

static void test_links_to_what_was_not_recorded(void **state)
{
    struct project *p = *state;
    project_install(p);
    scratch_link(p->scratch, NM "/pkg", "../../store/pkg");
    project_must_lock(p);
    assert_string_equal(project_both(p), "equal");
    /* What the link names comes into being after the lock. */
    scratch_write(p->scratch, "store/pkg/index.js", "evil");
    assert_string_equal(project_both(p), "leaves pkg");
}

static void test_links_into_private_places_are_refused(void **state)
{
    struct project *p = *state;
    project_install(p);
    scratch_write(p->scratch, "home/.ssh/id", "secret");
    scratch_link(p->scratch, NM "/pkg", "../../home/.ssh");
    struct sbox_lock_result r = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(project_lock(p, NULL, &r, &err), -EPERM);
    assert_non_null(strstr(err.message, "node_modules/pkg"));
}

static void test_a_tree_that_is_a_link(void **state)
{
    struct project *p = *state;
    scratch_write(p->scratch, "elsewhere/a/index.js", "1");
    scratch_link(p->scratch, NM, "../elsewhere");
    struct sbox_lock_result r = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(project_lock(p, NULL, &r, &err), -EPERM);
    assert_non_null(strstr(err.message, "name it: sbox lock node_modules"));
    assert_int_equal(project_lock(p, "node_modules", &r, &err), 0);
    sbox_lock_result_release(&r);
    project_must_lock(p);
    assert_string_equal(project_both(p), "equal");
    scratch_write(p->scratch, "elsewhere/a/index.js", "2");
    assert_string_equal(project_both(p), "modified a/index.js");
    scratch_mkdir(p->scratch, "other");
    scratch_remove(p->scratch, NM);
    scratch_link(p->scratch, NM, "../other");
    assert_string_equal(project_both(p), "target ");
}

#define PROJECT(f) cmocka_unit_test_setup_teardown(f, project_setup, project_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROJECT(test_links_that_leave_are_hashed),
        PROJECT(test_links_to_what_was_not_recorded),
        PROJECT(test_links_into_private_places_are_refused),
        PROJECT(test_a_tree_that_is_a_link),
    };
    return cmocka_run_group_tests_name("lock_links", tests, NULL, NULL);
}
