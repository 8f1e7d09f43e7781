/* Carrying out the plan's SETUP and SEALED steps, in the process that becomes init.
 *
 * All of this runs after clone: no heap, no stdio, no locks. A failure is reported as a step and an
 * errno, so that the supervisor can say which. Sources: mount_setattr(2), move_mount(2),
 * open_tree(2), pivot_root(2), the kernel's overlayfs.rst.
 */
#ifndef SBOX_SANDBOX_VIEW_H
#define SBOX_SANDBOX_VIEW_H

#include "confine/landlock.h"
#include "sandbox/plan.h"

enum { SBOX_OVERLAYS_MAX = 256 };

struct sbox_view {
    int root;      /* the new root */
    int scratch;   /* the directory that holds everything that is thrown away */
    int covers;    /* the directory that SBOX_HIDDEN_* lie below */
    int workspace; /* the workspace in the new root, once it is mounted; else -1 */
    unsigned scratch_dirs;
    unsigned texts;              /* made so far by sbox_view_text */
    struct sbox_landlock *rules; /* gets a rule for each part of the view; NULL: none wanted */
    struct {
        int upper;        /* what the command wrote into the tree */
        const char *path; /* of the tree, relative to the workspace */
    } overlays[SBOX_OVERLAYS_MAX];
    size_t overlay_count;
    bool read_only_trees; /* no overlay could be made: trees are read-only (kernel below 6.6) */
    bool plain_caches;    /* the same for caches: the private ones alone, or read-only */
};

/* Where it failed: borrowed from the plan. */
struct sbox_failure {
    const char *stage;
    const char *path; /* may be NULL */
};

/* Makes the new root from the SETUP steps, adds their Landlock rules, and pivots into it. 0 or
 * -errno.
 */
int sbox_view_build(const struct sbox_plan *plan, struct sbox_view *view,
                    struct sbox_failure *failure);

/* The SEALED steps; then looks at each protected path once more by its name and compares what is
 * mounted there (-ESTALE: another sandbox renamed directories meanwhile), and makes the root
 * read-only. */
int sbox_view_seal(const struct sbox_plan *plan, struct sbox_view *view,
                   struct sbox_failure *failure);

/* Pieces shared by view.c, sealed.c and guard.c. */

/* A detached copy of the mount at `path` below `dirfd` with attributes added; descriptor or -errno.
 * `flags`: AT_RECURSIVE, AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW. */
int sbox_mount_clone(int dirfd, const char *path, unsigned flags, uint64_t attr);
/* Puts a detached mount onto the file or directory that `target` is open on. */
int sbox_mount_onto(int mount_fd, int target_fd);
/* A detached mount of a small file that holds `text`; descriptor or -errno. Until the root is made
 * read-only. */
int sbox_view_text(struct sbox_view *view, const char *text, uint64_t attr);
/* A SEALED step's target, reopened below the workspace; -ESTALE when it is not what was scanned. */
int sbox_sealed_open(int workspace_fd, const char *path, struct sbox_fileid id);
/* Covers an open file, link or directory so that it reads as empty. */
int sbox_mask_apply(int target_fd, mode_t mode);
/* Is `path` covered by a mask right now? 1, 0, or -errno (-ENOENT when nothing is there). */
int sbox_mask_holds(int workspace_fd, const char *path);

/* Layers (layers.c): an upper directory and overlayfs's work directory, named so that mount finds
 * them while `fd`, the upper one, is open. */
struct sbox_layer_pair {
    int fd;
    char upper[96];
    char work[96];
};
/* A fresh pair that is thrown away with the sandbox. */
int sbox_layers_scratch(struct sbox_view *view, mode_t mode, struct sbox_layer_pair *ret);
/* Can this file system hold an upper layer? */
bool sbox_layers_possible(int upper_fd);
/* A detached overlay; `lower` as the mount option lowerdir takes it. Descriptor or -errno. */
int sbox_layers_mount(const char *lower, const struct sbox_layer_pair *pair, uint64_t attr);
/* What a LAYERS step mounts, detached. Descriptor or -errno. */
int sbox_layers_step(struct sbox_view *view, const struct sbox_step *step);

/* One place inside for hidden things: an empty file and an empty directory nobody may open. */
#define SBOX_HIDDEN_FILE ".sbox/file"
#define SBOX_HIDDEN_DIR  ".sbox/dir"
#define SBOX_EMPTY_DIR   ".sbox/empty"
/* What is thrown away; mode 0, so that it is seen only where it is bound to. */
#define SBOX_SCRATCH_DIR ".sbox/scratch"
/* Texts that stand in for files: a number follows. */
#define SBOX_TEXT_FILE ".sbox/text-"

#endif
