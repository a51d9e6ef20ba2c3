/* cmd_import.c - a model that another program trained, as one of ours. */
#include "cli/command.h"
#include "cli/output.h"
#include "regard/import.h"
#include "regard/task.h"

typedef struct {
    char *model, *from;
    bool  quiet;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "model", offsetof(settings, model), "", "model file to write", 'm', NULL },
    { RG_OPTION_STRING, "from", offsetof(settings, from), "", "refuse what is not of this architecture: `regard list imports`; empty: by content", 0, NULL },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "say nothing of what was found", 'q', NULL },
    RG_OPTION_END
};

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    rg_model       *model = NULL;
    rg_text         report = { 0 };
    if (call->words.count != 1) return rg_fail(RG_EINVAL, "which model? regard import FILE|FOLDER -m OUT.safetensors");
    if (!s->model[0]) return rg_fail(RG_EINVAL, "where to? -m OUT.safetensors");
    RG_TRY(rg_output_is_not("model", s->model, call->words.items[0]));
    rg_status status = rg_import_from(&model, &report, call->words.items[0], s->from[0] ? s->from : NULL);
    if (status == RG_OK) status = rg_model_save(model, s->model);
    if (status == RG_OK && !s->quiet) fprintf(stderr, "%s", rg_text_c(&report));
    rg_text_free(&report);
    rg_model_free(model);
    return status;
}

const rg_command rg_command_import = {
    .name = "import",
    .summary = "make a model of one that another program trained",
    .arguments = "FILE|FOLDER",
    .details = "Recognised by content: Hugging Face MarianMT (OPUS-MT), BART and GPT-2 (model.safetensors or pytorch_model.bin beside config.json and "
               "the vocabulary's files), Marian's .npz, CTranslate2's model.bin (versions 2 to 6, float32, float16, int16, int8) and "
               "pytorch-GAT's .pth. Nothing in a file is run. The model that is written translates or continues texts, scores, shows its attention, is served "
               "and trained further (train --init-from) like any other. What it computes that no system here does is refused by name.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
