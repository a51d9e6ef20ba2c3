/* cmd_make.c - generated data sets, from the table of generators. */
#include <stdio.h>

#include "cli/command.h"
#include "regard/made.h"

typedef struct {
    char *output;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "output", offsetof(settings, output), "", "what is written begins with this name", 'o', NULL },
    RG_OPTION_END
};

enum { MOST_NAMES = 128 };

static const rg_generator *find(const char *name)
{
    const rg_generator *g = rg_generator_find(name);
    const char         *names[MOST_NAMES + 1];
    size_t              n = 0;
    if (g) return g;
    for (const rg_generator *const *all = rg_generator_all(); *all && n < MOST_NAMES; all++) names[n++] = (*all)->name;
    names[n] = NULL;
    const char *near = rg_nearest(name, names);
    if (near) rg_fail(RG_EINVAL, "there is no generator '%s'; did you mean %s?", name, near);
    else rg_fail(RG_EINVAL, "there is no generator '%s'; regard make lists them", name);
    return NULL;
}

static void list(void)
{
    for (const rg_generator *const *g = rg_generator_all(); *g; g++)
        printf("%s: %s\n    writes %s\n", (*g)->name, (*g)->summary, (*g)->writes);
}

/* The generator's own rows. What stands behind an option that is not known yet is taken for a word here: the first
 * word that names a generator is the one. */
static rg_status extend(rg_call *call)
{
    const rg_generator *g = NULL;
    for (size_t i = 0; !g && i < call->words.count; i++) g = rg_generator_find(call->words.items[i]);
    if (!g && call->words.count) return find(call->words.items[0]) ? RG_OK : RG_EINVAL;
    return g && g->options ? rg_call_add(call, g->name, g->options, g->options_bytes) : RG_OK;
}

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    if (!call->words.count) return list(), RG_OK;
    const rg_generator *g = find(call->words.items[0]);
    if (!g) return RG_EINVAL;
    if (call->words.count > 1)
        return rg_fail(RG_EINVAL, "one generator at a time; what is \"%s\"?", call->words.items[1]);
    if (!*s->output) return rg_fail(RG_EINVAL, "where to? -o OUT (%s writes %s)", g->name, g->writes);
    return g->write(s->output, g->options ? rg_call_values(call, g->options) : NULL);
}

const rg_command rg_command_make = {
    .name = "make",
    .summary = "generated data sets, from a seed",
    .arguments = "[NAME]",
    .details = "Without a NAME, what can be made. regard make NAME --help lists the options of one. The same options "
               "and seed give the same "
               "bytes.",
    .options = options,
    .size = sizeof(settings),
    .extend = extend,
    .run = run,
};
