/* What the host looks like, as far as the view depends on it: which system directories are links,
 * where /etc's links lead, which terminal the caller has. Gathered by a few dozen system calls in
 * the supervisor; the plan is a pure function of policy and facts. Nothing here comes from the
 * workspace. */
#ifndef SBOX_SANDBOX_FACTS_H
#define SBOX_SANDBOX_FACTS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/strv.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
    SBOX_FACTS_DIRS_MAX = 16,
    SBOX_FACTS_FILES_MAX = 8,
    SBOX_FACTS_HIDDEN_MAX = 256,
    SBOX_FACTS_SETTINGS_MAX = 32
};

/* A settings file of a package client: as it is, or with its secrets out. */
struct sbox_facts_setting {
    const char *path; /* below $HOME, or absolute for a file of the system; static */
    char *text;       /* NULL: nothing of it may be shown */
    bool filtered;    /* something was taken out */
    const char *why;  /* what, for the user; static; NULL when nothing was */
};

struct sbox_facts {
    struct {
        const char *path; /* "/usr", "/lib64" ...; static */
        char *link;       /* target text when it is a link, else NULL */
    } dirs[SBOX_FACTS_DIRS_MAX];
    size_t dir_count;

    /* Files that /etc names through a link into a place the view does not show. */
    struct {
        char *path; /* where the link ends, e.g. "/run/systemd/resolve/stub-resolv.conf" */
        char *data;
    } files[SBOX_FACTS_FILES_MAX];
    size_t file_count;

    /* Where /etc/resolv.conf leads, even if nothing is there; NULL when the view can show nothing
     * under that name. */
    char *resolv_conf;
    char *hosts;      /* where /etc/hosts leads when it is shown changed (sbox_facts_hosts); NULL */
    char *hosts_text; /* what is shown there */
    long first_free_port; /* the first port that the caller may bind; -1: not known */
    char *tty;            /* "/dev/pts/3" when one of 0-2 is a terminal, else NULL */
    char *git_config; /* the user's git settings without anything that executes or authenticates */
    struct sbox_facts_setting settings[SBOX_FACTS_SETTINGS_MAX];
    size_t setting_count;
    struct sbox_strv conf_names; /* of the environment, to which the settings refer */
    /* Those of sbox_home_programs that are there. A start would look for each absent one twice, for
     * a bind and for a rule: a tenth of its time (measured). */
    struct sbox_strv home_programs;
    char **hidden; /* root only: files below /etc that only root may read */
    size_t hidden_count;
    uid_t uid;
    gid_t gid;
};

/* What of $HOME may be shown, relative to it: toolchains and their settings (home_programs.c).
 * NULL-terminated. */
extern const char *const sbox_home_programs[];

int sbox_facts_gather(const char *home, struct sbox_facts *ret, struct sbox_error *err);
/* For a run with a network: fills hosts and hosts_text where /etc/hosts names more than this
 * machine (facts_hosts.c). 0 or -ENOMEM. */
int sbox_facts_hosts(struct sbox_facts *facts);
/* The rule, pure: appends what of `text` is shown on a machine of that name; true when that is not
 * all of it as it is. */
bool sbox_hosts_inside(const char *text, const char *host, struct sbox_buf *out);

void sbox_facts_release(struct sbox_facts *facts);

/* The user's git settings (~/.gitconfig, ~/.config/git/config) reduced to an allowlist of keys that
 * name nobody's program and no credential; signing is switched off, since keys are not inside. NULL
 * when there are none. 0 or -ENOMEM. */
int sbox_facts_git_config(const char *home, char **ret);

/* Adds the settings of package clients: of $HOME (NULL: none) each one that exists, of the system
 * only those that hold secrets. 0 or -ENOMEM. */
int sbox_facts_conf(const char *home, struct sbox_facts *facts);

/* Adds to facts->hidden what lies below `top` (absolute) and is not for everybody to read. What
 * lies in such a directory is hidden with it. -E2BIG when there is more than can be listed: then
 * nothing may start, since the rest would be shown. */
int sbox_facts_hidden(const char *top, struct sbox_facts *facts, struct sbox_error *err);

#endif
