#include "sandbox/policy_paths.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "project/mountinfo.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>

enum { MOUNTINFO_MAX = 16 << 20 };

static const char *option_of(enum sbox_path_rule rule)
{
    static const char *const names[] = {[SBOX_PATH_RO] = "--ro",
                                        [SBOX_PATH_RW] = "--rw",
                                        [SBOX_PATH_MASK] = "--mask",
                                        [SBOX_PATH_UNMASK] = "--unmask"};
    return names[rule];
}

/* -- the same files through another mount ---------------------------------------------------------
 */

struct mount_search {
    unsigned id;
    char *root; /* of the mount in its file system */
    char *point;
    unsigned major, minor;
};

static int match_mount(const struct sbox_mount *m, void *context)
{
    struct mount_search *s = context;
    if (m->id != s->id)
        return 0;
    s->root = strdup(m->root);
    s->point = strdup(m->point);
    s->major = m->major;
    s->minor = m->minor;
    return s->root && s->point ? 1 : -ENOMEM;
}

/* The path inside the file system: what two mounts of the same directory have in common. */
static int filesystem_path(int fd, const char *path, char **ret, unsigned *ret_major,
                           unsigned *ret_minor)
{
    struct statx sx;
    _cleanup_free_ char *info = NULL;
    size_t size = 0;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &sx) < 0)
        return -errno;
    _cleanup_close_ int file = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int r = sbox_read_file_fd(file, MOUNTINFO_MAX, &info, &size);
    if (r < 0)
        return r;
    struct mount_search s = {.id = (unsigned)sx.stx_mnt_id};
    r = sbox_mountinfo_walk(info, size, match_mount, &s);
    _cleanup_free_ char *root = s.root;
    _cleanup_free_ char *point = s.point;
    if (r < 0 || !root)
        return r < 0 ? r : -ENOENT;
    const char *below = sbox_path_below(path, point);
    *ret_major = s.major;
    *ret_minor = s.minor;
    if (!below || asprintf(ret, "%s/%s", strcmp(root, "/") == 0 ? "" : root, below) < 0)
        return below ? -ENOMEM : -ENOENT;
    return 0;
}

/* Would exposing `path` show the workspace, or part of it, under a second name? Its masks lie on
 * one name only. */
static int check_second_name(const struct sbox_root *root, int fd, const char *path,
                             enum sbox_path_rule rule, struct sbox_error *err)
{
    _cleanup_free_ char *here = NULL;
    _cleanup_free_ char *there = NULL;
    unsigned major[2] = {0, 0};
    unsigned minor[2] = {0, 0};
    if (sbox_path_within(root->path, path))
        return 0; /* a parent by name, too: the workspace is mounted over it */
    int r = filesystem_path(root->fd, root->path, &here, &major[0], &minor[0]);
    if (r == 0)
        r = filesystem_path(fd, path, &there, &major[1], &minor[1]);
    if (r < 0)
        return sbox_error_set(err, -r, "%s '%s': find its mount", option_of(rule), sbox_esc(path));
    bool same = major[0] == major[1] && minor[0] == minor[1];
    if (same && (sbox_path_within(here, there) || sbox_path_within(there, here)))
        return sbox_error_say(err, EINVAL,
                              "%s '%s' shows the workspace a second time, without its masks; leave "
                              "it out",
                              option_of(rule), sbox_esc(path));
    return 0;
}

/* -- rules
 * ------------------------------------------------------------------------------------------ */

static int check_place(const char *data_path, const char *path, enum sbox_path_rule rule,
                       struct sbox_error *err)
{
    static const char *const never[] = {"/proc", "/dev", "/sys"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (sbox_path_within(path, never[i]))
            return sbox_error_say(err, EINVAL, "%s '%s': %s cannot be exposed", option_of(rule),
                                  sbox_esc(path), never[i]);
    if (strcmp(path, "/") == 0)
        return sbox_error_say(err, EINVAL, "%s /: the whole file system cannot be exposed",
                              option_of(rule));
    if (data_path && sbox_path_within(path, data_path))
        return sbox_error_say(err, EINVAL, "%s '%s': sbox's own data is never visible inside",
                              option_of(rule), sbox_esc(path));
    if (rule == SBOX_PATH_RW && data_path && sbox_path_within(data_path, path))
        return sbox_error_say(err, EINVAL,
                              "--rw '%s' would let the command replace sbox's own data (%s); name "
                              "a directory further down",
                              sbox_esc(path), sbox_esc(data_path));
    return 0;
}

/* By spelling: absolute, without "." and "..", links not looked at. */
static int spell(const char *cwd, const char *typed, char *ret, size_t size)
{
    char joined[PATH_MAX];
    int n = typed[0] == '/' ? snprintf(joined, sizeof joined, "%s", typed)
                            : snprintf(joined, sizeof joined, "%s/%s", cwd, typed);
    if (n < 0 || (size_t)n >= sizeof joined || size < 2)
        return -ENAMETOOLONG;
    size_t used = 0;
    for (const char *at = joined; *at;) {
        while (*at == '/')
            at++;
        size_t part = strcspn(at, "/");
        if (part == 2 && memcmp(at, "..", 2) == 0) {
            while (used > 0 && ret[--used] != '/')
                continue;
        } else if (part > 0 && !(part == 1 && *at == '.')) {
            if (used + part + 2 > size)
                return -ENAMETOOLONG;
            ret[used++] = '/';
            memcpy(ret + used, at, part);
            used += part;
        }
        at += part;
    }
    if (used == 0)
        ret[used++] = '/';
    ret[used] = '\0';
    return 0;
}

static int resolve_inside(const struct sbox_root *root, const char *path, const char *below,
                          enum sbox_path_rule rule, struct sbox_policy_path *ret,
                          struct sbox_error *err)
{
    struct stat st;
    if (*below == '\0' && (rule == SBOX_PATH_MASK || rule == SBOX_PATH_UNMASK))
        return sbox_error_say(err, EINVAL, "%s '%s': the workspace itself cannot be named here",
                              option_of(rule), sbox_esc(path));
    _cleanup_close_ int fd = sbox_open_beneath(root->fd, *below ? below : ".", O_PATH | O_NOFOLLOW);
    if (fd == -ELOOP)
        return sbox_error_say(err, ELOOP,
                              "%s '%s': a link in the workspace is not followed; name what it "
                              "leads to",
                              option_of(rule), sbox_esc(path));
    if (fd < 0 || fstat(fd, &st) < 0)
        return sbox_error_set(err, fd < 0 ? -fd : errno, "%s '%s'", option_of(rule),
                              sbox_esc(path));
    ret->path = strdup(path);
    ret->mode = st.st_mode;
    ret->id = sbox_fileid_of(&st);
    ret->rule = rule;
    return ret->path ? 0 : sbox_error_set(err, ENOMEM, "%s", option_of(rule));
}

static int resolve_outside(const struct sbox_root *root, const char *data_path, const char *path,
                           enum sbox_path_rule rule, struct sbox_policy_path *ret,
                           struct sbox_error *err)
{
    char real[PATH_MAX];
    struct stat st;
    if (!realpath(path, real))
        return sbox_error_set(err, errno, "%s '%s'", option_of(rule), sbox_esc(path));
    if (rule == SBOX_PATH_UNMASK)
        return sbox_error_say(err, EINVAL, "--unmask '%s': only files of the workspace are masked",
                              sbox_esc(path));
    const char *below = sbox_path_below(real, root->path);
    if (below && *below)
        return resolve_inside(root, real, below, rule, ret, err);
    int r = check_place(data_path, real, rule, err);
    if (r < 0)
        return r;
    _cleanup_close_ int fd = open(real, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return sbox_error_set(err, errno, "%s '%s'", option_of(rule), sbox_esc(real));
    if (rule != SBOX_PATH_MASK)
        r = check_second_name(root, fd, real, rule, err);
    if (r < 0)
        return r;
    ret->path = strdup(real);
    ret->mode = st.st_mode;
    ret->id = sbox_fileid_of(&st);
    ret->rule = rule;
    return ret->path ? 0 : sbox_error_set(err, ENOMEM, "%s", option_of(rule));
}

int sbox_policy_path_resolve(const struct sbox_root *root, const char *data_path, const char *typed,
                             enum sbox_path_rule rule, struct sbox_policy_path *ret,
                             struct sbox_error *err)
{
    char path[PATH_MAX];
    if (*typed == '\0')
        return sbox_error_say(err, EINVAL, "%s: an empty path", option_of(rule));
    int r = spell(root->cwd, typed, path, sizeof path);
    if (r < 0)
        return sbox_error_set(err, -r, "%s '%.200s'", option_of(rule), sbox_esc(typed));
    const char *below = sbox_path_below(path, root->path);
    if (below)
        return resolve_inside(root, path, below, rule, ret, err);
    return resolve_outside(root, data_path, path, rule, ret, err);
}
