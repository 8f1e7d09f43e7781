/* From the options and what lies in the workspace to the policy. */
#include "cli/run.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "confine/landlock.h"
#include "sandbox/build.h"
#include "sandbox/env_proxy.h"
#include "sandbox/policy_paths.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

/* In an install run every tree is real, with no mount in it: package managers rename and remove
 * trees whole. A tree that git tracks always is: under an overlay `git switch` would succeed and
 * leave stale files behind. Changes are found by the next check. */
static bool tracked(const struct sbox_scan *scan, const char *path)
{
    for (size_t i = 0; i < scan->count; i++)
        if (scan->entries[i].kind == SBOX_SCAN_TREE && strcmp(scan->entries[i].path, path) == 0)
            return scan->entries[i].tracked;
    return false;
}

static int add_trees(struct sbox_run *run, struct sbox_error *err)
{
    const struct sbox_verify_result *v = &run->verified;
    run->trees = calloc(v->tree_count + 1, sizeof *run->trees);
    if (!run->trees)
        return sbox_error_set(err, ENOMEM, "trees");
    for (size_t i = 0; i < v->tree_count; i++) {
        struct stat st;
        if (v->trees[i].outside || v->trees[i].fd < 0)
            continue;
        if (fstat(v->trees[i].fd, &st) < 0)
            return sbox_error_set(err, errno, "'%s'", sbox_esc(v->trees[i].path));
        run->trees[run->policy.tree_count++] = (struct sbox_policy_tree){
            .path = v->trees[i].path,
            .id = sbox_fileid_of(&st),
            .mode = st.st_mode,
            .real = run->install || tracked(&run->session.scan, v->trees[i].path),
        };
    }
    run->policy.trees = run->trees;
    return 0;
}

/* Caches of other projects are as private as their locks. */
static int check_not_cache(const struct sbox_run *run, const struct sbox_policy_path *path,
                           struct sbox_error *err)
{
    bool exposes = path->rule == SBOX_PATH_RO || path->rule == SBOX_PATH_RW;
    const char *top = run->cache_dir.top;
    if (!exposes || !top || !sbox_path_within(path->path, top))
        return 0;
    return sbox_error_say(err, EPERM, "'%s' lies in sbox's cache directory, which is never exposed",
                          sbox_esc(path->path));
}

static int add_paths(struct sbox_run *run, const struct sbox_options *o, struct sbox_error *err)
{
    const struct {
        const struct sbox_strv *typed;
        enum sbox_path_rule rule;
    } lists[] = {{&o->ro, SBOX_PATH_RO},
                 {&o->rw, SBOX_PATH_RW},
                 {&o->mask, SBOX_PATH_MASK},
                 {&o->unmask, SBOX_PATH_UNMASK}};
    size_t most = o->ro.count + o->rw.count + o->mask.count + o->unmask.count;
    run->paths = calloc(most + 1, sizeof *run->paths);
    if (!run->paths)
        return sbox_error_set(err, ENOMEM, "paths");
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (size_t i = 0; i < lists[l].typed->count; i++) {
            int r = sbox_policy_path_resolve(&run->session.root, run->session.data.path,
                                             lists[l].typed->items[i], lists[l].rule,
                                             &run->paths[run->policy.path_count], err);
            if (r < 0)
                return r;
            run->policy.path_count++;
            r = check_not_cache(run, &run->paths[run->policy.path_count - 1], err);
            if (r < 0)
                return r;
        }
    run->policy.paths = run->paths;
    return 0;
}

static int add_pass_fd(struct sbox_policy *policy, int fd)
{
    if (policy->pass_fd_count == SBOX_PASS_FDS_MAX)
        return -E2BIG;
    policy->pass_fds[policy->pass_fd_count++] = fd;
    return 0;
}

/* GNU make hands its jobserver to children as two inherited pipe ends named in MAKEFLAGS. They are
 * passed on only if they really are pipes. */
static void pass_jobserver(struct sbox_policy *policy)
{
    const char *flags = getenv("MAKEFLAGS");
    const char *at = flags ? strstr(flags, "--jobserver-auth=") : NULL;
    int ends[2];
    if (!at ||
        sscanf(at, "--jobserver-auth=%d,%d", &ends[0], &ends[1]) != 2) /* NOLINT(cert-err34-c) */
        return;
    for (int i = 0; i < 2; i++) {
        struct stat st;
        if (ends[i] > 2 && fstat(ends[i], &st) == 0 && S_ISFIFO(st.st_mode))
            (void)add_pass_fd(policy, ends[i]);
    }
}

static int add_descriptors(struct sbox_run *run, const struct sbox_options *o,
                           struct sbox_error *err)
{
    for (int fd = 0; fd <= 2; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
            return sbox_error_say(err, EINVAL,
                                  "descriptor %d is a directory: it would open a way "
                                  "out; redirect it to a file or /dev/null",
                                  fd);
    }
    for (size_t i = 0; i < o->pass_fd_count; i++) {
        struct stat st;
        if (fstat(o->pass_fd[i], &st) < 0)
            return sbox_error_set(err, errno, "--pass-fd %d", o->pass_fd[i]);
        if (S_ISDIR(st.st_mode))
            return sbox_error_say(err, EINVAL,
                                  "--pass-fd %d is a directory: refused, it would "
                                  "open a way out",
                                  o->pass_fd[i]);
        if (add_pass_fd(&run->policy, o->pass_fd[i]) < 0)
            return sbox_error_say(err, E2BIG, "too many --pass-fd (at most %d)", SBOX_PASS_FDS_MAX);
    }
    pass_jobserver(&run->policy);
    return 0;
}

/* What keeps a package manager from making a dependency tree where nobody would check it, or from
 * writing beside the caches that a run has. The caller's own setting stands. */
static int add_install_variables(struct sbox_strv *set, const struct sbox_run *run,
                                 const char *program)
{
    static const struct {
        const char *program;
        const char *name;
        const char *value;
        bool below_home;
    } variables[] = {
        {"pnpm", "npm_config_store_dir", "/.cache/pnpm/store", true},
        {"poetry", "POETRY_VIRTUALENVS_IN_PROJECT", "true", false},
        {"uv", "UV_LINK_MODE", "copy", false},
    };
    const char *home = run->policy.home ? run->policy.home : "";
    for (size_t i = 0; program && i < sizeof variables / sizeof *variables; i++)
        if (strcmp(program, variables[i].program) == 0 && !getenv(variables[i].name))
            return sbox_strv_addf(set, "%s=%s%s", variables[i].name,
                                  variables[i].below_home ? home : "", variables[i].value);
    return 0;
}

/* Variables that name places which do not exist inside, or agree with the view. */
static int add_fixed_variables(struct sbox_strv *set, const struct sbox_run *run)
{
    const char *tmp = getenv("TMPDIR");
    const char *cache = getenv("XDG_CACHE_HOME");
    int r = sbox_strv_addf(set, "PWD=%s", run->session.root.cwd);
    if (r == 0 && tmp && *tmp && !sbox_path_within(tmp, "/tmp") &&
        !sbox_path_within(tmp, run->session.root.path))
        r = sbox_strv_add(set, "TMPDIR=/tmp");
    if (r == 0 && cache && *cache && run->policy.home &&
        !sbox_path_within(cache, run->session.root.path))
        r = sbox_strv_addf(set, "XDG_CACHE_HOME=%s/.cache", run->policy.home);
    return r;
}

static int add_environment(struct sbox_run *run, const struct sbox_options *o,
                           struct sbox_error *err)
{
    _cleanup_strv_ struct sbox_strv pass = {0};
    _cleanup_strv_ struct sbox_strv set = {0};
    int r = add_fixed_variables(&set, run);
    if (r == 0 && run->install)
        r = add_install_variables(&set, run, sbox_install_program(o->args));
    for (size_t i = 0; r == 0 && i < o->env.count; i++)
        r = sbox_strv_add(strchr(o->env.items[i], '=') ? &set : &pass, o->env.items[i]);
    if (r < 0)
        return sbox_error_set(err, -r, "environment");
    struct sbox_env_rules rules = {
        .allow_all = o->allow_env || run->keep_environment, .pass = &pass, .set = &set};
    r = sbox_env_scrub(environ, &rules, &run->environment, &run->dropped, err);
    /* On the host's network its proxy is the way out. */
    if (r == 0 && !run->network.open &&
        sbox_env_proxy(&run->environment, &o->env, o->net_rules.count > 0, o->proxy_env) < 0)
        r = sbox_error_set(err, ENOMEM, "environment");
    run->policy.environment = run->environment.items;
    return r;
}

/* ~/.cache/sbox/<id>/<tree>/<cache>, made here: the plan only names them. */
static int add_kept_caches(struct sbox_run *run, struct sbox_error *err)
{
    char path[PATH_MAX];
    const char *root = run->session.root.path;
    if (!run->cache_dir.path)
        return sbox_error_say(err, ENOENT, "--keep-cache: no home directory to keep it in");
    int r = sbox_cachedir_make(&run->cache_dir, root, err);
    for (size_t t = 0; r == 0 && t < run->policy.tree_count; t++)
        for (size_t i = 0; r == 0 && sbox_tree_caches[i]; i++) {
            r = sbox_plan_cache_dir(run->cache_dir.path, run->trees[t].path, sbox_tree_caches[i],
                                    path, sizeof path);
            if (r == 0)
                r = sbox_mkdir_parents(AT_FDCWD, path, 0700);
            if (r < 0)
                return sbox_error_set(err, -r, "--keep-cache: make '%s'", sbox_esc(path));
        }
    run->policy.cache_path = run->cache_dir.path;
    run->policy.keep_cache = true;
    return r;
}

/* Package managers' caches. Without a home directory they have no place inside. */
static int add_caches(struct sbox_run *run, const struct sbox_options *o, struct sbox_error *err)
{
    struct sbox_policy *p = &run->policy;
    if (!p->home)
        return 0;
    int r = sbox_cachedir_name(p->home, getenv("XDG_CACHE_HOME"), run->session.root.path,
                               &run->cache_dir, err);
    if (r < 0)
        return r;
    const struct sbox_home_caches_request request = {.home = p->home,
                                                     .dir = &run->cache_dir,
                                                     .root_path = run->session.root.path,
                                                     .program = sbox_install_program(o->args),
                                                     .install = run->install && !o->dry_run};
    r = sbox_home_caches_gather(&request, &run->caches, err);
    p->caches = run->caches.items;
    p->cache_count = run->caches.count;
    p->cache_top = run->cache_dir.top;
    return r;
}

static bool is_withheld(const struct sbox_env_report *dropped, const char *name)
{
    for (size_t i = 0; i < dropped->count; i++)
        if (strcmp(dropped->items[i].name, name) == 0)
            return dropped->items[i].reason != SBOX_ENV_CUT;
    return false;
}

/* yarn fails at each ${NAME} that does not exist, npm warns: what a settings file refers to and was
 * withheld is there, and empty. */
static int add_referenced(struct sbox_run *run, const struct sbox_strv *names,
                          struct sbox_error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        _cleanup_free_ char *empty = NULL;
        if (!is_withheld(&run->dropped, names->items[i]))
            continue;
        if (asprintf(&empty, "%s=", names->items[i]) < 0 ||
            (!sbox_strv_contains(&run->environment, empty) &&
             sbox_strv_add(&run->environment, empty) < 0))
            return sbox_error_set(err, ENOMEM, "environment");
    }
    run->policy.environment = run->environment.items;
    return 0;
}

static int check_owner(const struct sbox_run *run, struct sbox_error *err)
{
    if (geteuid() != 0 || run->session.root.owner == 0)
        return 0;
    return sbox_error_say(err, EPERM,
                          "the workspace belongs to uid %u and you are root: run sbox as that user "
                          "(setpriv --reuid %u ..., su, sudo -u), or chown the workspace",
                          run->session.root.owner, run->session.root.owner);
}

int sbox_run_make_policy(struct sbox_run *run, const struct sbox_options *o, struct sbox_error *err)
{
    struct sbox_policy *p = &run->policy;
    const char *home = getenv("HOME");
    mode_t mask = umask(0);
    (void)umask(mask);
    p->umask = mask;
    p->root = &run->session.root;
    p->scan = &run->session.scan;
    p->home = home && home[0] == '/' && home[1] ? home : NULL;
    p->data_path = run->session.data.path;
    p->command = o->args;
    p->allow_env = o->allow_env;
    p->install = run->install;
    int r = check_owner(run, err);
    if (r == 0)
        r = add_trees(run, err);
    if (r == 0)
        r = add_caches(run, o, err);
    if (r == 0 && o->keep_cache)
        r = add_kept_caches(run, err);
    if (r == 0)
        r = add_paths(run, o, err);
    if (r == 0)
        r = add_descriptors(run, o, err);
    if (r == 0)
        r = add_environment(run, o, err);
    if (r == 0)
        r = sbox_facts_gather(p->home, &run->facts, err);
    if (r == 0 && run->network.wanted && sbox_facts_hosts(&run->facts) < 0)
        r = sbox_error_set(err, ENOMEM, "/etc/hosts");
    if (r == 0)
        r = sbox_protects_gather(p->root, p->scan, p->paths, p->path_count, p->allow_env,
                                 &run->protects, err);
    if (r == 0)
        r = add_referenced(run, &run->facts.conf_names, err);
    if (r == 0)
        r = add_referenced(run, &run->protects.conf_names, err);
    p->protects = run->protects.items;
    p->protect_count = run->protects.count;
    return r == 0 ? sbox_run_network_policy(&run->network, o, &run->session, p, err) : r;
}
