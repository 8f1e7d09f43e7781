/* Writes the filters as C: `seccomp_gen > seccomp_programs.c`, run once per build on the build
 * machine. A program of its own, outside of sbox: it may print and exit.
 *
 * The command's filter refuses by list (seccomp_list.h), those of sbox-proxy and sbox-archive
 * allow by list (seccomp_proxy.h, seccomp_archive.h) and are libseccomp's alone. The command's has
 * two parts, one after the other in one array:
 *
 * 1. A head of our own, for what libseccomp cannot say:
 *    - an architecture that is not ours ends the process: its system calls have other numbers, and
 *      a program of another machine that gets EPERM for its exit() would run on into the weeds;
 *    - numbers above the highest known one get ENOSYS. That includes x32, whose numbers start at
 *      2^30, on x86-64. -1 passes: a debugger writes it to skip a call, nothing is executed;
 *    - calls that this libseccomp has no name for;
 *    - arguments of which only some values are allowed, or of which any bit of several refuses:
 *      libseccomp takes one comparison per argument in a rule, so "none of these" cannot be said
 *      with it, and "any of these" takes a rule for each bit.
 * 2. What libseccomp makes of the rules, as a binary tree over the numbers.
 *
 * The kernel runs the filter once for each number when it is loaded, and remembers those that are
 * allowed whatever their arguments (5.11 and later): read, write and their like cost nothing.
 */
#include "base/banned.h"
#include "confine/seccomp.h"
#include "confine/seccomp_archive.h"
#include "confine/seccomp_list.h"
#include "confine/seccomp_proxy.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct target {
    const char *label; /* part of the name of the C array */
    uint32_t scmp;
    uint32_t audit;
};

struct program {
    struct sock_filter code[BPF_MAXINSNS];
    unsigned length;
};

static void die(const char *what, const char *name)
{
    (void)fprintf(stderr, "seccomp_gen: %s: %s\n", what, name);
    exit(1);
}

static void emit(struct program *p, struct sock_filter instruction)
{
    if (p->length == COUNT(p->code))
        die("filter", "too long");
    p->code[p->length++] = instruction;
}

static void emit_load(struct program *p, size_t offset)
{
    emit(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void emit_jump(struct program *p, uint16_t test, uint32_t value, unsigned yes, unsigned no)
{
    emit(p, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | BPF_K | test), value, (uint8_t)yes,
                                         (uint8_t)no));
}

static void emit_return(struct program *p, uint32_t action)
{
    emit(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void emit_errno(struct program *p, int answer)
{
    emit_return(p, SECCOMP_RET_ERRNO | (uint32_t)answer);
}

/* The number of `name` on the target; negative where there is no such call. */
static int number_of(const struct target *t, const char *name)
{
    if (seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR)
        die("libseccomp knows no system call", name);
    return seccomp_syscall_resolve_name_arch(t->scmp, name);
}

/* On this architecture too: the head must not lose a check in silence. */
static uint32_t head_number_of(const struct target *t, const char *name)
{
    int number = number_of(t, name);
    if (number < 0)
        die("not on this architecture", name);
    return (uint32_t)number;
}

/* Both architectures are little-endian: the low half comes first. */
static void emit_load_low(struct program *p, unsigned argument)
{
    emit_load(p, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
}

static void emit_allowed_values(struct program *p, const struct target *t)
{
    for (size_t i = 0; i < COUNT(allowed_values); i++) {
        unsigned n = allowed_values[i].count;
        /* Another call jumps over the load, n tests, the return and the load at the end. */
        emit_jump(p, BPF_JEQ, head_number_of(t, allowed_values[i].name), 0, n + 3);
        emit_load_low(p, allowed_values[i].argument);
        for (unsigned k = 0; k < n; k++) /* a match jumps over the other tests and the return */
            emit_jump(p, BPF_JEQ, allowed_values[i].values[k], n - k, 0);
        emit_errno(p, allowed_values[i].answer);
        emit_load(p, offsetof(struct seccomp_data, nr));
    }
}

static void emit_refused_bits(struct program *p, const struct target *t)
{
    for (size_t i = 0; i < COUNT(refused_bits); i++) {
        emit_jump(p, BPF_JEQ, head_number_of(t, refused_bits[i].name), 0, 4);
        emit_load_low(p, refused_bits[i].argument);
        emit_jump(p, BPF_JSET, refused_bits[i].bits, 0, 1);
        emit_errno(p, refused_bits[i].answer);
        emit_load(p, offsetof(struct seccomp_data, nr));
    }
}

static void emit_head(struct program *p, const struct target *t)
{
    emit_load(p, offsetof(struct seccomp_data, arch));
    emit_jump(p, BPF_JEQ, t->audit, 1, 0);
    emit_return(p, SECCOMP_RET_KILL_PROCESS);
    emit_load(p, offsetof(struct seccomp_data, nr));
    emit_jump(p, BPF_JGT, SBOX_SECCOMP_LAST_KNOWN, 0, 3);
    emit_jump(p, BPF_JEQ, 0xffffffff, 0, 1);
    emit_return(p, SECCOMP_RET_ALLOW);
    emit_errno(p, ENOSYS);
    for (size_t i = 0; i < COUNT(refused_numbers); i++) {
        emit_jump(p, BPF_JEQ, refused_numbers[i].number, 0, 1);
        emit_errno(p, refused_numbers[i].answer);
    }
    emit_allowed_values(p, t);
    emit_refused_bits(p, t);
}

/* Written out: clang finds fields missing in libseccomp's own macro. */
static struct scmp_arg_cmp comparison(const struct match *m)
{
    struct scmp_arg_cmp c = {.arg = m->argument, .op = SCMP_CMP_EQ, .datum_a = m->value};
    if (m->how == MASKED)
        c = (struct scmp_arg_cmp){
            .arg = m->argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = m->mask, .datum_b = m->value};
    else if (m->how == DIFFERS)
        c.op = SCMP_CMP_NE;
    return c;
}

static void add_rule(scmp_filter_ctx ctx, const struct target *t, const struct rule *rule)
{
    struct scmp_arg_cmp compare[RULE_MATCHES];
    unsigned n = 0;
    while (n < RULE_MATCHES && rule->match[n].how != NONE) {
        compare[n] = comparison(&rule->match[n]);
        n++;
    }
    if (number_of(t, rule->name) < 0)
        return;
    /* Rules are added by the number of the build machine, libseccomp translates. */
    int r = seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO((uint32_t)rule->answer),
                                   seccomp_syscall_resolve_name(rule->name), n, compare);
    if (r < 0)
        die(strerror(-r), rule->name);
}

static void add_rules(scmp_filter_ctx ctx, const struct target *t, bool noscope)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        const struct rule rule = {.name = refused[i].name, .answer = refused[i].answer};
        add_rule(ctx, t, &rule);
    }
    for (size_t i = 0; i < COUNT(rules); i++)
        if (noscope || !rules[i].noscope_only)
            add_rule(ctx, t, &rules[i]);
}

/* libseccomp 2.5 exports to a descriptor only. */
static void append_export(struct program *p, scmp_filter_ctx ctx)
{
    int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0 || seccomp_export_bpf(ctx, fd) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        die("export", strerror(errno));
    ssize_t size = read(fd, p->code + p->length, sizeof *p->code * (COUNT(p->code) - p->length));
    if (size <= 0 || (size_t)size % sizeof *p->code != 0)
        die("export", "odd size");
    p->length += (unsigned)((size_t)size / sizeof *p->code);
    (void)close(fd);
}

static scmp_filter_ctx new_filter(const struct target *t, uint32_t otherwise)
{
    scmp_filter_ctx ctx = seccomp_init(otherwise);
    if (!ctx)
        die("libseccomp", "out of memory");
    if (t->scmp != seccomp_arch_native() &&
        (seccomp_arch_add(ctx, t->scmp) < 0 || seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE) < 0))
        die("libseccomp lacks the architecture", t->label);
    if (seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0 ||
        seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) < 0)
        die("libseccomp", "attribute refused");
    return ctx;
}

static void append_tail(struct program *p, const struct target *t, bool noscope)
{
    scmp_filter_ctx ctx = new_filter(t, SCMP_ACT_ALLOW);
    add_rules(ctx, t, noscope);
    append_export(p, ctx);
    seccomp_release(ctx);
}

static void allow(scmp_filter_ctx ctx, const struct target *t, const struct permission *permission)
{
    struct scmp_arg_cmp compare[PERMISSION_MATCHES];
    unsigned n = 0;
    while (n < PERMISSION_MATCHES && permission->match[n].how != NONE) {
        compare[n] = comparison(&permission->match[n]);
        n++;
    }
    if (number_of(t, permission->name) < 0)
        return;
    int r = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW,
                                   seccomp_syscall_resolve_name(permission->name), n, compare);
    if (r < 0)
        die(strerror(-r), permission->name);
}

static void append_list(struct program *p, const struct target *t, const struct permission *list,
                        size_t count)
{
    scmp_filter_ctx ctx = new_filter(t, SCMP_ACT_KILL_PROCESS);
    for (size_t i = 0; i < COUNT(helper_permissions); i++)
        allow(ctx, t, &helper_permissions[i]);
    for (size_t i = 0; i < count; i++)
        allow(ctx, t, &list[i]);
    append_export(p, ctx);
    seccomp_release(ctx);
}

static void print_program(const struct target *t, enum sbox_seccomp_kind kind)
{
    static struct program p;
    p.length = 0;
    if (kind == SBOX_SECCOMP_PROXY) {
        append_list(&p, t, proxy_permissions, COUNT(proxy_permissions));
    } else if (kind == SBOX_SECCOMP_ARCHIVE) {
        append_list(&p, t, archive_permissions, COUNT(archive_permissions));
    } else {
        emit_head(&p, t);
        append_tail(&p, t, kind == SBOX_SECCOMP_COMMAND_NOSCOPE);
    }

    printf("static const struct sock_filter code_%s_%u[] = {\n", t->label, (unsigned)kind);
    for (unsigned i = 0; i < p.length; i++)
        printf("    {0x%04x, %u, %u, 0x%08x},\n", p.code[i].code, p.code[i].jt, p.code[i].jf,
               p.code[i].k);
    printf("};\n");
}

int main(void)
{
    /* In the order of enum sbox_seccomp_arch. */
    static const struct target targets[] = {
        {"x86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64},
        {"aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64},
    };
    printf("/* Generated by seccomp_gen from seccomp_list.h. */\n"
           "#include \"confine/seccomp_programs.h\"\n\n");
    for (size_t i = 0; i < COUNT(targets); i++)
        for (unsigned kind = 0; kind < SBOX_SECCOMP_KINDS; kind++)
            print_program(&targets[i], kind);
    printf("\n#define PROGRAM(code) {code, sizeof code / sizeof *code}\n"
           "const struct sbox_seccomp_program sbox_seccomp_programs[2][SBOX_SECCOMP_KINDS] = {\n");
    for (size_t i = 0; i < COUNT(targets); i++) {
        printf("    {");
        for (unsigned kind = 0; kind < SBOX_SECCOMP_KINDS; kind++)
            printf("PROGRAM(code_%s_%u), ", targets[i].label, kind);
        printf("},\n");
    }
    printf("};\n");
    if (fflush(stdout) != 0)
        die("write", strerror(errno));
    return 0;
}
