/* cmd_average.c - one model from several of the same training: the mean of their weights, number by number. */
#include "cli/command.h"
#include "cli/output.h"
#include "regard/translate.h"

typedef struct {
    char *output;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "output", offsetof(settings, output), "", "model file to write", 'o', NULL },
    RG_OPTION_END
};

/* A mean of weights means something only when they are weights of the same things. */
static rg_status check_vocabularies(const rg_translator *first, const char *path)
{
    rg_translator *other;
    RG_TRY(rg_translator_load(&other, path));
    const bool same = rg_vocab_checksum(first->source) == rg_vocab_checksum(other->source) &&
                      rg_vocab_checksum(first->target) == rg_vocab_checksum(other->target) && first->model->system == other->model->system;
    rg_translator_free(other);
    return same
               ? RG_OK
               : rg_fail(RG_EMATCH, "%s is of another system or has other vocabularies: only models of one training can be averaged", path);
}

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    rg_translator  *t;
    if (!call->words.count) return rg_fail(RG_EINVAL, "which models? regard average MODEL... -o OUT");
    if (!s->output[0]) return rg_fail(RG_EINVAL, "where to? -o OUT.safetensors");
    for (size_t i = 0; i < call->words.count; i++) RG_TRY(rg_output_is_not("output", s->output, call->words.items[i]));
    RG_TRY(rg_translator_load(&t, call->words.items[0]));
    rg_status status = RG_OK;
    for (size_t i = 1; status == RG_OK && i < call->words.count; i++) status = check_vocabularies(t, call->words.items[i]);
    if (status == RG_OK) status = rg_checkpoint_average(t->model->params, (const char *const *)call->words.items, call->words.count, NULL);
    if (status == RG_OK) status = rg_translator_save(t, s->output);
    rg_translator_free(t);
    return status;
}

const rg_command rg_command_average = {
    .name = "average",
    .summary = "the mean of several models of one training",
    .arguments = "MODEL...",
    .details = "Averages the weights of models saved at different moments of one training, such as MODEL.best-bleu and MODEL, "
               "and writes a model that translates like any other. Models of another system or with other vocabularies are "
               "refused.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
