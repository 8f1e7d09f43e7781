#include "base/args.h"

#include "base/banned.h"

static char *args_begin;
static char *args_end;

void sbox_args_remember(int argc, char **argv)
{
    if (argc < 1)
        return;
    args_begin = argv[0];
    args_end = argv[argc - 1] + strlen(argv[argc - 1]);
}

void sbox_args_replace(const char *title)
{
    if (!args_begin || args_end <= args_begin)
        return;
    size_t room = (size_t)(args_end - args_begin);
    size_t n = strlen(title) < room ? strlen(title) : room;
    explicit_bzero(args_begin, room);
    memcpy(args_begin, title, n);
}
