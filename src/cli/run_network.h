/* The network of one run: from the options to the policy, sbox-proxy while it lasts, and what is
 * said about it. */
#ifndef SBOX_CLI_RUN_NETWORK_H
#define SBOX_CLI_RUN_NETWORK_H

#include "cli/net_text.h"
#include "cli/options.h"
#include "cli/session.h"
#include "proxy/client.h"
#include "sandbox/policy.h"

/* Kept of one run; what comes after is counted only. */
enum { SBOX_RUN_CONNECTIONS_MAX = 10000 };

struct sbox_run_network {
    bool open;   /* bare --allow-net-out */
    bool wanted; /* sbox-proxy runs */
    bool asked;  /* it has the request */
    bool gone;   /* it ended before the run did */
    struct sbox_proxy proxy;
    struct sbox_strv rules; /* shortcuts replaced by what they stand for */
    struct sbox_strv why;   /* for --dry-run: where a shortcut's host comes from */
    uint16_t host_ports[SBOX_NET_HOST_PORTS_MAX];
    size_t host_port_count;
    struct sbox_proxy_publish publish[SBOX_NET_PUBLISH_MAX];
    size_t publish_count;
    uint16_t published[SBOX_NET_PUBLISH_MAX]; /* their ports inside */
    struct sbox_policy_network policy;
    struct sbox_policy_watch watch;
    struct sbox_wire_connection *connections;
    size_t connection_count;
    size_t connection_room;
    size_t notices; /* said */
    size_t omitted; /* those beyond the most that are kept */
    size_t refused; /* all of them */
    int64_t started_us;
    struct sbox_strv said;
};

void sbox_run_network_init(struct sbox_run_network *n);
void sbox_run_network_release(struct sbox_run_network *n);

/* Reads the options and starts sbox-proxy where one is needed: first of all, so that its start-up
 * costs no time of its own. 0 or -errno with the sentence for the user. */
int sbox_run_network_begin(struct sbox_run_network *n, const struct sbox_options *o,
                           struct sbox_error *err);
/* Compiles the list and fills the network part of the policy. */
int sbox_run_network_policy(struct sbox_run_network *n, const struct sbox_options *o,
                            const struct sbox_session *session, struct sbox_policy *policy,
                            struct sbox_error *err);
/* The proxy confines itself and waits for init's listeners. Not for --dry-run. */
int sbox_run_network_go(struct sbox_run_network *n, struct sbox_error *err);
/* After the command's end: the last messages, then what was refused in one line. */
void sbox_run_network_end(struct sbox_run_network *n);

/* Microseconds since 1970. */
int64_t sbox_run_network_clock(void);

/* Lines of --dry-run. */
void sbox_run_network_print(const struct sbox_run_network *n);

#endif
