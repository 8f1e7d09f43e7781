/* Names that mean something to the scan. Pure. */
#include "project/scan.h"

#include "base/strv.h"

#include <ctype.h>
#include <strings.h>

const char *const sbox_tree_caches[] = {".cache", ".vite", ".vite-temp", ".vitest", ".turbo", NULL};

bool sbox_is_tree_cache(const char *name)
{
    for (size_t i = 0; sbox_tree_caches[i]; i++)
        if (strcmp(name, sbox_tree_caches[i]) == 0)
            return true;
    return false;
}

bool sbox_scan_is_secret_name(const char *name)
{
    if (name[0] == '#') /* an editor's auto-save: #.env# */
        name++;
    else if (name[0] == '.' && name[1] == '#') /* an editor's lock: .#.env */
        name += 2;
    if (strncasecmp(name, ".env", 4) != 0)
        return false;
    name += 4;
    if (strncasecmp(name, "rc", 2) == 0)
        name += 2;
    return !isalnum((unsigned char)*name);
}

bool sbox_scan_is_template_name(const char *name)
{
    static const char *const endings[] = {"example", "sample", "template", "dist", "defaults"};
    if (strncmp(name, ".env.", 5) != 0)
        return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(name + 5, endings[i]) == 0)
            return true;
    return false;
}
