/* Shared by guard.c (mounts, the loop) and guard_git.c. */
#ifndef SBOX_SANDBOX_GUARD_IMPL_H
#define SBOX_SANDBOX_GUARD_IMPL_H

#include "sandbox/guard.h"

enum { SBOX_GUARD_NAMES = 4 };

/* A mount inside the workspace: the directory above it, held open, and its name. */
struct sbox_guard_mount {
    const struct sbox_step *step;
    int parent;
    const char *name; /* last component of step->target */
};

/* A directory of git's in which certain names must not appear. */
struct sbox_guard_git {
    int fd;
    const char *path;
    bool absent[SBOX_GUARD_NAMES]; /* the forbidden names that were not there at the start */
};

struct sbox_guard {
    const struct sbox_guard_request *request;
    int workspace;
    int inotify;
    struct sbox_guard_mount *mounts;
    size_t mount_count;
    struct sbox_guard_git *git;
    size_t git_count;
    bool missing; /* a masked file is absent right now */
};

void sbox_guard_kill(const struct sbox_guard *g);
/* To the supervisor; waits for it when it is slow to read. */
void sbox_guard_report(const struct sbox_guard *g, enum sbox_guard_event event, int code,
                       const char *path);
/* Events of names that appear in directory `dir`: 0 or -errno. */
int sbox_guard_watch(const struct sbox_guard *g, int dir);

/* Watches the git directory of a PIN step. */
int sbox_guard_git_add(struct sbox_guard *g, const struct sbox_step *step);
/* Is `name` one that git must not find? */
bool sbox_guard_git_forbids(const char *name);
/* Is there a forbidden name? Then it is put out of git's sight and its path is in ret[size]. */
bool sbox_guard_git_sweep(const struct sbox_guard *g, char *ret, size_t size);
/* Removes what a sweep put aside. */
void sbox_guard_git_clear(const struct sbox_guard *g);

#endif
