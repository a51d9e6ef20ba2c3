/* cmd_train.c - train any system. The system named by --type brings its own settings, and its task those of learning. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/lines.h"
#include "cli/output.h"
#include "cli/training.h"
#include "tasks/graph_task.h"
#include "tasks/memory_task.h"

typedef struct {
    char *type, *preset;
    bool  quiet;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "type", offsetof(settings, type), "transformer", "which system (`regard systems` lists them)", 0, NULL },
    { RG_OPTION_STRING, "preset", offsetof(settings, preset), "", "sizes under a name (transformer: tiny, small, base, big); what other options say counts more", 0, NULL },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "no log lines", 0, NULL },
    RG_OPTION_END
};

/* ------------------------------------------------------------------------------------------------------------- tasks */

typedef struct {
    const char      *name, *unit; /* unit: what is counted a second */
    const rg_option *rows;
    size_t           size;
    rg_status (*run)(const rg_system *system, const void *system_options, const void *options, rg_console *console);
    /* Where the model and the log go, and whether a new log is begun. */
    const char *(*model)(const void *options);
    const char *(*log_json)(const void *options);
    bool (*overwrite)(const void *options);
    /* What to type next, with the model that validated best; both are quoted. */
    void (*next)(const void *options, const char *model, rg_console *console);
} task;

/* The model never takes the place of what it learns from. */
static rg_status check_model(const char *model, const rg_list *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) RG_TRY(rg_output_is_not("model", model, inputs->items[i]));
    return RG_OK;
}

static rg_status translation(const rg_system *system, const void *system_options, const void *o, rg_console *console)
{
    const rg_translation_options *t = o;
    RG_TRY(check_model(t->model, &t->train_sets));
    RG_TRY(check_model(t->model, &t->valid_sets));
    RG_TRY(check_model(t->model, &t->vocabs));
    const rg_train_report report = rg_console_report(console);
    rg_translator        *translator = NULL;
    rg_status             status = rg_translation_train(&translator, system, system_options, o, &report);
    rg_translator_free(translator);
    return status;
}
static const char *translation_model(const void *o) { return ((const rg_translation_options *)o)->model; }
static const char *translation_log(const void *o) { return ((const rg_translation_options *)o)->log_json; }
static bool        translation_overwrite(const void *o) { return ((const rg_translation_options *)o)->overwrite; }

static bool packed(const char *path)
{
    const size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

/* A few lines of what it was validated on, or else of what it learned from. */
static void translation_next(const void *values, const char *model, rg_console *console)
{
    const rg_translation_options *o = values;
    const char                   *path = o->valid_sets.count ? o->valid_sets.items[0] : o->train_sets.items[0];
    char                         *file = rg_lines_quote(path);
    if (!file) return;
    if (packed(path)) rg_console_command(console, "zcat %s | head -3 |%s %s translate -m %s", file, o->tsv ? " cut -f1 |" : "", rg_program(), model);
    else rg_console_command(console, "head -3 %s |%s %s translate -m %s", file, o->tsv ? " cut -f1 |" : "", rg_program(), model);
    rg_free(file);
}

static rg_status graph(const rg_system *system, const void *system_options, const void *o, rg_console *console)
{
    const rg_train_report report = rg_console_report(console);
    rg_graph_data         data;
    rg_graph_result       result;
    report.begin(report.context, "reading the graphs");
    RG_TRY(rg_graph_data_load(&data, o));
    rg_status status = rg_graph_train(&result, NULL, system, system_options, o, &data, &report);
    if (status == RG_OK)
        rg_console_say(console,
                       "kept weights: validation loss %.4f, %s %.4f, test %.4f; %llu epochs in %.1f s, %.2f ms per update, %.2f ms per validation",
                       result.valid_loss, data.several ? "micro-F1" : "accuracy", result.valid_score, result.test_score,
                       (unsigned long long)result.epochs, result.seconds, 1e3 * result.step_seconds, 1e3 * result.valid_seconds);
    rg_graph_data_free(&data);
    return status;
}
static const char *graph_model(const void *o) { return ((const rg_graph_options *)o)->model; }
static const char *graph_log(const void *o) { return ((const rg_graph_options *)o)->log_json; }
static bool        graph_overwrite(const void *o) { return ((const rg_graph_options *)o)->overwrite; }

static void graph_next(const void *values, const char *model, rg_console *console)
{
    const rg_graph_options *o = values;
    char                   *folder = rg_lines_quote(o->graphs.items[0]);
    if (folder) rg_console_command(console, "%s predict -m %s --graph %s", rg_program(), model, folder);
    rg_free(folder);
}

static rg_status memory(const rg_system *system, const void *system_options, const void *o, rg_console *console)
{
    const rg_train_report report = rg_console_report(console);
    return rg_memory_train(NULL, system, system_options, o, &report);
}
static const char *memory_model(const void *o) { return ((const rg_memory_options *)o)->model; }
static const char *memory_log(const void *o) { return ((const rg_memory_options *)o)->log_json; }
static bool        memory_overwrite(const void *o) { return ((const rg_memory_options *)o)->overwrite; }

static void memory_next(const void *values, const char *model, rg_console *console)
{
    (void)values;
    rg_console_command(console, "%s predict -m %s", rg_program(), model);
}

static const task tasks[] = {
    { "translation", "words", rg_translation_rows, sizeof(rg_translation_options), translation, translation_model, translation_log,
      translation_overwrite, translation_next },
    { "graph", "nodes", rg_graph_rows, sizeof(rg_graph_options), graph, graph_model, graph_log, graph_overwrite, graph_next },
    { "memory", "sequences", rg_memory_rows, sizeof(rg_memory_options), memory, memory_model, memory_log, memory_overwrite, memory_next },
};

static const task *task_of(const rg_system *system)
{
    const char *name = system->task ? system->task : "translation";
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (strcmp(tasks[i].name, name) == 0) return &tasks[i];
    rg_fail(RG_EINVAL, "%s learns '%s', which `regard train` does not know", system->name, name);
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- command */

static const rg_system *find_system(const char *name)
{
    const rg_system *system = rg_system_find(name);
    if (!system) rg_fail(RG_EINVAL, "there is no system '%s'; `regard systems` lists them", name);
    return system;
}

static rg_status extend(rg_call *call)
{
    const settings  *s = call->options;
    const rg_system *system = find_system(s->type);
    const task      *its = system ? task_of(system) : NULL;
    if (!its) return RG_EINVAL;
    if (s->preset[0]) {
        const rg_preset *preset = rg_preset_find(system, s->preset);
        if (!preset) return RG_EINVAL;
        call->preset = preset->yaml;
    }
    RG_TRY(rg_call_add(call, "training", its->rows, its->size));
    return rg_call_add(call, system->name, system->options, system->options_bytes);
}

/* What came of it, which file to use, and what to type next. */
static void sum_up(const task *its, const void *o, rg_console *console)
{
    const char *path = console->model ? console->model : its->model(o); /* graphs write their model themselves */
    char       *model = rg_lines_quote(path), *run = rg_lines_quote(its->model(o));
    rg_console_summary(console);
    if (model && run && *path) {
        rg_console_say(console, "next:");
        its->next(o, model, console);
        if (!its->log_json(o)[0]) rg_console_command(console, "%s report %s", rg_program(), run);
    }
    rg_free(model);
    rg_free(run);
}

static rg_status run(rg_call *call)
{
    const settings  *s = call->options;
    const rg_system *system = find_system(s->type);
    const task      *its = task_of(system);
    const void      *o = rg_call_values(call, its->rows);
    char            *json = its->log_json(o)[0] ? rg_strdup(its->log_json(o)) : rg_format("%s.jsonl", its->model(o));
    rg_console       console;
    rg_status        status = json ? rg_console_open(&console, json, its->overwrite(o), s->quiet) : RG_ENOMEM;
    rg_free(json);
    if (status != RG_OK) return status;
    console.unit = its->unit;
    status = its->run(system, rg_call_values(call, system->options), o, &console);
    const bool begun = !console.preparing;
    if (status == RG_OK) sum_up(its, o, &console);
    rg_console_close(&console);
    if (status != RG_ESTOP) return status;
    fprintf(stderr, begun ? "stopped as asked; everything is saved, and the same command resumes from here\n"
                          : "stopped as asked before the first update: there is nothing to save yet\n");
    return RG_OK;
}

const rg_command rg_command_train = {
    .name = "train",
    .summary = "train a system; resumes by itself where it was stopped",
    .details = "Writes MODEL at every save, and MODEL.checkpoint, from which the same command resumes bit for "
               "bit. SIGTERM, SIGHUP and Ctrl-C save and stop, with exit code 0. On a terminal a bar shows progress and the time left; elsewhere "
               "log lines are printed. MODEL.jsonl holds the same as JSON lines: `regard report` draws them. Systems on graphs (gat, "
               "gcn, mlp) learn from folders: --graph DIR.",
    .options = options,
    .size = sizeof(settings),
    .extend = extend,
    .run = run,
};
