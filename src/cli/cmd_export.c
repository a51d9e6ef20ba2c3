/* cmd_export.c - a model of ours as files of another program. */
#include "cli/command.h"
#include "cli/output.h"
#include "regard/export.h"
#include "regard/task.h"

typedef struct {
    char   *model, *to, *output, *calibrate;
    bool    int8, npz, quiet;
    int64_t lines, threads;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "model", offsetof(settings, model), "", "model file", 'm', NULL },
    { RG_OPTION_STRING, "to", offsetof(settings, to), "marian", "whose files: see below", 0,
      "huggingface|marian|sentencepiece" },
    { RG_OPTION_STRING, "output", offsetof(settings, output), "",
      "folder to write; of sentencepiece also a file, NAME.model or NAME.spm", 'o', NULL },
    { RG_OPTION_BOOL, "int8", offsetof(settings, int8), "false",
      "marian: weights in 8 bits (intgemm8) with the scales of activations", 0, NULL },
    { RG_OPTION_STRING, "calibrate", offsetof(settings, calibrate), "",
      "file of source lines that these scales are measured on", 0, NULL },
    { RG_OPTION_INT, "calibrate-lines", offsetof(settings, lines), "500", "of it that are used", 0, "[1,1000000]" },
    { RG_OPTION_BOOL, "npz", offsetof(settings, npz), "false", "marian: model.npz instead of model.bin", 0, NULL },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "1", "threads that measure", 0, "[1,1024]" },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "do not print what was written", 'q', NULL },
    RG_OPTION_END
};

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    rg_model       *model = NULL;
    rg_text         report = { 0 };
    if (!s->model[0]) return rg_fail(RG_EINVAL, "which model? -m MODEL.safetensors");
    if (!s->output[0]) return rg_fail(RG_EINVAL, "where to? -o FOLDER");
    RG_TRY(rg_output_is_not("output", s->output, s->model));
    const rg_export_options how = { .to = s->to,
                                    .int8 = s->int8,
                                    .npz = s->npz,
                                    .calibrate = s->calibrate,
                                    .lines = (size_t)s->lines,
                                    .threads = (int)s->threads };
    rg_status               status = rg_model_load(&model, s->model, NULL);
    if (status == RG_OK && (status = rg_export(&report, model, s->output, &how)) != RG_OK &&
        !rg_message_names(s->model))
        rg_fail_in(status, "%s: ", s->model);
    if (status == RG_OK && !s->quiet) fprintf(stderr, "%s", rg_text_c(&report));
    rg_text_free(&report);
    rg_model_free(model);
    return status;
}

const rg_command rg_command_export = {
    .name = "export",
    .summary = "a model as files of another program",
    .details =
        "--to marian writes model.bin (or model.npz), the vocabulary as .spm, the shortlist as lex.s2t.bin and a "
        "config.yml: what marian-decoder, Bergamot and Firefox translate with. --int8 --calibrate TEXT writes 8-bit "
        "weights and the scales of activations. --to huggingface writes config.json, model.safetensors and the "
        "tokeniser of a MarianMT, BART, GPT-2 or BERT model. --to sentencepiece writes the "
        "vocabulary's .model. What the other program does not compute is refused by name; docs/export.md has the "
        "settings to train with.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
