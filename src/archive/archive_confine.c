/* In this order, each from what the next one takes away:
 *
 * 1. Limits: no process, no core, memory that an archive cannot exhaust the machine with.
 * 2. Not dumpable: processes of the same user cannot trace it.
 * 3. Capabilities: none, if sbox was started by root.
 * 4. no_new_privs, for the two that follow.
 * 5. Landlock: files below the trees to be archived, to read; for reading archives nothing at all.
 * 6. seccomp: the calls that archiving needs (confine/seccomp_archive.h); any other ends the
 *    process. No socket can be made and nothing can be created, removed or named.
 *
 * Landlock and seccomp must be there: the sandbox itself refuses to start without them. */
#include "archive/archive_confine.h"

#include "confine/rlimit.h"
#include "confine/seccomp.h"
#include "confine/self.h"

/* Records of 256 MB, decoded, and libarchive's and zstd's windows. */
#define MEMORY_MAX ((rlim_t)1 << 30)

static int set_limits(void)
{
    int r = sbox_rlimit_no_core();
    if (r >= 0)
        r = sbox_self_limit(RLIMIT_NPROC, 0);
#ifndef SBOX_SANITIZED /* a sanitizer's shadow memory counts */
    if (r == 0)
        r = sbox_self_limit(RLIMIT_DATA, MEMORY_MAX);
#endif
    return r;
}

static int load_filter(void)
{
    return sbox_seccomp_load(sbox_seccomp_program(SBOX_SECCOMP_ARCHIVE));
}

int sbox_archive_root_allow(struct sbox_landlock *l, int root)
{
    return sbox_landlock_allow_rights(l, root, SBOX_LL_READ_FILE);
}

int sbox_archive_confine(struct sbox_landlock *l, struct sbox_error *err)
{
    static const struct sbox_self_step before[] = {
        {"limits", set_limits},
        {"not dumpable", sbox_set_undumpable},
        {"capabilities", sbox_self_drop_capabilities},
        {"no new privileges", sbox_self_no_new_privs},
    };
    static const struct sbox_self_step filter[] = {{"seccomp", load_filter}};
    int r = sbox_self_confine("sbox-archive", before, sizeof before / sizeof *before, err);
    if (r < 0)
        return r;
    r = sbox_landlock_enforce(l);
    if (r < 0)
        return sbox_error_set(err, -r, "confine sbox-archive: Landlock");
    return sbox_self_confine("sbox-archive", filter, 1, err);
}
