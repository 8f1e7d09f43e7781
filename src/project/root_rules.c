#include "project/root_rules.h"

#include "base/strv.h"

const char *const sbox_root_manifests[] = {
    "package.json", "deno.json",        "pyproject.toml", "setup.py",
    "setup.cfg",    "requirements.txt", "Pipfile",        "Cargo.toml",
    "go.mod",       "composer.json",    "Gemfile",        NULL,
};

/* Refused themselves; a project below them is usual in containers and on servers (/usr/src/app,
 * /opt/app, /srv/www, /var/lib/jenkins/workspace). */
static const char *const shared_places[] = {
    "/home",      "/tmp",     "/var/tmp",       "/opt",     "/srv",
    "/mnt",       "/media",   "/usr",           "/usr/src", "/usr/local",
    "/var",       "/var/lib", "/var/cache",     "/var/log", "/var/spool",
    "/var/www",   "/var/opt", "/usr/local/src", "/run",     "/run/user",
    "/run/media", "/snap",    "/dev/shm",       "/nix",     NULL,
};

/* Refused with everything below them. */
static const char *const system_places[] = {
    "/bin",           "/sbin",
    "/lib",           "/lib32",
    "/lib64",         "/libx32",
    "/etc",           "/boot",
    "/proc",          "/sys",
    "/nix/store",     "/usr/bin",
    "/usr/sbin",      "/usr/lib",
    "/usr/lib32",     "/usr/lib64",
    "/usr/libx32",    "/usr/libexec",
    "/usr/include",   "/usr/share",
    "/usr/local/bin", "/usr/local/sbin",
    "/usr/local/lib", "/usr/local/share",
    "/lost+found",    NULL,
};

bool sbox_root_looks_like_home(const char *path)
{
    if (strcmp(path, "/root") == 0)
        return true;
    const char *below = sbox_path_below(path, "/home");
    return below && *below != '\0' && !strchr(below, '/');
}

static bool is_system(const char *path)
{
    for (size_t i = 0; system_places[i]; i++)
        if (sbox_path_within(path, system_places[i]))
            return true;
    /* Devices, but not what lies below /dev/shm: that is a tmpfs like any other. */
    return sbox_path_within(path, "/dev") && !sbox_path_within(path, "/dev/shm");
}

const char *sbox_root_forbidden(const char *path, const char *home)
{
    if (strcmp(path, "/") == 0)
        return "is the root of the whole file system";
    if (home && strcmp(path, home) == 0)
        return "is your home directory";
    if (home && sbox_path_within(home, path))
        return "holds your home directory";
    if (!home && sbox_root_looks_like_home(path))
        return "looks like a home directory (HOME is not set)";
    for (size_t i = 0; shared_places[i]; i++)
        if (strcmp(path, shared_places[i]) == 0)
            return "is a directory shared by everything on this machine";
    return is_system(path) ? "is a system directory" : NULL;
}

bool sbox_root_owner_fine(uid_t me, uid_t owner, uid_t directory_owner)
{
    return owner == me || (me == 0 && owner == directory_owner);
}
