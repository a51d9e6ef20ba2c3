/* cmd_gradients.c - the picture of vanishing gradients, shown like any record. */
#include "cli/command.h"
#include "cli/show.h"

#include <stddef.h>

#include "regard/view.h"

typedef struct gradients_options {
    int64_t steps, width, seed;
    double  gain;
    char   *output;
} gradients_options;

static const rg_option rows[] = {
    { RG_OPTION_INT, "steps", offsetof(gradients_options, steps), "128", "time steps", 0, "[1,inf)" },
    { RG_OPTION_INT, "units", offsetof(gradients_options, width), "64", "units of each network", 0, "[1,inf)" },
    { RG_OPTION_REAL, "gain", offsetof(gradients_options, gain), "0.9", "spectral radius of the recurrent weights", 0, NULL },
    { RG_OPTION_INT, "seed", offsetof(gradients_options, seed), "1", "random seed", 0, "[0,inf)" },
    { RG_OPTION_STRING, "output", offsetof(gradients_options, output), "", "write the record to this file", 'o', NULL },
    RG_OPTION_END,
};

extern const rg_command rg_command_show;

static rg_status extend(rg_call *call)
{
    return rg_call_add(call, "Showing", rg_command_show.options, rg_command_show.size);
}

static rg_status run(rg_call *call)
{
    const gradients_options *o = call->options;
    rg_gradients_options     g = { (size_t)o->steps, (size_t)o->width, o->gain, (uint64_t)o->seed };
    rg_status                status;
    rg_record               *r = NULL;

    if (call->words.count) return rg_fail(RG_EINVAL, "no words are expected, %zu given", call->words.count);
    RG_TRY(rg_gradients_record(&r, &g));
    status = *o->output ? rg_record_save(r, o->output) : rg_cli_show_record(r, rg_call_values(call, rg_command_show.options));
    rg_record_free(r);
    return status;
}

const rg_command rg_command_gradients = {
    .name = "gradients",
    .summary = "show how gradients vanish over time steps in an RNN, an LSTM and a GRU",
    .details = "Networks with random weights run over random inputs; the loss stands at the last step, and the norm of its "
               "gradient at each step before is drawn. Figures: --style curves or matrix; --html has both.",
    .options = rows,
    .size = sizeof(gradients_options),
    .extend = extend,
    .run = run,
};
