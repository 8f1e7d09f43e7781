/* Words and JSON that lock, verify and status share. */
#ifndef SBOX_CLI_TREE_TEXT_H
#define SBOX_CLI_TREE_TEXT_H

#include "base/sha256.h"
#include "cli/json.h"
#include "project/scan.h"

const char *sbox_tree_kind_text(enum sbox_tree_kind kind); /* "node_modules", "venv" ... */
/* An array of {"path":...}: a name may need its path_b64 beside it. */
void sbox_json_paths(struct sbox_json *j, const char *key, char *const *paths, size_t count);
void sbox_json_digest(struct sbox_json *j, const char *key, const struct sbox_digest *digest);
void sbox_json_time(struct sbox_json *j, const char *key, int64_t seconds);
/* "not recorded: node_modules/.cache, ..." as one line of text; nothing when there are none. */
void sbox_text_caches(struct sbox_buf *out, char *const *caches, size_t count);

#endif
