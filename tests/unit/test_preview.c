/* What an install run says at its end: the changes that a lock would bring, without one. */
#include "base/cleanup.h"
#include "unit/cmocka_all.h"
#include "unit/lock_project.h"

#define NM "p/node_modules"

static void add(struct project *p, const char *name, const char *version)
{
    char path[128];
    char text[128];
    (void)snprintf(path, sizeof path, NM "/%s/package.json", name);
    (void)snprintf(text, sizeof text, "{\"name\":\"%s\",\"version\":\"%s\"}", name, version);
    scratch_write(p->scratch, path, text);
}

/* "added a >1;..." and "-> target;" of the links that leave; static memory. */
static const char *preview(struct project *p)
{
    static char text[2048];
    size_t used = 0;
    struct sbox_lock_result r = {0};
    struct sbox_error err = SBOX_ERROR_INIT;
    project_scan(p);
    const struct sbox_lock_request request = {
        .datadir = &p->datadir, .root = &p->root, .scan = &p->scan, .home = p->home, .threads = 3};
    if (sbox_lock_preview(&request, &r, &err) < 0) {
        (void)snprintf(text, sizeof text, "%s", err.message);
        return text;
    }
    text[0] = '\0';
    for (size_t i = 0; i < r.change_count; i++)
        if (r.changes[i].name[0])
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %s>%s;",
                                     sbox_change_text(r.changes[i].kind), r.changes[i].name,
                                     r.changes[i].was, r.changes[i].is);
    for (size_t i = 0; i < r.link_count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s -> %s;", r.links[i].tree,
                                 r.links[i].path[0] ? "/" : "", r.links[i].path, r.links[i].target);
    sbox_lock_result_release(&r);
    return text;
}

static void test_without_a_lock_everything_is_added(void **state)
{
    struct project *p = *state;
    assert_string_equal(preview(p), ""); /* no tree either */
    add(p, "a", "1");
    add(p, "b", "2");
    assert_string_equal(preview(p), "added a >1;added b >2;");
    /* and still there is no lock */
    assert_string_equal(preview(p), "added a >1;added b >2;");
    struct sbox_lock_result r = {0};
    assert_int_equal(project_lock(p, NULL, &r, NULL), 0);
    assert_true(r.first);
    sbox_lock_result_release(&r);
}

static void test_changes_since_the_lock(void **state)
{
    struct project *p = *state;
    add(p, "a", "1");
    add(p, "b", "2");
    add(p, "c", "3");
    project_must_lock(p);
    assert_string_equal(preview(p), "");
    add(p, "a", "1.1");
    scratch_remove(p->scratch, NM "/b");
    add(p, "d", "4");
    scratch_write(p->scratch, NM "/c/index.js", "x");
    assert_string_equal(preview(p), "version a 1>1.1;removed b 2>;content c 3>3;added d >4;");
    scratch_remove(p->scratch, NM);
    assert_string_equal(preview(p), "removed a 1>;removed b 2>;removed c 3>;");
}

/* An install script may have made them: they are named, and nothing behind them is read. */
static void test_links_are_not_followed(void **state)
{
    struct project *p = *state;
    add(p, "a", "1");
    /* would show as packages, were they looked into */
    scratch_write(p->scratch, "home/other/k/package.json", "{\"name\":\"k\"}");
    scratch_write(p->scratch, "home/.ssh/package.json", "{\"name\":\"key\"}");
    scratch_link(p->scratch, NM "/python", "../../home/other");
    scratch_link(p->scratch, NM "/ssh", "../../home/.ssh");
    assert_string_equal(preview(p), "added a >1;node_modules/python -> ../../home/other;"
                                    "node_modules/ssh -> ../../home/.ssh;");
    project_scan(p);
    struct sbox_lock_result r = {0};
    assert_int_equal(project_lock(p, NULL, &r, NULL), -EPERM);
}

static void test_a_tree_that_became_a_link(void **state)
{
    struct project *p = *state;
    add(p, "a", "1");
    project_must_lock(p);
    scratch_remove(p->scratch, NM);
    scratch_write(p->scratch, "home/.ssh/package.json", "{\"name\":\"key\"}");
    scratch_link(p->scratch, NM, "../home/.ssh");
    assert_string_equal(preview(p), "removed a 1>;node_modules -> ../home/.ssh;");
    assert_string_equal(project_both(p), "type ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_without_a_lock_everything_is_added, project_setup,
                                        project_teardown),
        cmocka_unit_test_setup_teardown(test_changes_since_the_lock, project_setup,
                                        project_teardown),
        cmocka_unit_test_setup_teardown(test_links_are_not_followed, project_setup,
                                        project_teardown),
        cmocka_unit_test_setup_teardown(test_a_tree_that_became_a_link, project_setup,
                                        project_teardown),
    };
    return cmocka_run_group_tests_name("preview", tests, NULL, NULL);
}
