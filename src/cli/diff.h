/* The two sides of one difference, and how they are shown. */
#ifndef SBOX_CLI_DIFF_H
#define SBOX_CLI_DIFF_H

#include "cli/extract.h"
#include "cli/json.h"
#include "lock/finder.h"
#include "lock/verify.h"

struct sbox_diff_side {
    bool there;
    uint8_t type; /* enum sbox_entry_type */
    uint16_t mode;
    uint64_t size;             /* of a file */
    struct sbox_digest digest; /* of a file */
    char *target;              /* of a link */
    int content;               /* of a text file that is not too long: a memfd; else -1 */
};

struct sbox_diff_entry {
    const struct sbox_verified_tree *tree;
    const struct sbox_difference *difference;
    char *path; /* from the project's root */
    struct sbox_diff_side was;
    struct sbox_diff_side is;
    char *note; /* why there is no text where there could be one; NULL */
};

enum { SBOX_DIFF_TEXT_MAX = 1 << 20 };

/* Fills `was` from the lock; with `content` also what was in the file. -ENODATA: there is no copy;
 * all else is filled in. */
int sbox_diff_was(struct sbox_extract *extract, struct sbox_finder *finder, const char *path,
                  bool content, struct sbox_diff_side *ret, struct sbox_error *err);
/* Fills `is` from what lies there now. */
int sbox_diff_is(int tree, const char *path, bool content, struct sbox_diff_side *ret,
                 struct sbox_error *err);
void sbox_diff_entry_release(struct sbox_diff_entry *e);

/* The unified diff of two texts (either side may be missing), made by diff(1) in a sandbox. *ret is
 * raw: it has to be escaped. -ETIMEDOUT, -EIO ... */
int sbox_diff_run(const struct sbox_diff_entry *e, struct sbox_buf *ret, bool *ret_cut);

/* Appends an entry: a line, then the text. */
void sbox_diff_text(struct sbox_buf *out, const struct sbox_diff_entry *e,
                    const struct sbox_buf *diff, bool cut);
void sbox_diff_json(struct sbox_json *j, const struct sbox_diff_entry *e,
                    const struct sbox_buf *diff, bool cut);

#endif
