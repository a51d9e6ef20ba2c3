/* cmd_generate.c - texts drawn from a model, whatever it was trained for, as plain text or JSON lines. */
#include <string.h>

#include "cli/answers.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/weights.h"
#include "regard/record.h"

typedef struct {
    char   *model, *input, *trace;
    bool    json;
    int64_t threads;
    rg_weights_choice keep;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "model", offsetof(settings, model), "model.safetensors",
      "model file; what it was trained for decides about further options", 'm', NULL },
    { RG_OPTION_STRING, "input", offsetof(settings, input), "-", "file of prompts, one per line; -: standard input",
      'i', NULL },
    { RG_OPTION_BOOL, "json", offsetof(settings, json), "false", "one JSON object per text", 0, NULL },
    { RG_OPTION_STRING, "trace", offsetof(settings, trace), "",
      "write how each text grew, token by token beside what else was likely, for `regard show`: a.json, a.2.json, ...",
      0, NULL },
    { RG_OPTION_INT, "cpu-threads", offsetof(settings, threads), "1", "threads", 0, "[1,1024]" },
    RG_WEIGHTS_OPTIONS(settings, keep),
    RG_OPTION_END
};

static rg_status extend(rg_call *call)
{
    const char    *model = ((const settings *)call->options)->model;
    const rg_task *task;
    RG_TRY(rg_call_task(&task, model));
    if (!task) return RG_OK;
    if (!task->generate)
        return rg_fail(RG_EMATCH, "%s: it was trained for '%s', from which nothing is drawn", model, task->name);
    return task->drawing ? rg_call_add(call, task->name, task->drawing, task->drawing_bytes) : RG_OK;
}

/* Records of prompts, for --trace: a.json, a.2.json, a.3.json. */
typedef struct {
    const char *path;
    size_t      count;
} records;

static rg_status save_record(void *context, const rg_record *r)
{
    records    *x = context;
    const char *slash = strrchr(x->path, '/'), *dot = strrchr(slash ? slash : x->path, '.');
    const int   stem = dot ? (int)(dot - x->path) : (int)strlen(x->path);
    char       *name = x->count++ ? rg_format("%.*s.%zu%s", stem, x->path, x->count, dot ? dot : "") : rg_strdup(x->path);
    const rg_status status = name ? rg_record_save(r, name) : RG_ENOMEM;
    rg_free(name);
    return status;
}

/* Plain text: the column "text" alone, a rule between two of them; without such a column a table. */
typedef struct {
    size_t   text, rows, columns; /* text = columns: no texts but a table */
    records *records;
} plain;

static rg_status plain_record(void *context, const rg_record *r)
{
    return save_record(((plain *)context)->records, r);
}

static rg_status plain_columns(void *context, const char *const *names, size_t count)
{
    plain *p = context;
    for (p->text = 0; p->text < count && strcmp(names[p->text], "text") != 0;) p->text++;
    p->columns = count;
    for (size_t i = 0; p->text == count && i < count; i++) printf("%s%c", names[i], i + 1 < count ? '\t' : '\n');
    return RG_OK;
}

static rg_status plain_row(void *context, const rg_value *cells)
{
    plain *p = context;
    if (p->text == p->columns) {
        for (size_t i = 0; i < p->columns; i++) {
            if (cells[i].text) printf("%s", cells[i].text);
            else printf("%.*f", cells[i].digits, cells[i].number);
            putchar(i + 1 < p->columns ? '\t' : '\n');
        }
        return RG_OK;
    }
    if (p->rows++) printf("----------------\n");
    printf("%s\n", cells[p->text].text);
    return fflush(stdout) == 0 ? RG_OK : rg_fail(RG_EIO, "cannot write the texts");
}

static void plain_note(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
}

static rg_status run(rg_call *call)
{
    const settings   *s = call->options;
    const bool        traced = s->trace[0];
    records           saved = { .path = s->trace };
    rg_answer_printer printer = { .json = true, .draw = traced ? save_record : NULL, .draw_context = &saved };
    plain             p = { .records = &saved };
    const rg_sink     sink = { .context = &p, .columns = plain_columns, .row = plain_row, .note = plain_note,
                               .record = traced ? plain_record : NULL };
    rg_model         *model;
    RG_TRY(rg_output_is_not("trace", s->trace, s->model));
    RG_TRY(rg_output_is_not("trace", s->trace, s->input));
    RG_TRY(rg_model_load_as(&model, s->model, NULL, rg_weights_chosen(&s->keep)));
    const rg_task    *task = model->system->task;
    const rg_question q = { .options = task->drawing ? rg_call_values(call, task->drawing) : NULL,
                            .words = &call->words,
                            .input = s->input,
                            .threads = (int)s->threads,
                            .sink = s->json ? rg_answer_printer_sink(&printer) : &sink };
    rg_status         status = task->generate(model, &q);
    if (status != RG_OK && status != RG_EINVAL && !rg_message_names(s->model)) rg_fail_in(status, "%s: ", s->model);
    if (status == RG_OK && traced && !saved.count)
        status = rg_fail(RG_EMATCH, "%s: --trace: nothing of what it makes is drawn token by token", s->model);
    rg_answer_printer_fini(&printer);
    rg_model_free(model);
    return status;
}

const rg_command rg_command_generate = {
    .name = "generate",
    .summary = "texts drawn from a language model, samples from a generator",
    .arguments = "[PROMPT...]",
    .details = "Continues each prompt, --samples times: --prompt TEXT..., the words behind the options as one prompt, "
               "or else one prompt per "
               "line of --input. regard generate -m MODEL --help lists what can be set. The same seed gives the same "
               "texts, whatever the "
               "number of threads and the other prompts.",
    .options = options,
    .size = sizeof(settings),
    .extend = extend,
    .run = run,
};
