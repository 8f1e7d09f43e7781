/* sbox-gendocs: a build-time program. `sbox-gendocs man TEMPLATE | bash | zsh | fish` writes to
 * standard output. */
#include "base/error.h"
#include "base/fd.h"
#include "cli/docs/docs.h"

#include <fcntl.h>
#include <unistd.h>

enum { TEMPLATE_MAX = 1 << 20 };

static int make_man(const char *path, struct sbox_buf *out)
{
    char *text = NULL;
    size_t size = 0;
    int r = sbox_read_file_at(AT_FDCWD, path, TEMPLATE_MAX, &text, &size);
    if (r == 0)
        r = sbox_docs_man(text, out);
    free(text);
    return r;
}

static int make(int argc, char **argv, struct sbox_buf *out)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "man") == 0 && argc == 3)
        return make_man(argv[2], out);
    if (strcmp(what, "bash") == 0)
        sbox_docs_bash(out);
    else if (strcmp(what, "zsh") == 0)
        sbox_docs_zsh(out);
    else if (strcmp(what, "fish") == 0)
        sbox_docs_fish(out);
    else
        return -EINVAL;
    return 0;
}

int main(int argc, char **argv)
{
    struct sbox_buf out = {0};
    int r = make(argc, argv, &out);
    if (r == 0)
        r = sbox_buf_failed(&out) ? -ENOMEM : sbox_write_full(STDOUT_FILENO, out.data, out.size);
    sbox_buf_release(&out);
    if (r < 0)
        (void)fprintf(stderr, "sbox-gendocs: %s\n", strerror(-r));
    return r < 0;
}
