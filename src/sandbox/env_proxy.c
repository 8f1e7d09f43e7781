/* Clients that find sbox-proxy by these variables: curl, wget, git, npm, pnpm, bun, pip, uv, cargo,
 * go, composer, most libraries of Python, Ruby and Rust, and Node from 22.21 by NODE_USE_ENV_PROXY.
 * Both cases: curl heeds http_proxy in lower case only, others HTTPS_PROXY in upper case only. What
 * knows no proxy (Java, Node before, yarn 2, database drivers) goes the transparent way. */
#include "sandbox/env_proxy.h"

#include "base/error.h"
#include "net/layout.h"

#include <strings.h>

#define TEXT(x)  #x
#define VALUE(x) TEXT(x)
#define PORT     3128
_Static_assert(PORT == SBOX_NET_PROXY_PORT, "the port that the variables name");
#define URL   "http://" SBOX_NET_GATEWAY4 ":" VALUE(PORT)
#define LOCAL "localhost,127.0.0.1,::1"

static const char *const ours[] = {
    "HTTP_PROXY=" URL,  "http_proxy=" URL, "HTTPS_PROXY=" URL,
    "https_proxy=" URL, "ALL_PROXY=" URL,  "all_proxy=" URL,
    "NO_PROXY=" LOCAL,  "no_proxy=" LOCAL, "NODE_USE_ENV_PROXY=1",
};

/* The host's, in any case of letters. */
static const char *const foreign[] = {
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "socks_proxy",
    "socks5_proxy",
    "rsync_proxy",
    "ws_proxy",
    "wss_proxy",
    "grpc_proxy",
    "no_grpc_proxy",
    "cgi_http_proxy",
    "npm_config_proxy",
    "npm_config_http_proxy",
    "npm_config_https_proxy",
    "npm_config_noproxy",
    "yarn_http_proxy",
    "yarn_https_proxy",
    "cargo_http_proxy",
    "pip_proxy",
    "global_agent_http_proxy",
    "global_agent_https_proxy",
    "global_agent_no_proxy",
    "node_use_env_proxy",
};

static size_t name_length(const char *variable)
{
    return strcspn(variable, "=");
}

static bool is_foreign(const char *variable)
{
    size_t n = name_length(variable);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strlen(foreign[i]) == n && strncasecmp(foreign[i], variable, n) == 0)
            return true;
    return false;
}

static bool is_kept(const struct sbox_strv *kept, const char *variable)
{
    size_t n = name_length(variable);
    for (size_t i = 0; kept && i < kept->count; i++)
        if (name_length(kept->items[i]) == n && strncmp(kept->items[i], variable, n) == 0)
            return true;
    return false;
}

static void remove_foreign(struct sbox_strv *environment, const struct sbox_strv *kept)
{
    size_t left = 0;
    for (size_t i = 0; i < environment->count; i++) {
        char *variable = environment->items[i];
        if (is_foreign(variable) && !is_kept(kept, variable))
            free(variable);
        else
            environment->items[left++] = variable;
    }
    environment->count = left;
    if (environment->items)
        environment->items[left] = NULL;
}

int sbox_env_proxy(struct sbox_strv *environment, const struct sbox_strv *kept, bool network,
                   bool variables)
{
    int r = 0;
    remove_foreign(environment, kept);
    for (size_t i = 0; network && variables && r == 0 && i < sizeof ours / sizeof *ours; i++)
        if (!is_kept(kept, ours[i]))
            r = sbox_strv_add(environment, ours[i]);
    return r;
}
