/* cmd_reproduce.c - experiments by name. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/training.h"
#include "regard/lab.h"

static const rg_experiment *find(const rg_call *call)
{
    for (const rg_experiment *const *e = rg_experiment_all(); call->words.count && *e; e++)
        if (!strcmp((*e)->name, call->words.items[0])) return *e;
    return NULL;
}

/* The options are those of the experiment that is named. */
static rg_status extend(rg_call *call)
{
    const rg_experiment *e = find(call);
    return e && e->options ? rg_call_add(call, e->name, e->options, e->size) : RG_OK;
}

/* A training of an experiment looks as one of `regard train`. */
static rg_status learn(void *context, rg_learned *out, const rg_training *training, const char *log)
{
    rg_console console;
    (void)context;
    RG_TRY(rg_console_open(&console, log, training->learning->overwrite, false));
    console.unit = training->system->task->unit;
    const rg_train_report report = rg_console_report(&console);
    rg_training           watched = *training;
    watched.report = &report;
    const rg_status status = rg_learn(NULL, out, &watched);
    rg_console_close(&console);
    return status;
}

static rg_status unknown(const char *name)
{
    const char *names[64] = { NULL };
    size_t      count = 0;
    for (const rg_experiment *const *e = rg_experiment_all(); *e && count < 63; e++) names[count++] = (*e)->name;
    const char *near = rg_nearest(name, names);
    return rg_fail(RG_EINVAL, "there is no experiment '%s'; %s%s", name,
                   near ? "did you mean " : "regard reproduce lists them", near ? near : "");
}

static rg_status run(rg_call *call)
{
    const rg_experiment *e = find(call);
    const rg_lab         lab = { .out = stdout, .notes = stderr, .learn = learn };
    bool                 holds = true;
    if (call->words.count == 0) {
        for (const rg_experiment *const *each = rg_experiment_all(); *each; each++)
            printf("%-12s %s\n%-12s %s\n", (*each)->name, (*each)->summary, "", (*each)->source);
        return RG_OK;
    }
    if (call->words.count > 1) return rg_fail(RG_EINVAL, "one experiment at a time; %zu are named", call->words.count);
    if (!e) return unknown(call->words.items[0]);
    RG_TRY(rg_experiment_run(&holds, e, &lab, e->options ? rg_call_values(call, e->options) : NULL));
    if (!holds) call->exit_code = 1;
    return RG_OK;
}

const rg_command rg_command_reproduce = {
    .name = "reproduce",
    .summary = "measure what papers and lectures claim; without a name, list the experiments",
    .arguments = "[NAME]",
    .details =
        "regard reproduce NAME --help lists the options of an experiment. The exit code is 1 when the claim does not "
        "hold.",
    .extend = extend,
    .run = run,
};
