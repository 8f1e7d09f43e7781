/* Caches of package managers: where they are kept, which are found, what the plan makes of them. */
#include "base/strv.h"
#include "sandbox/build.h"
#include "sandbox/home_caches.h"
#include "unit/cmocka_all.h"
#include "unit/scratch.h"

#include <sys/mount.h>
#include <sys/stat.h>

struct world {
    const struct scratch *s;
    struct sbox_cachedir dir;
    struct sbox_home_caches caches;
    char home[256];
    char root[256];
};

static const char *program; /* of the command, for gather() */

static int gather(struct world *w, const struct scratch *s, const char *xdg, bool install,
                  struct sbox_error *err)
{
    *w = (struct world){.s = s};
    (void)snprintf(w->home, sizeof w->home, "%s/home", s->path);
    (void)snprintf(w->root, sizeof w->root, "%s/home/p", s->path);
    scratch_mkdir(s, "home/p");
    assert_int_equal(sbox_cachedir_name(w->home, xdg, w->root, &w->dir, NULL), 0);
    const struct sbox_home_caches_request request = {.home = w->home,
                                                     .dir = &w->dir,
                                                     .root_path = w->root,
                                                     .program = program,
                                                     .install = install};
    return sbox_home_caches_gather(&request, &w->caches, err);
}

static void release(struct world *w)
{
    sbox_home_caches_release(&w->caches);
    sbox_cachedir_release(&w->dir);
}

static const struct sbox_policy_cache *cache(const struct world *w, const char *place)
{
    for (size_t i = 0; i < w->caches.count; i++)
        if (strcmp(w->caches.items[i].place, place) == 0)
            return &w->caches.items[i];
    return NULL;
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* --- the directory ---------------------------------------------------------------------------- */

static void test_names(void **state)
{
    (void)state;
    struct sbox_cachedir c = {NULL, NULL, NULL};
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(sbox_cachedir_name("/home/u", NULL, "/w", &c, NULL), 0);
    assert_string_equal(c.base, "/home/u/.cache");
    assert_string_equal(c.top, "/home/u/.cache/sbox");
    assert_true(sbox_str_starts(c.path, "/home/u/.cache/sbox/"));
    assert_int_equal(strlen(c.path), strlen(c.top) + 33);
    sbox_cachedir_release(&c);
    assert_int_equal(sbox_cachedir_name(NULL, "/x", "/w", &c, NULL), 0);
    assert_string_equal(c.top, "/x/sbox");
    sbox_cachedir_release(&c);
    assert_int_equal(sbox_cachedir_name("/home/u", "relative", "/w", &c, NULL), 0);
    assert_string_equal(c.top, "/home/u/.cache/sbox");
    sbox_cachedir_release(&c);
    assert_int_equal(sbox_cachedir_name(NULL, "relative", "/w", &c, &err), -ENOENT);
    assert_non_null(strstr(err.message, "HOME"));
}

static void test_made_private(void **state)
{
    const struct scratch *s = *state;
    struct world w;
    struct stat st;
    assert_int_equal(gather(&w, s, NULL, true, NULL), 0);
    assert_int_equal(lstat(w.dir.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(lstat(w.dir.top, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    release(&w);
}

/* refused SETUP: an install run says why, an ordinary one goes without. */
static void refused(const struct scratch *s, const char *xdg, const char *has)
{
    struct world w;
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(gather(&w, s, xdg, true, &err), -EPERM);
    if (!strstr(err.message, has))
        fail_msg("not '%s': %s", has, err.message);
    release(&w);
    err = SBOX_ERROR_INIT;
    assert_int_equal(gather(&w, s, xdg, false, &err), 0);
    assert_int_equal(w.caches.count, 0);
    assert_int_equal(err.code, 0);
    release(&w);
}

static void test_not_in_the_workspace(void **state)
{
    const struct scratch *s = *state;
    refused(s, scratch_path(s, "home/p/.cache"), "lies in the workspace");
    assert_false(exists(scratch_path(s, "home/p/.cache")));
    scratch_link(s, "elsewhere", "home/p");
    refused(s, scratch_path(s, "elsewhere/x"), "lies in the workspace");
    assert_false(exists(scratch_path(s, "home/p/x")));
    /* as a cache of the host's it is not used either, or a planted link would be followed */
    struct world w;
    scratch_write(s, "home/p/.cache/ms-playwright/x", "");
    assert_int_equal(gather(&w, s, scratch_path(s, "home/p/.cache"), false, NULL), 0);
    assert_int_equal(w.caches.count, 0);
    release(&w);
}

static void test_not_of_others(void **state)
{
    const struct scratch *s = *state;
    scratch_mkdir(s, "open/sbox");
    assert_int_equal(chmod(scratch_path(s, "open/sbox"), 0777), 0);
    refused(s, scratch_path(s, "open"), "others can write");
    scratch_mkdir(s, "other");
    scratch_link(s, "linked/sbox", "../other");
    refused(s, scratch_path(s, "linked"), "is a link");
}

/* --- what is found ---------------------------------------------------------------------------- */

static void test_nothing_there(void **state)
{
    struct world w;
    assert_int_equal(gather(&w, *state, NULL, false, NULL), 0);
    assert_int_equal(w.caches.count, 0);
    assert_false(exists(w.dir.top)); /* an ordinary run makes nothing */
    release(&w);
}

static void test_what_the_program_needs(void **state)
{
    struct world w;
    program = "cargo";
    assert_int_equal(gather(&w, *state, NULL, false, NULL), 0);
    program = NULL;
    assert_int_equal(w.caches.count, 2);
    assert_null(cache(&w, ".cargo/registry")->host);
    assert_null(cache(&w, ".cargo/git")->own);
    release(&w);
}

static void test_the_host_s_own(void **state)
{
    const struct scratch *s = *state;
    struct world w;
    scratch_write(s, "home/.cargo/registry/x", "");
    scratch_write(s, "home/.npm/x", "");            /* not checked by anybody: not shared */
    scratch_write(s, "home/.cache/node-gyp/x", ""); /* not where XDG_CACHE_HOME leads */
    scratch_write(s, "xdg/ms-playwright/x", "");
    scratch_mkdir(s, "secret");
    scratch_link(s, "home/.cargo/git", "../../secret");
    assert_int_equal(gather(&w, s, scratch_path(s, "xdg"), false, NULL), 0);
    assert_int_equal(w.caches.count, 2);
    assert_string_equal(cache(&w, ".cargo/registry")->host,
                        scratch_path(s, "home/.cargo/registry"));
    assert_null(cache(&w, ".cargo/registry")->own);
    assert_string_equal(cache(&w, ".cache/ms-playwright")->host,
                        scratch_path(s, "xdg/ms-playwright"));
    release(&w);
}

static void test_private_ones(void **state)
{
    const struct scratch *s = *state;
    struct world w;
    char path[512];
    scratch_write(s, "home/go/pkg/x", "");
    assert_int_equal(gather(&w, s, NULL, true, NULL), 0);
    assert_non_null(cache(&w, ".npm")->own);
    assert_non_null(cache(&w, ".cache/pip")->own);
    assert_null(cache(&w, ".cache/pip")->host);
    assert_non_null(cache(&w, "go/pkg")->host);
    assert_null(cache(&w, ".cache/pypoetry/virtualenvs"));
    (void)snprintf(path, sizeof path, "%s/u/file", cache(&w, ".npm")->own);
    assert_int_equal(mkdir(path, 0700), 0);
    release(&w);
    /* An ordinary run has only those that hold something. */
    assert_int_equal(gather(&w, s, NULL, false, NULL), 0);
    assert_int_equal(w.caches.count, 2);
    assert_non_null(cache(&w, ".npm")->own);
    assert_null(cache(&w, "go/pkg")->own);
    release(&w);
}

static void test_what_overlayfs_leaves_can_be_removed(void **state)
{
    struct world w;
    char path[512];
    assert_int_equal(gather(&w, *state, NULL, true, NULL), 0);
    (void)snprintf(path, sizeof path, "%s/w/work", cache(&w, ".npm")->own);
    assert_int_equal(mkdir(path, 0), 0);
    sbox_home_caches_settle(&w.caches);
    assert_false(exists(path));
    release(&w);
}

/* --- the plan --------------------------------------------------------------------------------- */

static char own_npm[] = "/c/id/home/.npm";
static char own_pip[] = "/c/id/home/.cache/pip";
static char own_go[] = "/c/id/home/go/pkg";
static char host_go[] = "/home/u/go/pkg";
static char host_gyp[] = "/home/u/.cache/node-gyp";

static const struct sbox_policy_cache some[] = {
    {".npm", own_npm, NULL},     {".cache/pip", own_pip, NULL},
    {"go/pkg", own_go, host_go}, {".cache/node-gyp", NULL, host_gyp},
    {".cargo/git", NULL, NULL},
};

static const struct sbox_step *only_step(const struct sbox_plan *plan, const char *target)
{
    const struct sbox_step *found = NULL;
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->steps[i].target, target) == 0) {
            assert_null(found);
            found = &plan->steps[i];
        }
    assert_non_null(found);
    return found;
}

static void expect_step(const struct sbox_plan *plan, const char *target, enum sbox_op op,
                        const char *source, const char *first, const char *second)
{
    const struct sbox_step *step = only_step(plan, target);
    assert_int_equal(step->op, op);
    assert_string_equal(step->source ? step->source : "-", source);
    assert_string_equal(step->lower[0] ? step->lower[0] : "-", first);
    assert_string_equal(step->lower[1] ? step->lower[1] : "-", second);
    assert_int_equal(step->attr, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

static void test_plan_of_an_ordinary_run(void **state)
{
    (void)state;
    struct sbox_plan plan = {0};
    struct sbox_policy policy = {.home = "/home/u", .caches = some, .cache_count = 5};
    assert_int_equal(sbox_plan_caches(&plan, &policy), 0);
    expect_step(&plan, ".sbox/caches", SBOX_OP_LAYERS, "-", "/c/id/home", "-");
    assert_int_equal(only_step(&plan, ".sbox/caches")->grant, SBOX_GRANT_NONE);
    expect_step(&plan, "home/u/.npm", SBOX_OP_AGAIN, ".sbox/caches/.npm/u", "-", "-");
    expect_step(&plan, "home/u/.cache/pip", SBOX_OP_AGAIN, ".sbox/caches/.cache/pip/u", "-", "-");
    expect_step(&plan, "home/u/go/pkg", SBOX_OP_LAYERS, "-", "/c/id/home/go/pkg/u", host_go);
    expect_step(&plan, "home/u/.cache/node-gyp", SBOX_OP_LAYERS, "-", host_gyp, "-");
    expect_step(&plan, "home/u/.cargo/git", SBOX_OP_SCRATCH, "-", "-", "-");
    assert_int_equal(only_step(&plan, "home/u/.cargo/git")->mode, 0700);
    sbox_plan_release(&plan);
}

static void test_plan_of_an_install_run(void **state)
{
    (void)state;
    struct sbox_plan plan = {0};
    struct sbox_policy policy = {
        .home = "/home/u", .caches = some, .cache_count = 4, .install = true};
    assert_int_equal(sbox_plan_caches(&plan, &policy), 0);
    assert_int_equal(plan.count, 4);
    expect_step(&plan, "home/u/.npm", SBOX_OP_BIND, "/c/id/home/.npm/u", "-", "-");
    expect_step(&plan, "home/u/go/pkg", SBOX_OP_LAYERS, own_go, host_go, "-");
    /* no private one could be made (--dry-run): what is written is thrown away */
    expect_step(&plan, "home/u/.cache/node-gyp", SBOX_OP_LAYERS, "-", host_gyp, "-");
    for (size_t i = 0; i < plan.count; i++)
        assert_int_equal(plan.steps[i].grant, SBOX_GRANT_WRITE);
    sbox_plan_release(&plan);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        IN_SCRATCH(test_made_private),
        IN_SCRATCH(test_not_in_the_workspace),
        IN_SCRATCH(test_not_of_others),
        IN_SCRATCH(test_nothing_there),
        IN_SCRATCH(test_what_the_program_needs),
        IN_SCRATCH(test_the_host_s_own),
        IN_SCRATCH(test_private_ones),
        IN_SCRATCH(test_what_overlayfs_leaves_can_be_removed),
        cmocka_unit_test(test_plan_of_an_ordinary_run),
        cmocka_unit_test(test_plan_of_an_install_run),
    };
    return cmocka_run_group_tests_name("caches", tests, NULL, NULL);
}
