/* cmd_average.c - one model from several of the same training: the mean of their weights, number by number. */
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "regard/task.h"

typedef struct {
    char *output;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "output", offsetof(settings, output), "", "model file to write", 'o', NULL },
    RG_OPTION_END
};

/* What a file says of itself beside its weights: a mean of weights means something only when they are weights of the
 * same things. */
static rg_status check_same(const rg_state *first, const char *path)
{
    static const char *const keys[] = { "regard.task", "regard.system" };
    rg_state *other;
    rg_model *model;
    RG_TRY(rg_model_load(&model, path, NULL)); /* a whole model, whatever it is of */
    rg_model_free(model);
    RG_TRY(rg_state_new(&other));
    rg_status status = rg_model_file_state(other, path);
    for (size_t i = 0; status == RG_OK && i < sizeof keys / sizeof *keys; i++) {
        const char *a, *b;
        if ((status = rg_state_get_text(&a, first, keys[i])) != RG_OK ||
            (status = rg_state_get_text(&b, other, keys[i])) != RG_OK)
            break;
        if (strcmp(a, b) != 0)
            status = rg_fail(RG_EMATCH, "%s is of another system: only models of one training can be averaged", path);
    }
    if (status == RG_OK && !rg_state_same_bytes(first, other))
        status = rg_fail(RG_EMATCH,
                         "%s has other vocabularies or class names: only models of one training can be averaged", path);
    rg_state_free(other);
    return status;
}

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    rg_model       *m = NULL;
    rg_state       *state = NULL;
    if (!call->words.count) return rg_fail(RG_EINVAL, "which models? regard average MODEL... -o OUT");
    if (!s->output[0]) return rg_fail(RG_EINVAL, "where to? -o OUT.safetensors");
    for (size_t i = 0; i < call->words.count; i++) RG_TRY(rg_output_is_not("output", s->output, call->words.items[i]));
    RG_TRY(rg_model_load(&m, call->words.items[0], NULL));
    rg_status status = rg_state_new(&state);
    if (status == RG_OK) status = rg_model_file_state(state, call->words.items[0]);
    for (size_t i = 1; status == RG_OK && i < call->words.count; i++) status = check_same(state, call->words.items[i]);
    if (status == RG_OK)
        status = rg_checkpoint_average(m->params, (const char *const *)call->words.items, call->words.count, NULL);
    if (status == RG_OK) status = rg_model_save(m, s->output);
    rg_state_free(state);
    rg_model_free(m);
    return status;
}

const rg_command rg_command_average = {
    .name = "average",
    .summary = "the mean of several models of one training",
    .arguments = "MODEL...",
    .details =
        "Averages the weights of models saved at different moments of one training, such as MODEL.best-bleu and MODEL, "
        "and writes a model that is used like any other. Models of another system, or with other vocabularies or class "
        "names, are "
        "refused.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
