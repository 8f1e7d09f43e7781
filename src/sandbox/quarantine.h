/* After a run, before sbox returns: repositories that the command made, and that would make a plain
 * `git status` on the host run something, are moved out of the workspace.
 *
 * New means: its `.git` was not there before, or is another file. Its config may hold keys of an
 * allowlist only (project/git.h), its hooks may be git's samples only, and it may not borrow
 * another directory's config (commondir, config.worktree). A new repository that keeps to that
 * stays. New dependency trees, and those that git tracks, are looked through as well.
 * Submodules' repositories below .git/modules are judged alike, and so is what a `.git` file
 * leads to inside the project's own repository. */
#ifndef SBOX_SANDBOX_QUARANTINE_H
#define SBOX_SANDBOX_QUARANTINE_H

#include "sandbox/policy.h"

/* `protects`: what the run could not change, so is not judged again. Moves into
 * `project_dirfd`/quarantine/; where that is another file system the repository is renamed in place
 * to a name that git does not obey. Adds the path of each to *ret_moved. With `project_dirfd` -1
 * nothing is moved, and -ENOTDIR says that something must be. 0 or another -errno: then it is not
 * known what the command left. */
int sbox_quarantine_run(const struct sbox_root *root, const struct sbox_scan *before,
                        const struct sbox_protect *protects, size_t protect_count,
                        int project_dirfd, struct sbox_strv *ret_moved, struct sbox_error *err);

/* Does the repository in directory `git` make git execute nothing? For tests. */
bool sbox_repository_harmless(int git);

#endif
