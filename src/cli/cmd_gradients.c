/* cmd_gradients.c - pictures of gradients: over time and depth in networks with random weights, over the inputs of a
 * trained model. */
#include "cli/command.h"
#include "cli/show.h"

#include <stddef.h>

#include "regard/task.h"
#include "regard/view.h"

typedef struct gradients_options {
    int64_t steps, width, seed, depth, distance;
    double  gain;
    bool    contributions;
    char   *output, *model, *text, *activation, *remedy;
} gradients_options;

#define AT(field) offsetof(gradients_options, field)
static const rg_option rows[] = {
    { RG_OPTION_STRING, "model", AT(model), "", "a trained model: how far back its answers depend on what it read", 'm',
      NULL },
    { RG_OPTION_STRING, "text", AT(text), "-", "-m: the file it reads; translators: lines of source TAB target", 0,
      NULL },
    { RG_OPTION_INT, "distance", AT(distance), "64", "-m: the farthest input that is looked at", 0, "[1,4096]" },
    { RG_OPTION_INT, "steps", AT(steps), "128", "time steps", 0, "[1,inf)" },
    { RG_OPTION_INT, "depth", AT(depth), "0", "a network of so many layers instead of time steps", 0, "[0,4096]" },
    { RG_OPTION_INT, "units", AT(width), "64", "units of each network", 0, "[1,inf)" },
    { RG_OPTION_REAL, "gain", AT(gain), "0", "spectral radius of the weights; 0: 0.9 over time, 0.577 over depth", 0,
      "[0,1000]" },
    { RG_OPTION_STRING, "activation", AT(activation), "tanh", "of the plain network and of the deep one", 0,
      "tanh|relu|sigmoid|linear" },
    { RG_OPTION_STRING, "remedy", AT(remedy), "none", "against vanishing (batchnorm needs --depth) and exploding", 0,
      "none|batchnorm|orthogonal|clip" },
    { RG_OPTION_BOOL, "contributions", AT(contributions), "false",
      "the terms of backpropagation through time, loss t by step k (at most 256 steps)", 0, NULL },
    { RG_OPTION_INT, "seed", AT(seed), "1", "random seed", 0, "[0,inf)" },
    { RG_OPTION_STRING, "output", AT(output), "", "write the record to this file", 'o', NULL },
    RG_OPTION_END,
};

extern const rg_command rg_command_show;

/* The rows of show, but for its -m. */
static rg_status extend(rg_call *call)
{
    return rg_call_add(call, "Showing", rg_command_show.options + 1, rg_command_show.size);
}

static rg_status of_model(rg_record **out, const gradients_options *o)
{
    const rg_list     none = { 0 };
    const rg_sink     sink = { 0 };
    const rg_question q = { .words = &none, .input = o->text, .threads = 1, .sink = &sink };
    rg_influence     *influence = NULL;
    rg_model         *model = NULL;
    RG_TRY(rg_model_load(&model, o->model, NULL));
    const rg_task *task = model->system->task;
    rg_status      status =
        task->influence ? rg_influence_new(&influence, model, (size_t)o->distance)
                             : rg_fail(RG_EMATCH, "%s: a model for '%s' reads no sequence of texts", o->model, task->name);
    if (status == RG_OK) status = task->influence(influence, model, &q);
    if (status == RG_OK) status = rg_influence_record(out, influence);
    if (status != RG_OK && !rg_message_names(o->model) && !rg_message_names(o->text))
        rg_fail_in(status, "%s: ", o->text);
    rg_influence_free(influence);
    rg_model_free(model);
    return status;
}

static rg_status run(rg_call *call)
{
    const gradients_options *o = call->options;
    rg_gradients_options     g = { (size_t)o->steps, (size_t)o->width, o->gain,         (uint64_t)o->seed,
                                   o->activation,    o->remedy,        (size_t)o->depth };
    rg_status                status;
    rg_record               *r = NULL;

    if (call->words.count) return rg_fail(RG_EINVAL, "no words are expected, %zu given", call->words.count);
    RG_TRY(*o->model          ? of_model(&r, o)
           : o->contributions ? rg_gradients_contributions(&r, NULL, &g)
                              : rg_gradients_record(&r, &g));
    status = *o->output ? rg_record_save(r, o->output)
                        : rg_cli_show_record(r, rg_call_values(call, rg_command_show.options + 1));
    rg_record_free(r);
    return status;
}

const rg_command rg_command_gradients = {
    .name = "gradients",
    .summary = "show how gradients vanish: over time, over layers, over what a trained model read",
    .details =
        "Without -m, networks with random weights: an RNN, an LSTM and a GRU over --steps of random inputs with the "
        "loss at the last "
        "step, or a network of --depth layers without and with a --remedy; the norm of the gradient at each step or "
        "layer is drawn. "
        "With -m MODEL --text FILE, a trained model (language model, translator, classifier of texts): the norm of the "
        "gradient of "
        "log p of an answer at the inputs, against their distance. Figures: --style curves or matrix; --html has both.",
    .options = rows,
    .size = sizeof(gradients_options),
    .extend = extend,
    .run = run,
};
