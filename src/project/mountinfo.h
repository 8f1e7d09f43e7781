/* /proc/PID/mountinfo (proc(5)): one mount a line, octal escapes in paths. */
#ifndef SBOX_PROJECT_MOUNTINFO_H
#define SBOX_PROJECT_MOUNTINFO_H

#include <stddef.h>

struct sbox_mount {
    unsigned id;
    unsigned parent;
    unsigned major, minor;
    char *root;    /* unescaped */
    char *point;   /* unescaped */
    char *options; /* per-mount options: "ro,nosuid,..." */
    char *fstype;
    char *super_options;
};

/* Calls `each` for every line; -EBADMSG for a line that is not understood. Works in
 * place: `data` (NUL-terminated at `size`) is cut and unescaped where it lies, so that no heap is
 * used and guard and init can call it; the strings live only during the call. */
typedef int sbox_mountinfo_each(const struct sbox_mount *mount, void *context);
int sbox_mountinfo_walk(char *data, size_t size, sbox_mountinfo_each *each, void *context);

#endif
