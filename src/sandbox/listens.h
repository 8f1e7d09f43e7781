/* Servers inside that nobody outside can reach: a person who starts one wants to be told how. init
 * looks now and then for a while (sock_diag(7)), and names a TCP port that listened in two looks
 * running. No heap. */
#ifndef SBOX_SANDBOX_LISTENS_H
#define SBOX_SANDBOX_LISTENS_H

#include "sandbox/policy.h"

enum {
    SBOX_LISTENS_MOST = 5,  /* ports that are named in one run */
    SBOX_LISTENS_ROOM = 64, /* ports that one look remembers */
};

struct sbox_ports {
    uint16_t items[SBOX_LISTENS_ROOM];
    size_t count;
};

struct sbox_listens {
    const struct sbox_policy_network *network; /* its ports are no news; may be NULL */
    struct sbox_ports before;                  /* what the last look saw */
    struct sbox_ports named;
    int64_t next_ms; /* CLOCK_MONOTONIC */
    unsigned looks_left;
};

/* `on` false: never looks (the network namespace is not the sandbox's own). */
void sbox_listens_init(struct sbox_listens *l, bool on, const struct sbox_policy_network *network);
/* Milliseconds until the next look is due; -1: never again. */
int sbox_listens_timeout(const struct sbox_listens *l);
/* Looks and plans the next look; how many ports are to be named now. */
size_t sbox_listens_look(struct sbox_listens *l, uint16_t ret[SBOX_LISTENS_MOST]);

/* The pure parts. A packet of answers: 1 when it was the last, 0 when more come, or -errno. Adds
 * the ports of listeners that a publisher can reach, those on loopback or on all addresses. */
int sbox_listens_parse(const void *packet, size_t size, struct sbox_ports *ports);
/* What to name after a look that saw `now`. */
size_t sbox_listens_news(struct sbox_listens *l, const struct sbox_ports *now,
                         uint16_t ret[SBOX_LISTENS_MOST]);

#endif
