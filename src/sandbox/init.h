/* The processes inside: init, which builds the sandbox and stays until its end, and the command.
 * Both run after clone: no heap, no stdio, no locks. They talk to the supervisor over one
 * SOCK_SEQPACKET pair, which is close-on-exec: the command never has it. */
#ifndef SBOX_SANDBOX_INIT_H
#define SBOX_SANDBOX_INIT_H

#include "confine/landlock.h"
#include "sandbox/plan.h"
#include "sandbox/policy.h"
#include "sandbox/view.h"

#include <signal.h>
#include <sys/resource.h>

/* How READY qualifies itself, as bits of its code. */
enum { SBOX_READY_TREES_RO = 1, SBOX_READY_CACHES_PLAIN = 2 };

enum sbox_init_event {
    SBOX_INIT_READY,     /* sealed; carries the descriptors of enum sbox_init_fd when guarded */
    SBOX_INIT_FAILED,    /* code: errno, text: the step */
    SBOX_INIT_EXEC,      /* code: errno of a failed execve */
    SBOX_INIT_STOPPED,   /* the command was stopped; code: the signal */
    SBOX_INIT_CONTINUED, /* and goes on */
    SBOX_INIT_DISCARDED, /* text: a file that was written into a locked tree */
    SBOX_INIT_LISTENS,   /* a server listens on a port nobody outside can reach; code: the port */
    SBOX_INIT_EXITED,    /* code: wait status; count: files discarded */
};

/* What the guard needs of init's namespaces; opened before init turns undumpable. */
enum sbox_init_fd { SBOX_INIT_USER_NS, SBOX_INIT_MOUNT_NS, SBOX_INIT_MOUNTINFO, SBOX_INIT_FDS };

struct sbox_init_message {
    int event;
    int code;
    uint64_t count;
    char text[1000];
};

/* Supervisor to init: a signal number for the command; 0: go. */
struct sbox_init_order {
    int signal;
};

struct sbox_init_context {
    const struct sbox_policy *policy;
    const struct sbox_plan *plan;
    int socket;           /* init's end */
    sigset_t mask;        /* the caller's signal mask, for the command */
    struct rlimit nofile; /* the caller's, for the command */
    uid_t uid;
    gid_t gid;
    int host_proc; /* the host's /proc, until the command's process has made its network */
    struct sbox_landlock landlock; /* the rule set: init fills it, the command enforces it */
    struct sbox_view view;
};

/* Never returns. */
void sbox_init_main(struct sbox_init_context *context) __attribute__((noreturn));
/* In init's child; `init`: its end of their socket, over which it sends the network namespace that
 * it made, and waits for a byte before it looks at the view. Never returns. */
void sbox_command_main(struct sbox_init_context *context, int init) __attribute__((noreturn));

void sbox_init_send(int socket, enum sbox_init_event event, int code, uint64_t count,
                    const char *text, const char *detail);

/* Lists what lies in the upper layers (discard.c); returns the count, sends the first few. */
uint64_t sbox_discard_report(const struct sbox_view *view, int socket);

#endif
