/* cmd_import.c - a model that another program trained, as one of ours. */
#include <string.h>

#include "cli/command.h"
#include "cli/confining.h"
#include "cli/output.h"
#include "regard/import.h"
#include "regard/task.h"

typedef struct {
    char   *model, *from, *classes, *pixels, *padding, *pooling;
    int64_t size;
    bool    quiet, confine;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "model", offsetof(settings, model), "", "model file to write", 'm', NULL },
    { RG_OPTION_STRING, "from", offsetof(settings, from), "",
      "refuse what is not of this architecture: `regard list imports`; empty: by content", 0, NULL },
    { RG_OPTION_STRING, "classes", offsetof(settings, classes), "",
      "networks for pictures: file of the names of their classes, one per line", 0, NULL },
    { RG_OPTION_INT, "size", offsetof(settings, size), "0", "pixels of a side that pictures are scaled to; 0: 224", 0,
      "[0,4096]" },
    { RG_OPTION_STRING, "pixels", offsetof(settings, pixels), "auto",
      "what the network is given of red, green and blue; auto: by the form of the file", 0,
      "auto|unit|signed|imagenet|caffe" },
    { RG_OPTION_STRING, "padding", offsetof(settings, padding), "auto",
      "borders of windows that move by two: TensorFlow's or PyTorch's", 0, "auto|same|even" },
    { RG_OPTION_STRING, "pooling", offsetof(settings, pooling), "auto",
      "are incomplete windows counted (up) or dropped (down)?", 0, "auto|up|down" },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "say nothing of what was found", 'q', NULL },
    RG_CONFINE_OPTION(settings, confine),
    RG_OPTION_END
};

static const char *unless_auto(const char *given) { return strcmp(given, "auto") == 0 ? NULL : given; }

static rg_status run(rg_call *call)
{
    const settings *s = call->options;
    rg_model       *model = NULL;
    rg_text         report = { 0 };
    if (call->words.count != 1) return rg_fail(RG_EINVAL, "which model? regard import FILE|FOLDER -m OUT.safetensors");
    if (!s->model[0]) return rg_fail(RG_EINVAL, "where to? -m OUT.safetensors");
    RG_TRY(rg_output_is_not("model", s->model, call->words.items[0]));
    const rg_import_options how = { .from = s->from,
                                    .classes = s->classes,
                                    .pixels = unless_auto(s->pixels),
                                    .padding = unless_auto(s->padding),
                                    .pooling = unless_auto(s->pooling),
                                    .size = (size_t)s->size };
    if (s->confine) RG_TRY(rg_confine_files("import", call->words.items[0], s->classes, s->model));
    rg_status status = rg_import_with(&model, &report, call->words.items[0], &how);
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
    .details = "Recognised by content: Hugging Face MarianMT (OPUS-MT), BART, GPT-2 and BERT (model.safetensors or "
               "pytorch_model.bin beside config.json and "
               "the vocabulary's files), Marian's .npz and .bin (the translators of Firefox and Bergamot: float32 or int8, "
               "with their .spm and lex.s2t.bin, each also as .gz), CTranslate2's model.bin (versions 2 to 6, float32, float16, "
               "int16, int8), "
               "pytorch-GAT's .pth, and MobileNet v2 and SqueezeNet 1.1 with torchvision's names, which then classify "
               "photographs and show "
               "where they looked (docs/pictures.md). Nothing in a file is run, and before one is "
               "read the process gives up other files, the network and other programs, unless --no-confine says "
               "otherwise. The model that is written translates "
               "or continues texts, scores, shows its attention, is served "
               "and trained further (train --init-from) like any other. What it computes that no system here does is "
               "refused by name.",
    .options = options,
    .size = sizeof(settings),
    .run = run,
};
