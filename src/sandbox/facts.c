#include "sandbox/facts.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/strv.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum { FILE_MAX = 1 << 20 };

static const char *const system_dirs[] = {"/usr",   "/bin",    "/sbin", "/lib", "/lib32",
                                          "/lib64", "/libx32", "/etc",  "/opt", "/nix/store"};

/* Names in /etc that distributions make links of, some into /run, which the view does not show. */
static const char *const linked_files[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/os-release",
                                           "/etc/ssl/certs/ca-certificates.crt",
                                           "/etc/pki/tls/certs/ca-bundle.crt"};

static int gather_dirs(struct sbox_facts *f)
{
    for (size_t i = 0; i < sizeof system_dirs / sizeof *system_dirs; i++) {
        char target[PATH_MAX];
        struct stat st;
        if (lstat(system_dirs[i], &st) < 0)
            continue;
        char *link = NULL;
        if (S_ISLNK(st.st_mode)) {
            ssize_t n = readlink(system_dirs[i], target, sizeof target);
            link = n > 0 ? strndup(target, (size_t)n) : NULL;
            if (!link)
                return -ENOMEM;
        } else if (!S_ISDIR(st.st_mode)) {
            continue;
        }
        f->dirs[f->dir_count].path = system_dirs[i];
        f->dirs[f->dir_count++].link = link;
    }
    return 0;
}

static bool shown(const char *path)
{
    for (size_t i = 0; i < sizeof system_dirs / sizeof *system_dirs; i++)
        if (sbox_path_within(path, system_dirs[i]))
            return true;
    return false;
}

static int gather_file(struct sbox_facts *f, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    _cleanup_free_ char *data = NULL;
    size_t size = 0;
    if (lstat(name, &st) < 0 || !S_ISLNK(st.st_mode) || !realpath(name, path) || shown(path))
        return 0;
    /* A file that cannot be read, or is none, is as absent inside as it is of use outside. */
    if (sbox_read_file_at(AT_FDCWD, path, FILE_MAX, &data, &size) < 0 || strlen(data) != size)
        return 0;
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    f->files[f->file_count].path = copy;
    f->files[f->file_count++].data = TAKE_PTR(data);
    return 0;
}

/* Where a dangling link of /etc leads, when that is outside of what is shown. */
static int dangling_link(const char *name, char **ret)
{
    char link[PATH_MAX];
    const char *at = link;
    bool up = false;
    ssize_t n = readlink(name, link, sizeof link - 1);
    if (n <= 0)
        return 0;
    link[n] = '\0';
    for (; sbox_str_starts(at, "../"); up = true)
        at += 3;
    char *path = NULL;
    if (asprintf(&path, "%s%s", *at == '/' ? "" : up ? "/" : "/etc/", at) < 0)
        return -ENOMEM;
    if (shown(path) || strstr(path, "/..")) {
        free(path);
        return 0;
    }
    *ret = path;
    return 0;
}

/* The link dangles where systemd-resolved, or whoever else would write the file, is not running. */
static int gather_resolv_conf(struct sbox_facts *f)
{
    static const char name[] = "/etc/resolv.conf";
    char path[PATH_MAX];
    if (!realpath(name, path))
        return dangling_link(name, &f->resolv_conf);
    f->resolv_conf = strdup(path);
    return f->resolv_conf ? 0 : -ENOMEM;
}

/* A program that binds port 80 does so inside where it may outside: root, who has no capabilities
 * inside, and everybody in many containers. */
static void gather_first_free_port(struct sbox_facts *f)
{
    _cleanup_free_ char *text = NULL;
    unsigned long long value = 0;
    f->first_free_port = f->uid == 0 ? 0 : -1;
    if (f->uid == 0 || sbox_read_file_at(AT_FDCWD, "/proc/sys/net/ipv4/ip_unprivileged_port_start",
                                         64, &text, NULL) < 0)
        return;
    text[strcspn(text, "\n")] = '\0';
    if (sbox_parse_u64(text, UINT16_MAX + 1, &value) == 0)
        f->first_free_port = (long)value;
}

static int gather_tty(struct sbox_facts *f)
{
    for (int fd = 0; fd <= 2 && !f->tty; fd++) {
        char link[32];
        char path[PATH_MAX];
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = isatty(fd) ? readlink(link, path, sizeof path - 1) : -1;
        if (n <= 0)
            continue;
        path[n] = '\0';
        struct stat at;
        struct stat st;
        /* The name may belong to another mount namespace: it must lead to the same device. */
        if (!sbox_str_starts(path, "/dev/") || stat(path, &at) < 0 || fstat(fd, &st) < 0 ||
            at.st_rdev != st.st_rdev)
            continue;
        f->tty = strdup(path);
        if (!f->tty)
            return -ENOMEM;
    }
    return 0;
}

static int gather_home(struct sbox_facts *f, const char *home)
{
    _cleanup_close_ int fd = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = 0;
    for (size_t i = 0; fd >= 0 && r == 0 && sbox_home_programs[i]; i++)
        if (faccessat(fd, sbox_home_programs[i], F_OK, AT_EACCESS) == 0)
            r = sbox_strv_add(&f->home_programs, sbox_home_programs[i]);
    return r;
}

int sbox_facts_gather(const char *home, struct sbox_facts *ret, struct sbox_error *err)
{
    struct sbox_facts f = {.uid = geteuid(), .gid = getegid()};
    int r = gather_dirs(&f);
    for (size_t i = 0; r == 0 && i < sizeof linked_files / sizeof *linked_files; i++)
        r = gather_file(&f, linked_files[i]);
    if (r == 0)
        r = gather_resolv_conf(&f);
    gather_first_free_port(&f);
    if (r == 0)
        r = gather_tty(&f);
    if (r == 0 && home)
        r = gather_home(&f, home);
    if (r == 0 && home)
        r = sbox_facts_git_config(home, &f.git_config);
    if (r == 0)
        r = sbox_facts_conf(home, &f);
    if (r < 0)
        (void)sbox_error_set(err, -r, "look at the system");
    if (r == 0 && f.uid == 0)
        r = sbox_facts_hidden("/etc", &f, err);
    if (r < 0) {
        sbox_facts_release(&f);
        return r;
    }
    *ret = f;
    return 0;
}

void sbox_facts_release(struct sbox_facts *facts)
{
    for (size_t i = 0; i < facts->dir_count; i++)
        free(facts->dirs[i].link);
    for (size_t i = 0; i < facts->file_count; i++) {
        free(facts->files[i].path);
        free(facts->files[i].data);
    }
    for (size_t i = 0; i < facts->hidden_count; i++)
        free(facts->hidden[i]);
    for (size_t i = 0; i < facts->setting_count; i++)
        free(facts->settings[i].text);
    sbox_strv_release(&facts->conf_names);
    sbox_strv_release(&facts->home_programs);
    free(facts->hidden);
    free(facts->resolv_conf);
    free(facts->hosts);
    free(facts->hosts_text);
    free(facts->tty);
    free(facts->git_config);
    *facts = (struct sbox_facts){0};
}
