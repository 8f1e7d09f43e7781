/* The guard: a process beside the sandbox, in its user and mount namespace but outside its pid
 * namespace, that watches what mounts cannot hold by themselves.
 *
 * The kernel drops a mount when somebody outside replaces or removes what it lies on: every editor
 * saves by renaming, `git config` too. The guard waits for changes of mountinfo (POLLPRI) and for
 * inotify events in the directories concerned; a mask is put back within about a millisecond, a
 * lost tree or git mount ends the run. In each `.git` it waits for names that git would obey on the
 * host (`commondir`, `config.worktree`, `hooks`, `config` when it was absent): they are removed,
 * and the run is ended. It looks for them once more when init is dead, so the supervisor must let
 * it end by itself. */
#ifndef SBOX_SANDBOX_GUARD_H
#define SBOX_SANDBOX_GUARD_H

#include "sandbox/plan.h"

struct sbox_guard_request {
    const struct sbox_plan *plan;
    int user_ns; /* descriptors of the sandbox's namespaces */
    int mount_ns;
    int mountinfo;  /* /proc/PID/mountinfo of init, opened before it turned undumpable: POLLPRI */
    int init_pidfd; /* killed when the run must end */
    int report;     /* SOCK_SEQPACKET to the supervisor: struct sbox_guard_message */
};

enum sbox_guard_event {
    SBOX_GUARD_READY,
    SBOX_GUARD_MASKED_AGAIN, /* path: a mask was put back */
    SBOX_GUARD_LOST,         /* path: a tree or git mount is gone; init was killed */
    SBOX_GUARD_PLANTED,      /* path: a forbidden name in .git was removed; init was killed */
    SBOX_GUARD_FAILED,       /* errno in code, stage in path; init was killed */
};

struct sbox_guard_message {
    int event;
    int code;
    char path[1000]; /* relative to the workspace, raw bytes, cut when longer */
};

/* The body of the forked guard process; returns its exit status, never for a long time. Wipes its
 * copy of the environment, clears dumpable, sets PDEATHSIG (after setns, which clears it), keeps
 * CAP_SYS_ADMIN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH only. Ends by itself when `report` is
 * closed, or shut down for writing, by the supervisor, after its last look. */
int sbox_guard_main(const struct sbox_guard_request *request);

#endif
