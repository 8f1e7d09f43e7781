/* sbox-proxy: the network of one run. See server.h for what it is made of, docs/egress.md for who
 * talks to whom, proxy_confine.c for what it cannot do.
 *
 * Descriptor 3 is sbox's control socket; nothing else is taken from outside, no argument, no
 * environment, no configuration. It ends with that socket, with sbox, and when its loop fails. */
#include "proxy/server.h"

#include "base/cleanup.h"
#include "proxy/names.h"
#include "proxy/reach.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { OK = 0, FAILED = 1 };

/* With sbox's death the control socket closes, unless somebody else holds a copy of it: init, which
 * has not closed its own yet. */
static int tie_to_sbox(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? -errno : 0;
}

/* One thread: no locks. Changes to what is waited for are collected until the loop waits (no
 * watched descriptor has a duplicate): a socket that is handed on costs one system call, not three.
 */
static struct event_base *new_base(void)
{
    struct event_config *config = event_config_new();
    if (!config)
        return NULL;
    (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV |
                                            EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
    (void)event_config_require_features(config, EV_FEATURE_O1);
    struct event_base *base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static int set_up(struct sbox_server *s)
{
    TAILQ_INIT(&s->waiting);
    TAILQ_INIT(&s->flows);
    sbox_limits_set(s);
    s->control = SBOX_WIRE_CONTROL_FD;
    s->gateway = -1;
    s->spare = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (s->spare < 0)
        return -errno;
    s->base = new_base();
    s->list = sbox_allowlist_new();
    s->names = sbox_names_new();
    s->buffer = malloc(SBOX_PROXY_BUFFER);
    s->reports = s->base ? sbox_reports_new(s) : NULL;
    return s->base && s->reports && s->list && s->names && s->buffer ? 0 : -ENOMEM;
}

static int refuse(const struct sbox_server *s, const struct sbox_error *err)
{
    struct sbox_wire_message m = {.type = SBOX_WIRE_REFUSED, .code = err->code};
    (void)snprintf(m.text, sizeof m.text, "%s", err->message);
    (void)sbox_wire_send(s->control, &m, sizeof m, -1);
    return -err->code;
}

static int serve(struct sbox_server *s)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    s->resolver = sbox_resolver_new(s->base); /* reads resolv.conf */
    if (!s->resolver) {
        (void)sbox_error_say(&err, ENOMEM, "sbox-proxy has no resolver");
        return refuse(s, &err);
    }
    if (sbox_proxy_confine(&err) < 0)
        return refuse(s, &err);
    int r = sbox_gateway_link(s);
    if (r == 0)
        r = sbox_control_serve(s);
    if (r == 0)
        r = event_base_dispatch(s->base) < 0 ? -EIO : 0;
    return r;
}

int main(void)
{
    static struct sbox_server server;
    int r = tie_to_sbox();
    if (r == 0)
        r = set_up(&server);
    if (r == 0)
        r = sbox_control_compile(&server);
    if (r > 0)
        r = serve(&server);
    /* The kernel takes back what is left, and faster: sbox waits for this. */
    _exit(r < 0 ? FAILED : OK);
}
