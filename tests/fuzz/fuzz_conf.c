/* The first byte names the syntax. What is left of a file holds no secret that was found, and is
 * found clean; what is clean is not changed. */
#include "base/banned.h"

#include "project/conf.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(enum sbox_conf_syntax syntax, const char *text)
{
    struct sbox_conf c = {.verdict = SBOX_CONF_CLEAN};
    if (sbox_conf_filter(syntax, text, strlen(text), &c) == 0 && c.verdict != SBOX_CONF_CLEAN)
        abort();
    sbox_conf_release(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sbox_conf c = {.verdict = SBOX_CONF_CLEAN};
    if (size == 0)
        return 0;
    enum sbox_conf_syntax syntax = data[0] % (SBOX_CONF_CREDENTIALS + 1);
    if (sbox_conf_filter(syntax, (const char *)data + 1, size - 1, &c) < 0)
        return 0;
    if ((c.verdict == SBOX_CONF_FILTERED) != (c.text != NULL))
        abort();
    if (c.text)
        check_again(syntax, c.text);
    sbox_conf_release(&c);
    return 0;
}
