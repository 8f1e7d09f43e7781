/* Readers of what git leaves in a workspace. All bytes come from outside: bounded, no recursion on
 * their word, refuse what is not understood. sbox never runs git on the host side. */
#ifndef SBOX_PROJECT_GIT_H
#define SBOX_PROJECT_GIT_H

#include "base/error.h"
#include "base/strv.h"

#include <stddef.h>

/* A `.git` file: "gitdir: PATH\n" (gitrepository-layout(5)). *ret_path is what stands there, with
 * the newline gone; -EBADMSG for anything else. At most 4096 + 16 bytes. */
int sbox_git_file_parse(const char *data, size_t size, char **ret_path);

/* The index (gitformat-index(5)), versions 2 to 4, SHA-1 and SHA-256 repositories (hash_size 20 or
 * 32). Calls `each` with every entry's path (not NUL-terminated) and mode; a negative return stops
 * the walk and is returned. -EBADMSG for what is not understood. */
typedef int sbox_git_index_each(const char *path, size_t size, unsigned mode, void *context);
int sbox_git_index_walk(const void *data, size_t size, size_t hash_size, sbox_git_index_each *each,
                        void *context, struct sbox_error *err);

/* git-config(1) syntax: calls `each` with "section.key" or "section.subsection.key" (section and
 * key lower-cased), value NULL when there is no "=". -EBADMSG for what is not understood. */
typedef int sbox_git_config_each(const char *key, const char *value, void *context);
int sbox_git_config_walk(const char *data, size_t size, sbox_git_config_each *each, void *context);

/* Pure: may a repository config that a sandboxed command wrote carry this key? An allowlist of keys
 * that make git neither execute nor read anything (core.bare, remote.*.url of a plain URL ...). */
bool sbox_git_config_key_harmless(const char *key, const char *value);

#endif
