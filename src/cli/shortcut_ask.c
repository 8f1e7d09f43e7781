/* Asking a client for its registry. It is a program like any other, and the answer is only as good
 * as what it reads: so it runs in a sandbox (sandboxed.h), bounded in size and time. */
#include "base/cleanup.h"
#include "cli/sandboxed.h"
#include "cli/shortcut.h"

enum { ANSWER_MAX = 32768, ANSWER_MS = 20000 };

int sbox_shortcut_ask_client(const char *const *argv, char **ret_text)
{
    _cleanup_buf_ struct sbox_buf out = {0};
    struct sbox_sandboxed request = {
        .argv = argv, .output_max = ANSWER_MAX, .milliseconds = ANSWER_MS};
    int r = sbox_sandboxed_run(&request, &out);
    if (r < 0)
        return r;
    *ret_text = sbox_buf_take_str(&out);
    return *ret_text ? 0 : -ENOMEM;
}
