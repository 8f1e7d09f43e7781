/* sbox-layers-off: `sbox run` with layers taken out, for the tests that show what each one holds.
 * It is built from the same libraries and differs in its main only: production code has no switch.
 *
 *     sbox-layers-off --list
 *     sbox-layers-off [--off=landlock,seccomp] [RUN OPTIONS] COMMAND...
 */
#include "cli/cli.h"
#include "cli/run.h"

#include <stdint.h>

struct off {
    bool layers[SBOX_LAYER_COUNT];
};

static void drop_layers(struct sbox_plan *plan, void *context)
{
    const struct off *off = context;
    for (int i = 0; i < SBOX_LAYER_COUNT; i++)
        if (off->layers[i])
            sbox_plan_drop_layer(plan, (enum sbox_layer)i);
}

static int list(void)
{
    for (int i = 0; i < SBOX_LAYER_COUNT; i++)
        if (i != SBOX_LAYER_CORE)
            (void)puts(sbox_layer_name((enum sbox_layer)i));
    return 0;
}

static bool parse(char *names, struct off *off)
{
    for (char *name = names; name;) {
        char *comma = strchr(name, ',');
        if (comma)
            *comma++ = '\0';
        int layer = sbox_layer_by_name(name);
        if (layer < 0)
            return false;
        off->layers[layer] = true;
        name = comma;
    }
    return true;
}

int main(int argc, char **argv)
{
    static const char option[] = "--off=";
    struct off off = {{false}};
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list();
    bool some = argc > 1 && sbox_str_starts(argv[1], option);
    if (argc < 2 || (some && !parse(argv[1] + strlen(option), &off))) {
        (void)fputs("usage: sbox-layers-off --list | [--off=LAYER[,LAYER]] COMMAND...\n", stderr);
        return SBOX_EXIT_FAILED;
    }
    struct sbox_options options = {0};
    struct sbox_usage usage = {0};
    if (some)
        argv[1] = argv[0];
    int r = sbox_options_parse(argc - some, argv + some, &options, &usage);
    if (r < 0 || options.verb != SBOX_VERB_RUN) {
        (void)fprintf(stderr, "sbox-layers-off: %s\n", usage.error.message);
        return SBOX_EXIT_FAILED;
    }
    struct sbox_run_changes changes = {
        .filter = drop_layers,
        .context = &off,
        .keep_environment = off.layers[SBOX_LAYER_ENVIRONMENT],
    };
    int status = sbox_run_with(&options, &changes);
    sbox_options_release(&options);
    return status;
}
