/* cmd_reproduce.c - experiments by name. */
#include <stdio.h>
#include <string.h>

#include "cli/reproduce/experiment.h"

/* One word a line. */
#define RG_EXPERIMENTS(X) \
    X(table1) \
    X(gat) \
    X(ntm) \
    X(multi30k)

#define DECLARE(name) extern const rg_experiment rg_experiment_##name;
#define ENTRY(name)   &rg_experiment_##name,
RG_EXPERIMENTS(DECLARE)
static const rg_experiment *const table[] = {RG_EXPERIMENTS(ENTRY) NULL};
enum { COUNT = sizeof table / sizeof *table - 1 };

static const rg_experiment *find(const rg_call *call)
{
    for (size_t i = 0; call->words.count && i < COUNT; i++)
        if (!strcmp(table[i]->name, call->words.items[0])) return table[i];
    return NULL;
}

/* The options are those of the experiment that is named. */
static rg_status extend(rg_call *call)
{
    const rg_experiment *e = find(call);
    return e && e->options ? rg_call_add(call, e->name, e->options, e->size) : RG_OK;
}

static rg_status run(rg_call *call)
{
    const rg_experiment *e = find(call);
    if (call->words.count == 0) {
        for (size_t i = 0; i < COUNT; i++) printf("%-12s %s\n%-12s %s\n", table[i]->name, table[i]->summary, "", table[i]->source);
        return RG_OK;
    }
    if (call->words.count > 1) return rg_fail(RG_EINVAL, "one experiment at a time; %zu are named", call->words.count);
    if (e) return e->run(call, e->options ? rg_call_values(call, e->options) : NULL);
    const char *names[COUNT + 1] = { NULL };
    for (size_t i = 0; i < COUNT; i++) names[i] = table[i]->name;
    const char *near = rg_nearest(call->words.items[0], names);
    return rg_fail(RG_EINVAL, "there is no experiment '%s'; %s%s", call->words.items[0],
                   near ? "did you mean " : "regard reproduce lists them", near ? near : "");
}

const rg_command rg_command_reproduce = {
    .name = "reproduce",
    .summary = "measure what papers and lectures claim; without a name, list the experiments",
    .arguments = "[NAME]",
    .details = "regard reproduce NAME --help lists the options of an experiment. The exit code is 1 when the claim does not "
               "hold.",
    .extend = extend,
    .run = run,
};
