#include "cli/run_network.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/log.h"
#include "cli/in_path.h"
#include "cli/net_options.h"
#include "cli/shortcut.h"
#include "project/install_verb.h"

#include <time.h>

/* What a command may have asked for ten thousand times is not to fill the terminal. */
enum { NOTICES_MAX = 16, ADVISED_MAX = 20 };

void sbox_run_network_init(struct sbox_run_network *n)
{
    *n = (struct sbox_run_network){.proxy = {.control = -1, .gateway = -1}};
}

void sbox_run_network_release(struct sbox_run_network *n)
{
    sbox_proxy_stop(&n->proxy, NULL, NULL);
    sbox_strv_release(&n->rules);
    sbox_strv_release(&n->why);
    sbox_strv_release(&n->said);
    free(n->connections);
    sbox_run_network_init(n);
}

int64_t sbox_run_network_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* -- options ----------------------------------------------------------------------------------- */

/* `--allow-net-out host cmd`, a blank in place of the equals sign, must not open everything. */
static int check_open(const struct sbox_options *o, struct sbox_error *err)
{
    const char *word = o->args[0];
    if (strchr(word, '/') || sbox_in_path(word))
        return 0;
    return sbox_error_say(err, EINVAL,
                          "'%s' is no command; if it is a host write --allow-net-out=%s or -o %s "
                          "(without a value --allow-net-out opens the whole network)",
                          sbox_esc(word), sbox_esc(word), sbox_esc(word));
}

static int read_ports(struct sbox_run_network *n, const struct sbox_options *o,
                      struct sbox_error *err)
{
    if (o->host_port.count > SBOX_NET_HOST_PORTS_MAX || o->publish.count > SBOX_NET_PUBLISH_MAX)
        return sbox_error_say(err, E2BIG, "too many ports (at most %d of each kind)",
                              SBOX_NET_PUBLISH_MAX);
    int r = 0;
    for (size_t i = 0; r == 0 && i < o->host_port.count; i++)
        r = sbox_net_port_parse(o->host_port.items[i], &n->host_ports[n->host_port_count++], err);
    for (size_t i = 0; r == 0 && i < o->publish.count; i++)
        r = sbox_net_publish_parse(o->publish.items[i], &n->publish[n->publish_count++], err);
    for (size_t i = 0; r == 0 && i < n->publish_count; i++)
        n->published[i] = n->publish[i].inside;
    return r;
}

/* A rule for the loopback opens the way through the proxy alone, which no client takes there:
 * inside, these names and addresses are the sandbox's own. */
static void say_loopback(const struct sbox_options *o)
{
    static const char *const starts[] = {"localhost:", "127.", "[::1]:"};
    for (size_t i = 0; i < o->net_rules.count; i++) {
        const char *rule = o->net_rules.items[i];
        const char *port = strrchr(rule, ':');
        for (size_t k = 0; port && k < sizeof starts / sizeof *starts; k++)
            if (strncmp(rule, starts[k], strlen(starts[k])) == 0)
                sbox_note("'%s' is the sandbox's own loopback for most clients; for a service of "
                          "the host: --allow-host-port=%s",
                          sbox_esc(rule), sbox_esc(port + 1));
    }
}

static int add_all(struct sbox_strv *to, const struct sbox_strv *from)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < from->count; i++)
        r = sbox_strv_contains(to, from->items[i]) ? 0 : sbox_strv_add(to, from->items[i]);
    return r;
}

/* A lockfile may be an earlier command's work: what nothing but the workspace names is said. */
static int expand_shortcut(struct sbox_run_network *n, const struct sbox_options *o,
                           const struct sbox_session *session, const char *word,
                           struct sbox_error *err)
{
    const struct sbox_shortcut_asking asking = {.ask = sbox_shortcut_ask_client,
                                                .data_fd = session->data.fd,
                                                .client = sbox_install_program(o->args)};
    struct sbox_shortcut s;
    int r = sbox_shortcut_hosts(word, &session->root, getenv("HOME"), &asking, &s, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < s.workspace.count; i++)
        sbox_note("%s allows %s, which only a file of the workspace names", word,
                  sbox_esc(s.workspace.items[i]));
    r = add_all(&n->rules, &s.hosts);
    if (r == 0)
        r = add_all(&n->why, &s.why);
    sbox_shortcut_release(&s);
    return r < 0 ? sbox_error_set(err, ENOMEM, "%s", word) : 0;
}

static int expand(struct sbox_run_network *n, const struct sbox_options *o,
                  const struct sbox_session *session, struct sbox_error *err)
{
    for (size_t i = 0; i < o->net_rules.count; i++) {
        const char *rule = o->net_rules.items[i];
        int r = rule[0] == '@' ? expand_shortcut(n, o, session, rule, err)
                               : sbox_strv_add(&n->rules, rule);
        if (r < 0)
            return rule[0] == '@' ? r : sbox_error_set(err, ENOMEM, "hosts");
    }
    return 0;
}

/* -- start ------------------------------------------------------------------------------------- */

static const char *upstream(const char *lower, const char *upper)
{
    const char *value = getenv(lower);
    if (!value || !*value)
        value = getenv(upper);
    return value && *value ? value : NULL;
}

static int ask(struct sbox_run_network *n, const struct sbox_options *o, struct sbox_error *err)
{
    const struct sbox_proxy_request request = {
        .rules = &n->rules,
        .host_ports = n->host_ports,
        .host_port_count = n->host_port_count,
        .publish = n->publish,
        .publish_count = n->publish_count,
        .upstream_http = upstream("http_proxy", "HTTP_PROXY"),
        .upstream_https = upstream("https_proxy", "HTTPS_PROXY"),
        .allow_private = o->allow_private,
    };
    n->asked = true;
    return sbox_proxy_ask(&n->proxy, &request, err);
}

static bool has_shortcut(const struct sbox_options *o)
{
    for (size_t i = 0; i < o->net_rules.count; i++)
        if (o->net_rules.items[i][0] == '@')
            return true;
    return false;
}

int sbox_run_network_begin(struct sbox_run_network *n, const struct sbox_options *o,
                           struct sbox_error *err)
{
    n->open = o->open_network;
    n->wanted = o->net_rules.count > 0 || o->publish.count > 0 || o->host_port.count > 0;
    if (n->open)
        return check_open(o, err);
    int r = read_ports(n, o, err);
    if (r == 0)
        say_loopback(o);
    if (r == 0 && n->wanted)
        r = sbox_proxy_spawn(&n->proxy, err);
    /* What a shortcut stands for is known when the root is. */
    if (r < 0 || !n->wanted || has_shortcut(o))
        return r;
    r = expand(n, o, NULL, err);
    return r == 0 ? ask(n, o, err) : r;
}

/* -- messages ---------------------------------------------------------------------------------- */

static void remember(struct sbox_run_network *n, const struct sbox_wire_connection *c)
{
    if (n->connection_count == SBOX_RUN_CONNECTIONS_MAX) {
        n->omitted++;
        return;
    }
    if (n->connection_count == n->connection_room) {
        size_t room = n->connection_room ? 2 * n->connection_room : 64;
        void *grown = realloc(n->connections, room * sizeof *n->connections);
        if (!grown)
            return;
        n->connections = grown;
        n->connection_room = room;
    }
    n->connections[n->connection_count++] = *c;
}

/* Each refused host once; the same host on another port is another line only when the port is the
 * reason. */
static void say_refused(struct sbox_run_network *n, const struct sbox_wire_connection *c)
{
    _cleanup_buf_ struct sbox_buf text = {0};
    char key[SBOX_WIRE_HOST + 32];
    (void)snprintf(key, sizeof key, "%u %s %u", c->verdict, c->host,
                   c->verdict == SBOX_VERDICT_NAME ? 0 : c->port);
    n->refused += c->count ? c->count : 1;
    if (sbox_strv_contains(&n->said, key) || n->said.count >= 100)
        return;
    (void)sbox_strv_add(&n->said, key);
    sbox_net_refusal_text(&text, c);
    sbox_say("%.*s", (int)text.size, (const char *)text.data);
}

static void take(const struct sbox_wire_message *m, void *context)
{
    struct sbox_run_network *n = context;
    if (m->type == SBOX_WIRE_NOTICE && n->notices++ < NOTICES_MAX)
        sbox_note("%s", sbox_esc(m->text));
    /* It could not confine itself: init will not start the command. */
    if (m->type == SBOX_WIRE_REFUSED && n->notices++ < NOTICES_MAX)
        sbox_say("%s", sbox_esc(m->text));
    if (m->type != SBOX_WIRE_CONNECTION)
        return;
    remember(n, &m->connection);
    if (sbox_net_refused(&m->connection))
        say_refused(n, &m->connection);
    else if (m->connection.verdict == SBOX_VERDICT_FAILED)
        sbox_detail("%s:%u: %s", sbox_esc(m->connection.host), m->connection.port,
                    m->connection.error > 0 ? strerror(m->connection.error) : "not found");
}

/* As many as come in one turn: signals and the command's end are not to wait for a proxy that is no
 * longer itself and talks without end. */
static bool ready(void *context)
{
    enum { TURN = 256 };
    struct sbox_run_network *n = context;
    struct sbox_wire_message m;
    int r = 1;
    for (int i = 0; r > 0 && i < TURN; i++) {
        r = sbox_proxy_take(&n->proxy, &m);
        if (r > 0)
            take(&m, n);
    }
    if (r > 0 || r == -EAGAIN)
        return true;
    n->gone = true;
    sbox_say("sbox-proxy ended: nothing can be reached any more");
    return false;
}

/* -- the policy -------------------------------------------------------------------------------- */

int sbox_run_network_policy(struct sbox_run_network *n, const struct sbox_options *o,
                            const struct sbox_session *session, struct sbox_policy *policy,
                            struct sbox_error *err)
{
    policy->host_network = n->open;
    if (!n->wanted)
        return 0;
    int r = n->asked ? 0 : expand(n, o, session, err);
    if (r == 0 && !n->asked)
        r = ask(n, o, err);
    if (r == 0)
        r = sbox_proxy_answer(&n->proxy, err);
    if (r < 0)
        return r;
    n->policy = (struct sbox_policy_network){
        .socket = -1,
        .ports = n->proxy.ports,
        .port_count = n->proxy.port_count,
        .literals = n->proxy.literals,
        .literal_count = n->proxy.literal_count,
        .host_ports = n->host_ports,
        .host_port_count = n->host_port_count,
        .published = n->published,
        .published_count = n->publish_count,
    };
    policy->network = &n->policy;
    return 0;
}

int sbox_run_network_go(struct sbox_run_network *n, struct sbox_error *err)
{
    if (!n->wanted)
        return 0;
    int r = sbox_proxy_go(&n->proxy, err);
    if (r < 0)
        return r;
    n->policy.socket = n->proxy.gateway;
    n->started_us = sbox_run_network_clock();
    n->watch = (struct sbox_policy_watch){.fd = n->proxy.control, .ready = ready, .context = n};
    return 0;
}

void sbox_run_network_end(struct sbox_run_network *n)
{
    _cleanup_buf_ struct sbox_buf text = {0};
    _cleanup_strv_ struct sbox_strv rules = {0};
    bool private = false;
    if (n->wanted && !n->gone)
        sbox_proxy_stop(&n->proxy, take, n);
    if (n->refused == 0)
        return;
    sbox_buf_addf(&text, "%zu connection%s refused", n->refused,
                  n->refused == 1 ? " was" : "s were");
    for (size_t i = 0; i < n->connection_count && rules.count < ADVISED_MAX; i++)
        (void)sbox_net_collect(&n->connections[i], false, &rules, &private);
    for (size_t i = 0; i < rules.count; i++)
        sbox_buf_addf(&text, "%s%s", i == 0 ? "; to allow what was asked for: -o " : ",",
                      sbox_esc(rules.items[i]));
    if (private)
        sbox_buf_addf(&text, "%s--allow-private", rules.count ? " " : "; perhaps ");
    if (rules.count == ADVISED_MAX)
        sbox_buf_add_str(&text, " (there may be more: sbox suggest)");
    sbox_note("%.*s", (int)text.size, (const char *)text.data);
}

void sbox_run_network_print(const struct sbox_run_network *n)
{
    if (n->open)
        (void)printf("network      the host's, unrestricted (deprecated)\n");
    else if (!n->wanted)
        (void)printf("network      none\n");
    for (size_t i = 0; i < n->proxy.rules.count; i++)
        (void)printf("host         %s\n", sbox_esc(n->proxy.rules.items[i]));
    for (size_t i = 0; i < n->why.count; i++)
        (void)printf("             %s\n", sbox_esc(n->why.items[i]));
    for (size_t i = 0; i < n->publish_count; i++) {
        char text[SBOX_ADDRESS_TEXT];
        (void)printf("published    %s port %u leads to port %u inside\n",
                     sbox_address_format(&n->publish[i].address, text), n->publish[i].outside,
                     n->publish[i].inside);
    }
    for (size_t i = 0; i < n->host_port_count; i++)
        (void)printf("host port    %u of the host's loopback\n", n->host_ports[i]);
}
