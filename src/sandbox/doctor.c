#include "sandbox/doctor.h"

#include "base/cleanup.h"
#include "confine/landlock.h"
#include "confine/seccomp.h"
#include "sandbox/protect.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/utsname.h>
#include <sys/wait.h>

static void __attribute__((format(printf, 4, 5)))
add(struct sbox_findings *f, const char *layer, enum sbox_health health, const char *format, ...)
{
    if (f->count == SBOX_FINDINGS_MAX)
        return;
    struct sbox_finding *finding = &f->items[f->count++];
    *finding = (struct sbox_finding){.layer = layer, .health = health};
    va_list args;
    va_start(args, format);
    (void)vsnprintf(finding->text, sizeof finding->text, format, args);
    va_end(args);
}

static void check_kernel(struct sbox_findings *f)
{
    struct utsname u;
    if (uname(&u) == 0)
        add(f, "kernel", SBOX_HOLDS, "%s %s", u.release, u.machine);
}

static void check_landlock(struct sbox_findings *f)
{
    int abi = sbox_landlock_abi();
    if (abi < 0)
        add(f, "landlock", SBOX_MISSING,
            "%s; Linux 5.13 or later, with 'landlock' in the lsm= boot parameter", strerror(-abi));
    else if (abi < 2)
        add(f, "landlock", SBOX_WEAKER,
            "ABI 1: renames and links across directories fail with EXDEV; Linux 5.19 cures it");
    else if (abi < 6)
        add(f, "landlock", SBOX_WEAKER,
            "ABI %d: %s%ssignals to the own process group are refused by seccomp instead of kept "
            "inside; Linux 6.12 cures it",
            abi, abi < 3 ? "truncate(2) is not covered, " : "",
            abi < 5 ? "ioctl on devices is not covered, " : "");
    else
        add(f, "landlock", SBOX_HOLDS, "ABI %d", abi);
}

static void check_seccomp(struct sbox_findings *f)
{
    int r = sbox_seccomp_probe();
    if (r < 0)
        add(f, "seccomp", SBOX_MISSING, "%s; the kernel needs CONFIG_SECCOMP_FILTER", strerror(-r));
    else
        add(f, "seccomp", SBOX_HOLDS, "filters are taken");
}

/* -- a real sandbox -----------------------------------------------------------------------------
 */

/* Each attack that works sets a bit of the exit status; in shell builtins only. */
static const char attacks[] =
    "r=0\n"
    "while read -r key value; do case $key in\n"
    "CapEff:|CapBnd:|CapPrm:) [ \"$value\" = 0000000000000000 ] || r=$((r|1));;\n"
    "NoNewPrivs:) [ \"$value\" = 1 ] || r=$((r|1));;\n"
    "Seccomp:) [ \"$value\" = 2 ] || r=$((r|2));;\n"
    "esac; done </proc/self/status\n"
    "if read -r x <.env; then r=$((r|4)); fi\n"
    "if (: >/usr/bin/sbox-doctor) 2>/dev/null; then r=$((r|8)); fi\n"
    "if (read -r x </proc/1/environ) 2>/dev/null; then r=$((r|16)); fi\n"
    "n=0; while read -r line; do n=$((n+1)); done </proc/net/dev; [ $n -le 3 ] || r=$((r|32))\n"
    "(: >node_modules/planted) 2>/dev/null\n"
    "exit $r\n";

static const struct {
    int bit;
    const char *layer;
    const char *holds;
} claims[] = {{1, "capabilities", "none inside, no_new_privs set"},
              {2, "system calls", "filtered inside"},
              {4, "masks", "a .env reads as empty"},
              {8, "read-only system", "/usr/bin cannot be written"},
              {16, "processes", "init cannot be looked into"},
              {32, "network", "loopback only"}};

/* What was written into the tree inside must not be on the host. */
static void judge_tree(struct sbox_findings *f, int workspace, bool read_only)
{
    if (faccessat(workspace, "node_modules/planted", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        add(f, "locked trees", SBOX_MISSING, "an attack got through; not so: written nowhere");
    else if (read_only)
        add(f, "locked trees", SBOX_WEAKER,
            "tmpfs keeps no user xattrs (Linux 6.6 does): locked trees are read-only instead of "
            "throw-away, which some tools notice");
    else
        add(f, "locked trees", SBOX_HOLDS, "changes are thrown away (overlay)");
}

static void judge(struct sbox_findings *f, int workspace, const struct sbox_sandbox_result *result)
{
    add(f, "namespaces", SBOX_HOLDS, "user, mount, process, network and IPC namespaces, own /proc");
    bool ran = result->exec_errno == 0 && WIFEXITED(result->status);
    int bits = ran ? WEXITSTATUS(result->status) : 0;
    if (!ran)
        add(f, "sandbox", SBOX_MISSING, "it was built, but /bin/sh did not run in it");
    for (size_t i = 0; ran && i < sizeof claims / sizeof *claims; i++) {
        bool broken = bits & claims[i].bit;
        add(f, claims[i].layer, broken ? SBOX_MISSING : SBOX_HOLDS, "%s%s",
            broken ? "an attack got through; not so: " : "", claims[i].holds);
    }
    if (ran)
        judge_tree(f, workspace, result->read_only_trees);
}

static int build_and_attack(struct sbox_findings *f, const struct sbox_root *root,
                            const struct sbox_scan *scan, const struct sbox_protects *protects,
                            struct sbox_error *err)
{
    static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
    const char *const command[] = {"/bin/sh", "-c", attacks, NULL};
    struct sbox_facts facts = {0};
    int r = sbox_facts_gather(NULL, &facts, err);
    if (r < 0)
        return r;
    struct sbox_policy_tree tree = {.path = "node_modules"};
    for (size_t i = 0; i < scan->count; i++)
        if (scan->entries[i].kind == SBOX_SCAN_TREE) {
            tree.id = scan->entries[i].id;
            tree.mode = scan->entries[i].mode;
        }
    struct sbox_policy policy = {
        .root = root,
        .scan = scan,
        .trees = &tree,
        .tree_count = 1,
        .protects = protects->items,
        .protect_count = protects->count,
        .command = (char *const *)(uintptr_t)command,
        .environment = (char *const *)(uintptr_t)environment,
        .umask = 022,
        .landlock_abi = sbox_landlock_abi(),
    };
    struct sbox_sandbox_result result = {0};
    struct sbox_error built = SBOX_ERROR_INIT;
    r = sbox_sandbox_run(&policy, &facts, NULL, NULL, &result, &built);
    if (r < 0)
        add(f, "sandbox", SBOX_MISSING, "%s", built.message);
    else
        judge(f, root->fd, &result);
    sbox_sandbox_result_release(&result);
    sbox_facts_release(&facts);
    return 0;
}

static int in_directory(struct sbox_findings *f, char *path, struct sbox_error *err)
{
    struct stat st;
    _cleanup_close_ int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || mkdirat(fd, "node_modules", 0755) < 0 ||
        sbox_write_file_atomic(fd, ".env", "SECRET=1\n", 9, 0600, false) < 0)
        return sbox_error_set(err, errno, "use '%s'", path);
    struct sbox_root root = {
        .path = path, .cwd = path, .fd = fd, .id = sbox_fileid_of(&st), .owner = st.st_uid};
    struct sbox_scan scan = {0};
    struct sbox_protects protects = {0};
    struct sbox_scan_request request = {.root_fd = fd, .project_dirfd = -1};
    int r = sbox_scan_run(&request, &scan, err);
    if (r == 0)
        r = sbox_protects_gather(&root, &scan, NULL, 0, false, &protects, err);
    if (r == 0)
        r = build_and_attack(f, &root, &scan, &protects, err);
    sbox_protects_release(&protects);
    sbox_scan_release(&scan);
    (void)unlinkat(fd, ".env", 0);
    (void)unlinkat(fd, "node_modules/planted", 0);
    (void)unlinkat(fd, "node_modules", AT_REMOVEDIR);
    return r;
}

int sbox_doctor_run(struct sbox_findings *ret, struct sbox_error *err)
{
    char path[] = "/tmp/sbox-doctor-XXXXXX";
    ret->count = 0;
    check_kernel(ret);
    check_landlock(ret);
    check_seccomp(ret);
    if (!mkdtemp(path))
        return sbox_error_set(err, errno, "make a directory below /tmp");
    int r = in_directory(ret, path, err);
    (void)rmdir(path);
    return r;
}

const char *sbox_health_text(enum sbox_health health)
{
    static const char *const texts[] = {
        [SBOX_HOLDS] = "holds", [SBOX_WEAKER] = "weaker", [SBOX_MISSING] = "missing"};
    return texts[health];
}
