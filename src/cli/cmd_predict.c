/* cmd_predict.c - one answer per input, whatever the model was trained for, as TSV or JSON lines; and what it looked
 * at, as a record. */
#include "cli/answers.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/weights.h"

typedef struct {
    char   *model, *record, *input;
    bool    json;
    int64_t threads;
    rg_weights_choice keep;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "model", offsetof(settings, model), "model.safetensors",
      "model file; what it was trained for decides about further options", 'm', NULL },
    { RG_OPTION_STRING, "input", offsetof(settings, input), "-",
      "file of inputs, one per line, for models that read text; -: standard input", 'i', NULL },
    { RG_OPTION_BOOL, "json", offsetof(settings, json), "false", "answers as JSON lines", 0, NULL },
    { RG_OPTION_STRING, "attention", offsetof(settings, record), "",
      "also write what was attended to as a record (.json or .safetensors; `regard show` draws it)", 0, NULL },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "1", "threads", 0, "[1,1024]" },
    RG_WEIGHTS_OPTIONS(settings, keep),
    RG_OPTION_END
};

static rg_status extend(rg_call *call) { return rg_call_add_asking(call, ((const settings *)call->options)->model); }

static rg_status run(rg_call *call)
{
    const settings   *s = call->options;
    rg_answer_printer printer = { .json = s->json, .record_path = s->record };
    rg_model         *model;
    RG_TRY(rg_output_is_not("attention", s->record, s->model));
    RG_TRY(rg_model_load_as(&model, s->model, NULL, rg_weights_chosen(&s->keep)));
    const rg_task    *task = model->system->task;
    const rg_question q = { .options = task->asking ? rg_call_values(call, task->asking) : NULL,
                            .words = &call->words,
                            .input = s->input,
                            .threads = (int)s->threads,
                            .sink = rg_answer_printer_sink(&printer) };
    rg_status status = task->answer(model, &q);
    if (status != RG_OK && !(s->record[0] && rg_message_names(s->record)) && !rg_message_names(s->model))
        rg_fail_in(status, "%s: ", s->model);
    rg_answer_printer_fini(&printer);
    rg_model_free(model);
    return status;
}

const rg_command rg_command_predict = {
    .name = "predict",
    .summary = "one answer per input, as TSV or JSON lines; and what was attended to",
    .arguments = "[INPUT...]",
    .details = "What a model answers depends on what it was trained for: classes of a graph's nodes (--graph FOLDER), "
               "answers to puzzles, "
               "translations or classes of lines. regard predict -m MODEL --help lists the options of that model. "
               "Remarks for people go to standard "
               "error. With --attention FILE the weights of every layer and head, or where the heads of a memory stood "
               "at every step, are "
               "written as a record, which `regard show FILE` draws.",
    .options = options,
    .size = sizeof(settings),
    .extend = extend,
    .run = run,
};
