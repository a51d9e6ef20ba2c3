/* fuzz_settings.c - any bytes as a YAML file of settings: refused with its line, or read to values that survive
 * writing and reading again (P1). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/seams.h"
#include "regard/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

typedef struct settings {
    int64_t steps, seed;
    double  rate, share;
    char   *model, *kind;
    bool    tied;
    rg_list sets;
} settings;

static const rg_option rows[] = {
    { RG_OPTION_INT, "steps", offsetof(settings, steps), "1000", "optimiser steps", 0, "[1,inf)" },
    { RG_OPTION_INT, "seed", offsetof(settings, seed), "1", "seed", 0, NULL },
    { RG_OPTION_REAL, "learn-rate", offsetof(settings, rate), "1e-3", "learning rate", 0, NULL },
    { RG_OPTION_REAL, "share", offsetof(settings, share), "0.25", "share", 0, "[0,1)" },
    { RG_OPTION_STRING, "model", offsetof(settings, model), "", "model file", 'm', NULL },
    { RG_OPTION_STRING, "kind", offsetof(settings, kind), "dot", "score", 0, "dot|general|additive" },
    { RG_OPTION_BOOL, "tied", offsetof(settings, tied), "false", "share embeddings", 0, NULL },
    { RG_OPTION_LIST, "sets", offsetof(settings, sets), "", "files", 0, NULL },
    RG_OPTION_END,
};

static void must(bool condition)
{
    if (!condition) abort();
}

/* Whatever was read, every value is one its row allows. */
static void check(const settings *s)
{
    must(s->steps >= 1 && isfinite(s->rate) && s->share >= 0 && s->share < 1 && s->model);
    must(!strcmp(s->kind, "dot") || !strcmp(s->kind, "general") || !strcmp(s->kind, "additive"));
    for (size_t i = 0; i < s->sets.count; i++) must(s->sets.items[i] != NULL);
}

static void read_again(const char *yaml)
{
    settings              s = { 0 };
    const rg_option_group group = { .rows = rows, .values = &s };
    must(rg_options_init(rows, &s) == RG_OK);
    must(rg_options_read_yaml(&group, 1, yaml, strlen(yaml), "again", false) == RG_OK);
    char *same = rg_options_yaml(&group, 1);
    must(same && !strcmp(same, yaml));
    rg_free(same);
    rg_options_fini(rows, &s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const size_t          blocks = rg_base__live_blocks();
    settings              s = { 0 };
    const rg_option_group group = { .rows = rows, .values = &s };
    must(rg_options_init(rows, &s) == RG_OK);
    if (rg_options_read_yaml(&group, 1, (const char *)bytes, count, "input", count % 2) == RG_OK) {
        char *yaml = rg_options_yaml(&group, 1);
        must(yaml != NULL);
        read_again(yaml);
        rg_free(yaml);
    } else {
        must(!strncmp(rg_message(), "input: line ", 12));
    }
    check(&s);
    rg_options_fini(rows, &s);
    must(rg_base__live_blocks() == blocks);
    return 0;
}
