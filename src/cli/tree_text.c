#include "cli/tree_text.h"

#include "base/escape.h"
#include "cli/text.h"

const char *sbox_tree_kind_text(enum sbox_tree_kind kind)
{
    switch (kind) {
    case SBOX_TREE_NODE_MODULES:
        return "node_modules";
    case SBOX_TREE_VENV:
        return "venv";
    case SBOX_TREE_VENDOR:
        return "vendor";
    case SBOX_TREE_YARN:
        return "yarn";
    }
    return "unknown";
}

void sbox_json_paths(struct sbox_json *j, const char *key, char *const *paths, size_t count)
{
    sbox_json_array(j, key);
    for (size_t i = 0; i < count; i++) {
        sbox_json_object(j, NULL);
        sbox_json_path(j, "path", paths[i], strlen(paths[i]));
        sbox_json_end_object(j);
    }
    sbox_json_end_array(j);
}

void sbox_json_digest(struct sbox_json *j, const char *key, const struct sbox_digest *digest)
{
    char hex[2 * SBOX_SHA256_SIZE + 1];
    sbox_json_string(j, key, sbox_text_hex(digest, hex));
}

void sbox_json_time(struct sbox_json *j, const char *key, int64_t seconds)
{
    char text[SBOX_TEXT_SIZE];
    sbox_json_string(j, key, sbox_text_utc(seconds, text));
}

void sbox_text_caches(struct sbox_buf *out, char *const *caches, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sbox_buf_addf(out, "%s%s", i == 0 ? "caches, not part of the lock: " : ", ",
                      sbox_esc(caches[i]));
    if (count > 0)
        sbox_buf_add_byte(out, '\n');
}
