#include "sandbox/env_registry.h"

#include "base/error.h"
#include "project/conf.h"

#include <strings.h>

/* npm takes its own in any case. */
static const struct {
    const char *begin;
    const char *end; /* of the name, with something between; NULL: the name is `begin` */
} names[] = {
    {"npm_config_registry", NULL},
    {"npm_config_@", ":registry"},
    {"YARN_REGISTRY", NULL},
    {"YARN_NPM_REGISTRY_SERVER", NULL},
    {"PIP_INDEX_URL", NULL},
    {"PIP_EXTRA_INDEX_URL", NULL},
    {"PIP_FIND_LINKS", NULL},
    {"UV_INDEX_URL", NULL},
    {"UV_EXTRA_INDEX_URL", NULL},
    {"UV_DEFAULT_INDEX", NULL},
    {"UV_INDEX", NULL},
    {"UV_FIND_LINKS", NULL},
    {"POETRY_REPOSITORIES_", "_URL"},
    {"CARGO_REGISTRIES_", "_INDEX"},
    {"GOPROXY", NULL},
};

bool sbox_env_is_registry(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t begin = strlen(names[i].begin);
        size_t end = names[i].end ? strlen(names[i].end) : 0;
        bool fits = end ? size > begin + end : size == begin;
        if (fits && strncasecmp(name, names[i].begin, begin) == 0 &&
            strncasecmp(name + size - end, end ? names[i].end : "", end) == 0)
            return true;
    }
    return false;
}

char *sbox_env_registry_cut(const char *value)
{
    return sbox_conf_bare_url(value);
}
