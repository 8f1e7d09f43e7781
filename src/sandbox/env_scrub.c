#include "sandbox/env_scrub.h"

#include "base/cleanup.h"
#include "project/secret.h"
#include "sandbox/env_names.h"
#include "sandbox/env_registry.h"

/* Two passes over the block, because a name may stand in it several times (libc's getenv takes the
 * first, bash the last) and one bad copy condemns all:
 *
 * 1. each variable is looked at, and the names that go are collected in the report;
 * 2. what the report does not name is copied, and the variables set by -e come last. */

/* execve(2): 32 pages a string, 64 KiB pages on some arm64 kernels. */
enum { STRING_MAX = 2 << 20, VARIABLES_MAX = 65536 };

struct entry {
    const char *name;
    size_t name_size;
    const char *value; /* NULL: no '=' */
};

static struct entry entry_of(const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals)
        return (struct entry){.name = text};
    return (struct entry){.name = text, .name_size = (size_t)(equals - text), .value = equals + 1};
}

static bool is_name(const struct entry *e, const char *name)
{
    return strncmp(e->name, name, e->name_size) == 0 &&
           (name[e->name_size] == '\0' || name[e->name_size] == '=');
}

/* Is the name in the list? Elements may carry "=VALUE". */
static bool names_it(const struct sbox_strv *list, const struct entry *e)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (is_name(e, list->items[i]))
            return true;
    return false;
}

const char *sbox_env_reason_text(enum sbox_env_reason reason)
{
    switch (reason) {
    case SBOX_ENV_KEPT:
        return "kept";
    case SBOX_ENV_NAME:
        return "the name says secret";
    case SBOX_ENV_AGENT:
        return "leads to an agent or a key file";
    case SBOX_ENV_FUNCTION:
        return "a shell function";
    case SBOX_ENV_VALUE:
        return "the value looks like a secret";
    case SBOX_ENV_CUT:
        return "passed without user and password";
    case SBOX_ENV_MALFORMED:
        return "not NAME=VALUE";
    case SBOX_ENV_COMPANION:
        return "of no use without another that went";
    }
    return "unknown";
}

void sbox_env_report_release(struct sbox_env_report *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->items[i].name);
    free(r->items);
    *r = (struct sbox_env_report){0};
}

static const struct sbox_env_drop *find_drop(const struct sbox_env_report *r, const struct entry *e)
{
    for (size_t i = 0; i < r->count; i++)
        if (is_name(e, r->items[i].name))
            return &r->items[i];
    return NULL;
}

/* Owns drop.name, also on failure. */
static int report_push(struct sbox_env_report *r, struct sbox_env_drop drop)
{
    if (!drop.name)
        return -ENOMEM;
    if (r->count == r->room) {
        size_t room = r->room ? r->room * 2 : 16;
        struct sbox_env_drop *grown = reallocarray(r->items, room, sizeof *grown);
        if (!grown) {
            free(drop.name);
            return -ENOMEM;
        }
        r->items = grown;
        r->room = room;
    }
    r->items[r->count++] = drop;
    return 0;
}

static int report_add(struct sbox_env_report *r, const struct entry *e, enum sbox_env_reason reason,
                      const char *detail)
{
    if (find_drop(r, e))
        return 0;
    return report_push(r, (struct sbox_env_drop){.name = strndup(e->name, e->name_size),
                                                 .reason = reason,
                                                 .detail = detail});
}

static bool can_be_cut(const char *value)
{
    _cleanup_free_ char *cut = sbox_env_registry_cut(value);
    return cut != NULL;
}

static enum sbox_env_reason judge(const struct entry *e, const char **ret_detail)
{
    *ret_detail = NULL;
    if (!e->value || e->name_size == 0)
        return SBOX_ENV_MALFORMED;
    if (*e->value == '\0')
        return SBOX_ENV_KEPT;
    enum sbox_env_reason reason = sbox_env_name_reason(e->name, e->name_size, ret_detail);
    if (reason != SBOX_ENV_KEPT)
        return reason;
    if (sbox_str_starts(e->value, "() {")) {
        *ret_detail = "as bash exported them before 2014";
        return SBOX_ENV_FUNCTION;
    }
    *ret_detail = sbox_secret_find(e->value, strlen(e->value));
    if (*ret_detail && sbox_env_is_registry(e->name, e->name_size) && can_be_cut(e->value))
        return SBOX_ENV_CUT;
    return *ret_detail ? SBOX_ENV_VALUE : SBOX_ENV_KEPT;
}

/* A name without '=' may be a secret pasted into the wrong place: not even that is reported. */
static int collect_one(const char *text, const struct sbox_env_rules *rules,
                       struct sbox_env_report *report)
{
    struct entry e = entry_of(text);
    const char *detail = NULL;
    enum sbox_env_reason reason = judge(&e, &detail);
    if (reason == SBOX_ENV_MALFORMED)
        return report_add(report, &(struct entry){.name = ""}, reason, NULL);
    if (reason == SBOX_ENV_KEPT || names_it(rules->pass, &e) || names_it(rules->set, &e))
        return 0;
    return report_add(report, &e, reason, detail);
}

/* git refuses to start when GIT_CONFIG_COUNT promises a pair that is not there. (actions/checkout
 * and others hand over a token in GIT_CONFIG_VALUE_0.) Without the count it reads none. */
static int collect_companions(struct sbox_env_report *report)
{
    static const struct entry count = {.name = "GIT_CONFIG_COUNT", .name_size = 16, .value = ""};
    for (size_t i = 0; i < report->count; i++)
        if (sbox_str_starts(report->items[i].name, "GIT_CONFIG_VALUE_"))
            return report_add(report, &count, SBOX_ENV_COMPANION, report->items[i].detail);
    return 0;
}

static int collect(char *const *block, const struct sbox_env_rules *rules,
                   struct sbox_env_report *report)
{
    for (size_t i = 0; block[i]; i++) {
        int r = collect_one(block[i], rules, report);
        if (r < 0)
            return r;
    }
    return collect_companions(report);
}

static bool is_kept(const struct entry *e, const struct sbox_env_rules *rules,
                    const struct sbox_env_report *report)
{
    if (names_it(rules->set, e))
        return false;
    if (rules->allow_all || names_it(rules->pass, e))
        return true;
    return e->value && e->name_size > 0 && !find_drop(report, e);
}

/* Room for the NULL that execve wants, also in an empty list. */
static int start_list(struct sbox_strv *v)
{
    enum { FIRST = 64 };
    v->items = calloc(FIRST, sizeof *v->items);
    if (!v->items)
        return -ENOMEM;
    v->room = FIRST;
    return 0;
}

static bool set_again_later(const struct sbox_strv *set, size_t i)
{
    struct entry e = entry_of(set->items[i]);
    for (size_t k = i + 1; k < set->count; k++)
        if (is_name(&e, set->items[k]))
            return true;
    return false;
}

/* A registry's URL without user and password. Each copy of the name is cut for itself. */
static int copy_cut(const struct entry *e, const struct sbox_env_rules *rules,
                    const struct sbox_env_report *report, struct sbox_strv *env)
{
    const struct sbox_env_drop *drop = find_drop(report, e);
    if (!drop || drop->reason != SBOX_ENV_CUT || names_it(rules->set, e))
        return 0;
    _cleanup_free_ char *value = sbox_env_registry_cut(e->value);
    return value ? sbox_strv_addf(env, "%.*s=%s", (int)e->name_size, e->name, value) : 0;
}

static int copy(char *const *block, const struct sbox_env_rules *rules,
                const struct sbox_env_report *report, struct sbox_strv *env)
{
    int r = start_list(env);
    for (size_t i = 0; r == 0 && block[i]; i++) {
        struct entry e = entry_of(block[i]);
        r = is_kept(&e, rules, report) ? sbox_strv_add(env, block[i])
                                       : copy_cut(&e, rules, report, env);
    }
    for (size_t i = 0; r == 0 && rules->set && i < rules->set->count; i++)
        if (!set_again_later(rules->set, i))
            r = sbox_strv_add(env, rules->set->items[i]);
    return r;
}

static int check_sizes(char *const *block, struct sbox_error *err)
{
    size_t count = 0;
    for (; block[count]; count++)
        if (count == VARIABLES_MAX || strnlen(block[count], STRING_MAX) == STRING_MAX)
            return sbox_error_set(err, E2BIG, "environment");
    return 0;
}

static int check_rules(const struct sbox_env_rules *rules, struct sbox_error *err)
{
    for (size_t i = 0; rules->pass && i < rules->pass->count; i++)
        if (rules->pass->items[i][0] == '\0' || strchr(rules->pass->items[i], '='))
            return sbox_error_say(err, EINVAL, "-e: not a name");
    for (size_t i = 0; rules->set && i < rules->set->count; i++) {
        struct entry e = entry_of(rules->set->items[i]);
        if (!e.value || e.name_size == 0)
            return sbox_error_say(err, EINVAL, "-e: not NAME=VALUE");
    }
    return rules->set && rules->set->items ? check_sizes(rules->set->items, err) : 0;
}

int sbox_env_scrub(char *const *environ_block, const struct sbox_env_rules *rules,
                   struct sbox_strv *ret_env, struct sbox_env_report *ret_report,
                   struct sbox_error *err)
{
    _cleanup_(sbox_env_wipe_strv) struct sbox_strv env = {0};
    _cleanup_env_report_ struct sbox_env_report report = {0};
    int r = check_sizes(environ_block, err);
    if (r == 0)
        r = check_rules(rules, err);
    if (r < 0)
        return r;
    if (!rules->allow_all)
        r = collect(environ_block, rules, &report);
    if (r == 0)
        r = copy(environ_block, rules, &report, &env);
    if (r < 0)
        return sbox_error_set(err, -r, "environment");
    *ret_env = env;
    *ret_report = report;
    env = (struct sbox_strv){0};
    report = (struct sbox_env_report){0};
    return 0;
}

void sbox_env_wipe(char **environ_block)
{
    for (size_t i = 0; environ_block && environ_block[i]; i++)
        explicit_bzero(environ_block[i], strlen(environ_block[i]));
}

void sbox_env_wipe_strv(struct sbox_strv *v)
{
    sbox_env_wipe(v->items);
    sbox_strv_release(v);
}
