/* The extended attributes that matter: security.capability (file capabilities), POSIX ACLs, and
 * user.* (user.overlay.* steers an overlay that is mounted with userxattr). */
#ifndef SBOX_LOCK_XATTR_H
#define SBOX_LOCK_XATTR_H

#include "base/buf.h"
#include "base/sha256.h"

/* Of a descriptor that is open for reading. 1: *ret is the digest by docs/fingerprint.md; 0: none
 * that matter; -errno. `scratch` is reused between calls. */
int sbox_xattr_digest(int fd, struct sbox_sha256 *hash, struct sbox_buf *scratch,
                      struct sbox_digest *ret);

#endif
