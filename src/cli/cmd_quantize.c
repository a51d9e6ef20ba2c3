/* cmd_quantize.c - a model with its weights in one or two bytes each, for answering. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/output.h"
#include "regard/task.h"

typedef struct {
    char *model, *output, *to;
    bool  quiet;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "model", offsetof(settings, model), "", "model file", 'm', NULL },
    { RG_OPTION_STRING, "output", offsetof(settings, output), "", "model file to write", 'o', NULL },
    { RG_OPTION_STRING, "to", offsetof(settings, to), "int8",
      "int8: a byte per weight; bf16: the upper half of a float", 0, "int8|bf16" },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "do not print the sizes", 0, NULL },
    RG_OPTION_END
};

static rg_status tell(const settings *s)
{
    uint64_t before, after;
    RG_TRY(rg_file_size_at(&before, s->model));
    RG_TRY(rg_file_size_at(&after, s->output));
    printf("%s: %llu bytes in %s, %.1f %% of the %llu of %s\n", s->output, (unsigned long long)after, s->to,
           100 * (double)after / (double)before, (unsigned long long)before, s->model);
    return RG_OK;
}

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    rg_model       *model;
    rg_weights      weights = RG_WEIGHT_INT8;
    if (!s->model[0]) return rg_fail(RG_EINVAL, "which model? -m MODEL.safetensors");
    if (!s->output[0]) return rg_fail(RG_EINVAL, "where to? -o OUT.safetensors");
    RG_TRY(rg_output_is_not("output", s->output, s->model));
    (void)rg_weights_find(&weights, s->to);
    RG_TRY(rg_model_load_as(&model, s->model, NULL, weights));
    rg_status status = rg_model_save(model, s->output);
    rg_model_free(model);
    return status == RG_OK && !s->quiet ? tell(s) : status;
}

const rg_command rg_command_quantize = {
    .name = "quantize",
    .summary = "a model in a quarter of the bytes, for answering",
    .details = "Writes a model whose weights and tables are 8-bit integers with a scale per output column (--to int8) "
               "or bfloat16 numbers (--to bf16). It is used "
               "like any other, but it cannot be trained or averaged. What stays float32, and what int8 changes in "
               "answers: docs/quantize.md.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
