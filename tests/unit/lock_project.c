#include "unit/lock_project.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "unit/cmocka_all.h"

#include <fcntl.h>

int project_setup(void **state)
{
    void *scratch = NULL;
    assert_int_equal(scratch_setup(&scratch), 0);
    struct project *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->scratch = scratch;
    scratch_mkdir(p->scratch, "p/.git"); /* what makes it a root of its own */
    scratch_mkdir(p->scratch, "home");
    p->home = strdup(scratch_path(p->scratch, "home"));
    struct sbox_error err = SBOX_ERROR_INIT;
    assert_int_equal(sbox_datadir_open(p->home, NULL, true, &p->datadir, &err), 0);
    const char *directory = scratch_path(p->scratch, "p");
    struct sbox_root_request request = {
        .directory = directory, .workspace = directory, .home = p->home, .datadir = &p->datadir};
    assert_int_equal(sbox_root_find(&request, &p->root, &err), 0);
    *state = p;
    return 0;
}

int project_teardown(void **state)
{
    struct project *p = *state;
    void *scratch = p->scratch;
    sbox_scan_release(&p->scan);
    sbox_root_release(&p->root);
    sbox_datadir_release(&p->datadir);
    free(p->home);
    free(p);
    return scratch_teardown(&scratch);
}

void project_scan(struct project *p)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    sbox_scan_release(&p->scan);
    struct sbox_scan_request request = {.root_fd = p->root.fd, .project_dirfd = -1};
    assert_int_equal(sbox_scan_run(&request, &p->scan, &err), 0);
}

void project_age(void)
{
    (void)usleep(60 * 1000);
}

int project_lock(struct project *p, const char *path, struct sbox_lock_result *ret,
                 struct sbox_error *err)
{
    project_scan(p);
    const char *paths[] = {path};
    struct sbox_lock_request request = {.datadir = &p->datadir,
                                        .root = &p->root,
                                        .scan = &p->scan,
                                        .paths = paths,
                                        .path_count = path ? 1 : 0,
                                        .home = p->home,
                                        .threads = 3};
    return sbox_lock_make(&request, ret, err);
}

void project_must_lock(struct project *p)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_lock_result result = {0};
    project_age();
    int r = project_lock(p, NULL, &result, &err);
    if (r < 0)
        print_error("lock: %s\n", err.message);
    assert_int_equal(r, 0);
    sbox_lock_result_release(&result);
}

int project_verify(struct project *p, enum sbox_verify_mode mode, struct sbox_verify_result *ret,
                   struct sbox_error *err)
{
    project_scan(p);
    struct sbox_verify_request request = {
        .datadir = &p->datadir, .root = &p->root, .scan = &p->scan, .mode = mode, .threads = 3};
    return sbox_verify_run(&request, ret, err);
}

static void add_tree(struct sbox_buf *out, const struct sbox_verified_tree *t)
{
    if (t->state == SBOX_TREE_ABSENT || t->state == SBOX_TREE_UNLOCKED)
        sbox_buf_addf(out, "%s %s\n", sbox_tree_state_text(t->state), t->path);
    else
        assert_true(t->fd >= 0);
    assert_int_equal(t->state == SBOX_TREE_DIFFERS, t->difference_count > 0);
    for (size_t i = 0; i < t->difference_count; i++) {
        const struct sbox_difference *d = &t->differences[i];
        sbox_buf_addf(out, "%s %s", sbox_verdict_text(d->verdict), sbox_esc(d->path));
        if (*d->package)
            sbox_buf_addf(out, " [%s@%s]", d->package, d->version);
        sbox_buf_add_byte(out, '\n');
    }
}

const char *project_differences(struct project *p, enum sbox_verify_mode mode)
{
    static char text[4096];
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_verify_result result = {0};
    struct sbox_buf out = {0};
    int r = project_verify(p, mode, &result, &err);
    if (r < 0)
        sbox_buf_addf(&out, "error %d: %s\n", -r, err.message);
    for (size_t i = 0; r == 0 && i < result.tree_count; i++)
        add_tree(&out, &result.trees[i]);
    if (r == 0)
        assert_int_equal(result.same, out.size == 0);
    if (out.size == 0)
        sbox_buf_add_str(&out, "equal\n");
    (void)snprintf(text, sizeof text, "%.*s", (int)out.size - 1, out.data);
    sbox_buf_release(&out);
    sbox_verify_result_release(&result);
    return text;
}

const char *project_both(struct project *p)
{
    char *fast = strdup(project_differences(p, SBOX_VERIFY_FAST));
    const char *full = project_differences(p, SBOX_VERIFY_FULL);
    assert_string_equal(fast, full);
    free(fast);
    return full;
}

void project_install(struct project *p)
{
    const struct scratch *s = p->scratch;
    scratch_write(s, NM "/express/package.json", "{\"name\":\"express\",\"version\":\"4.1.0\"}");
    scratch_write(s, NM "/express/index.js", "module.exports = 1\n");
    scratch_write(s, NM "/express/node_modules/qs/package.json",
                  "{\"name\":\"qs\",\"version\":\"6.0.0\"}");
    scratch_write(s, NM "/express/node_modules/qs/index.js", "exports.a = 1\n");
    scratch_write(s, NM "/@types/node/package.json",
                  "{\"name\":\"@types/node\",\"version\":\"20.0.0\"}");
    scratch_mkdir(s, NM "/.bin");
    scratch_link(s, NM "/.bin/express", "../express/index.js");
    scratch_write(s, NM "/.package-lock.json", "{}");
}
