/* Hosts in a lockfile or a config: each one found is HOST:PORT, in small letters, with nothing in
 * it that an allowlist could read otherwise. The first byte chooses the reader. */
#include "project/hosts.h"

#include <ctype.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check(const char *host, bool setting, void *context)
{
    size_t *count = context;
    const char *colon = strrchr(host, ':');
    if (!colon || colon == host || strlen(host) >= SBOX_HOST_PORT_SIZE)
        abort();
    for (const char *c = colon + 1; *c; c++)
        if (!isdigit((unsigned char)*c))
            abort();
    for (const char *c = host; c < colon; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && !strchr("-._[]:", *c))
            abort();
    *count += setting;
    return ++*count > 1000 ? -ECANCELED : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {"registry", "url", "--index-url", NULL};
    const struct sbox_hosts_reader readers[] = {
        {keys, "registry", false}, {keys, "registry", true}, {NULL, "--index-url", false}};
    size_t count = 0;
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    if (data[0] % 5 < 3)
        (void)sbox_hosts_in_lines(&readers[data[0] % 5], text, size - 1, check, &count);
    else if (data[0] % 5 == 3)
        (void)sbox_hosts_in_git(text, size - 1, check, &count);
    else
        (void)sbox_hosts_in_value(text, size - 1, true, check, &count);
    return 0;
}
