/* cmd_train.c - train any system. The system named by --type brings its own settings, its task those of the data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/train_estimate.h"
#include "cli/training.h"
#include "regard/task.h"

typedef struct {
    char   *type, *preset, *fine_tune, *tensorboard;
    rg_list objective;
    bool    quiet, estimate;
} settings;

enum { OBJECTIVES = 8 }; /* at most */

static const rg_option options[] = {
    { RG_OPTION_STRING, "type", offsetof(settings, type), "",
      "which system; empty: transformer (`regard train --help` lists them)", 0, NULL },
    { RG_OPTION_STRING, "preset", offsetof(settings, preset), "",
      "sizes under a name (transformer: tiny, small, base, big); what other options say counts more", 0, NULL },
    { RG_OPTION_STRING, "fine-tune", offsetof(settings, fine_tune), "",
      "model file to train further: its system, settings and vocabularies, and its weights by --init-from", 0, NULL },
    { RG_OPTION_LIST, "objective", offsetof(settings, objective), "",
      "how the loss of a system that answers once is made; several add up", 0, NULL },
    { RG_OPTION_BOOL, "estimate", offsetof(settings, estimate), "false",
      "train nothing: print parameters, operations per update and the hours it would take here, from a few updates that "
      "are thrown away, and draw the learning rate; without data of small data that are made up",
      0, NULL },
    { RG_OPTION_STRING, "tensorboard", offsetof(settings, tensorboard), "",
      "also write event files that TensorBoard reads into this folder", 0, NULL },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "no log lines", 0, NULL },
    RG_OPTION_END
};

static const rg_system *find_system(const char *name)
{
    const rg_system *system = rg_system_find(*name ? name : "transformer");
    if (!system) rg_fail(RG_EINVAL, "there is no system '%s'; `regard list systems` lists them", name);
    return system;
}

/* One name may stand for systems on several kinds of data: which, the options that are given tell. */
static const rg_system *by_options(const rg_call *call, const rg_system *first)
{
    for (const rg_system *const *s = rg_system_all(); first && *s; s++)
        if (strcmp((*s)->name, first->name) == 0 && (*s)->chosen_by && rg_call_given(call, (*s)->chosen_by)) return *s;
    return first;
}

/* The system named by --type, or that of the model to train further; NULL with a message. */
static const rg_system *chosen_system(const rg_call *call)
{
    const settings  *s = call->options;
    const rg_system *system = NULL;
    const char      *name, *task;
    rg_state        *state = NULL;
    if (!s->fine_tune[0] || s->type[0]) return by_options(call, find_system(s->type));
    rg_status status = rg_state_new(&state);
    if (status == RG_OK) status = rg_model_file_state(state, s->fine_tune);
    if (status == RG_OK) status = rg_state_get_text(&name, state, "regard.system");
    if (status == RG_OK) status = rg_state_get_text(&task, state, "regard.task");
    if (status == RG_OK && !(system = rg_system_find_for(name, rg_task_find(task)))) system = find_system(name);
    rg_state_free(state);
    return system;
}

static bool has_row(const rg_option *rows, const char *name)
{
    while (rows->name && strcmp(rows->name, name) != 0) rows++;
    return rows->name != NULL;
}

/* What a model to train further says: its settings, its vocabularies where its task has some, and where its weights
 * are. A JSON string is one of YAML. */
static rg_status start_from_model(rg_call *call, const rg_system *system, const char *path)
{
    const char *yaml;
    rg_state   *state;
    json_t     *text = json_string(path);
    char        quoted[8192] = "";
    const size_t length = text ? json_dumpb(text, quoted, sizeof quoted - 1, JSON_ENCODE_ANY) : 0;
    rg_status   status = rg_state_new(&state);
    if (status == RG_OK) status = rg_model_file_state(state, path);
    if (status == RG_OK) status = rg_state_get_text(&yaml, state, "regard.settings");
    if (status == RG_OK && (!length || length >= sizeof quoted))
        status = rg_fail(RG_EINVAL, "--fine-tune %.80s: a name that is not UTF-8 or too long", path);
    if (status == RG_OK) {
        const bool vocabs = has_row(system->task->options, "vocabs");
        char      *whole = rg_format("%s%sinit-from: %s\n%s%s%s", call->preset, yaml, quoted, vocabs ? "vocabs: [" : "",
                                vocabs ? quoted : "", vocabs ? "]\n" : "");
        rg_free(call->preset);
        call->preset = whole;
        if (!whole) status = RG_ENOMEM;
    }
    rg_state_free(state);
    json_decref(text);
    return status;
}

/* What a task and a preset start from stands before files and flags. */
static rg_status start_from(rg_call *call, const rg_system *system, const char *name)
{
    /* the type is there, so that --dump-config names it */
    const rg_preset *preset = name[0] ? rg_preset_find(system, name) : NULL;
    const char      *task = system->task->learning;
    if (name[0] && !preset) return RG_EINVAL;
    call->preset = rg_format("type: %s\n%s%s", system->name, task ? task : "", preset ? preset->yaml : "");
    return call->preset ? RG_OK : RG_ENOMEM;
}

/* --init-from the file of another system: settings that both have, and its vocabulary, stand before files and flags. */
static rg_status borrow_settings(rg_call *call, const rg_system *system)
{
    const rg_learning *l = rg_call_values(call, rg_learning_rows);
    rg_text            yaml = { 0 };
    RG_TRY(rg_call_look(call));
    if (!l->init_from[0] || call->help) return RG_OK;
    rg_status status = rg_model_lent(&yaml, system, l->init_from);
    char     *whole = status == RG_OK ? rg_format("%s%s", call->preset, rg_text_c(&yaml)) : NULL;
    rg_text_free(&yaml);
    if (status == RG_OK && !whole) status = RG_ENOMEM;
    if (!whole) return status;
    rg_free(call->preset);
    call->preset = whole;
    return RG_OK;
}

static rg_status extend(rg_call *call)
{
    const settings  *s = call->options;
    const rg_system *system = chosen_system(call);
    if (!system) return RG_EINVAL;
    if (!*s->type && call->help) return rg_call_add(call, "learning", rg_learning_rows, sizeof(rg_learning)); /* whose data, whose settings? */
    if (s->fine_tune[0] && s->preset[0])
        return rg_fail(RG_EINVAL, "--fine-tune takes the sizes of its model; --preset %s names others", s->preset);
    RG_TRY(start_from(call, system, s->preset));
    if (s->fine_tune[0]) RG_TRY(start_from_model(call, system, s->fine_tune));
    RG_TRY(rg_call_add(call, "data", system->task->options, system->task->options_bytes));
    RG_TRY(rg_call_add(call, "learning", rg_learning_rows, sizeof(rg_learning)));
    RG_TRY(rg_call_add(call, system->name, system->options, system->options_bytes));
    for (size_t i = 0; i < s->objective.count; i++) {
        const rg_objective *o = rg_objective_find(s->objective.items[i]);
        if (!o) return RG_EINVAL;
        if (o->options) RG_TRY(rg_call_add(call, o->name, o->options, o->options_bytes));
    }
    return s->fine_tune[0] ? RG_OK : borrow_settings(call, system);
}

/* What is written never takes the place of what is read: of all words of the task's rows, whatever they name. */
static rg_status check_output(const char *flag, const char *path, const rg_option *rows, const void *values)
{
    for (; *path && rows->name; rows++) {
        const void    *at = (const char *)values + rows->offset;
        const rg_list *list = at;
        for (size_t i = 0; rows->kind == RG_OPTION_LIST && i < list->count; i++)
            RG_TRY(rg_output_is_not(flag, path, list->items[i]));
        if (rows->kind == RG_OPTION_STRING) RG_TRY(rg_output_is_not(flag, path, *(char *const *)at));
    }
    return RG_OK;
}

static rg_status check_outputs(const rg_call *call, const rg_system *system, const rg_learning *l, const char *json)
{
    const void *values = rg_call_values(call, system->task->options);
    RG_TRY(check_output("model", l->model, system->task->options, values));
    RG_TRY(check_output("log-json", json, system->task->options, values));
    RG_TRY(check_output("log", l->log, system->task->options, values));
    RG_TRY(check_output("valid-log", l->valid_log, system->task->options, values));
    RG_TRY(rg_output_is_not("log", l->log, l->model));
    RG_TRY(rg_output_is_not("valid-log", l->valid_log, l->model));
    RG_TRY(rg_output_is_not("log-json", json, l->init_from));
    for (size_t i = 0; i < call->configs.count; i++) {
        RG_TRY(rg_output_is_not("model", l->model, call->configs.items[i]));
        RG_TRY(rg_output_is_not("log-json", json, call->configs.items[i]));
    }
    return rg_output_is_not("log-json", json, l->model);
}

/* What was measured at the end, in one line. */
static void say_final(rg_console *console, const rg_learned *l)
{
    rg_text line = { 0 };
    for (size_t i = 0; i < l->final.count; i++)
        if (rg_text_print(&line, "%s%s %.4f", i ? ", " : "", l->final.metric[i].name, l->final.metric[i].value) !=
            RG_OK)
            break;
    if (line.length && l->updates)
        rg_console_say(console, "%s; %llu epochs in %.1f s", rg_text_c(&line), (unsigned long long)l->epochs,
                       l->seconds);
    rg_text_free(&line);
}

/* What came of it, which file to use, and what to type next. */
static void sum_up(rg_console *console, const rg_training *t, const rg_learned *learned)
{
    const char *path = console->model ? console->model : t->learning->model;
    char       *model = rg_shell_quote(path), *run = rg_shell_quote(t->learning->model);
    rg_text     next = { 0 };
    say_final(console, learned);
    rg_console_summary(console);
    if (model && run && *path) {
        rg_console_say(console, "next:");
        if (t->system->task->hint && t->system->task->hint(&next, t->task_options, rg_program(), model) == RG_OK)
            rg_console_command(console, "%s", rg_text_c(&next));
        if (!t->learning->log_json[0]) rg_console_command(console, "%s report %s", rg_program(), run);
    }
    rg_text_free(&next);
    rg_free(model);
    rg_free(run);
}

/* The end for all processes. One that lost another says why before MPI ends it; what all know, rank 0 says. */
static rg_status part(rg_processes *p, rg_status status)
{
    const bool quiet = rg_processes_rank(p) > 0;
    char       message[600];
    snprintf(message, sizeof message, "%s", rg_message());
    if (rg_processes_lost(p)) fprintf(stderr, "regard train: %s\n", message);
    fflush(NULL);
    rg_processes_close(p);
    if (quiet && status != RG_OK && status != RG_ESTOP) exit(1);
    return status == RG_OK ? RG_OK : rg_fail(status, "%s", message);
}

static rg_status run(rg_call *call)
{
    const settings    *s = call->options;
    const rg_system   *system = chosen_system(call);
    const rg_learning *learning = rg_call_values(call, rg_learning_rows);
    rg_console         console;
    rg_learned         learned;
    rg_objective_choice objective[OBJECTIVES];
    if (s->objective.count > OBJECTIVES)
        return rg_fail(RG_ELIMIT, "%zu objectives; at most %d", s->objective.count, OBJECTIVES);
    for (size_t i = 0; i < s->objective.count; i++) {
        const rg_objective *o = rg_objective_find(s->objective.items[i]);
        objective[i] = (rg_objective_choice){ o, o->options ? rg_call_values(call, o->options) : NULL };
    }
    if (s->estimate) {
        const rg_training t = { .system = system,
                                .system_options = rg_call_values(call, system->options),
                                .task_options = rg_call_values(call, system->task->options),
                                .learning = learning,
                                .objectives = objective,
                                .objective_count = s->objective.count };
        return rg_cli_estimate(call, &t, s->preset);
    }
    char              *json = learning->log_json[0] ? rg_strdup(learning->log_json)
                              : learning->model[0]  ? rg_format("%s.jsonl", learning->model)
                                                    : rg_strdup("");
    rg_processes      *processes = NULL;
    rg_status          status = json ? check_outputs(call, system, learning, json) : RG_ENOMEM;
    if (status == RG_OK) status = rg_processes_open(&processes, learning->rank_timeout);
    const bool first = rg_processes_rank(processes) == 0; /* one log, one summary: those of rank 0 */
    if (status == RG_OK)
        status = rg_console_open(&console, first ? json : "", learning->overwrite, s->quiet || !first);
    rg_free(json);
    if (status == RG_OK && first) {
        status = rg_console_log_to(&console, learning->log, learning->valid_log);
        if (status == RG_OK) status = rg_console_events_to(&console, s->tensorboard);
        if (status != RG_OK) rg_console_close(&console);
    }
    if (status != RG_OK) rg_processes_close(processes);
    if (status != RG_OK) return status;
    if (processes && first)
        rg_console_say(&console, "%d processes of %d workers", rg_processes_count(processes), rg_learning_threads(learning));
    console.unit = system->task->unit;
    console.silent = !learning->disp_freq;
    const rg_train_report report = rg_console_report(&console);
    const rg_training     t = { .system = system,
                                .system_options = rg_call_values(call, system->options),
                                .task_options = rg_call_values(call, system->task->options),
                                .learning = learning,
                                .report = &report,
                                .objectives = objective,
                                .objective_count = s->objective.count,
                                .processes = processes };
    status = rg_learn(NULL, &learned, &t);
    const bool begun = !console.preparing;
    if (status == RG_OK && first) sum_up(&console, &t, &learned);
    rg_console_close(&console);
    status = part(processes, status);
    if (status != RG_ESTOP || !first) return status == RG_ESTOP ? RG_OK : status;
    fprintf(stderr, begun ? "stopped as asked; everything is saved, and the same command resumes from here\n"
                          : "stopped as asked before the first update: there is nothing to save yet\n");
    return RG_OK;
}

/* Kinds of data and the systems that learn from them. */
static void more_help(FILE *out, const rg_call *call)
{
    const settings *s = call->options;
    if (*s->type) return;
    fprintf(out, "\ntypes, by what goes in and comes out (regard train --type NAME --help lists the\noptions and "
                 "defaults of one):\n");
    for (const rg_task *const *t = rg_task_all(); *t; t++) {
        fprintf(out, "\n %s -> %s: %s\n", (*t)->in, (*t)->out, (*t)->name);
        for (const rg_system *const *x = rg_system_all(); *x; x++)
            if ((*x)->task == *t) rg_help_row(out, (*x)->name, (*x)->summary);
    }
}

const rg_command rg_command_train = {
    .name = "train",
    .summary = "train a system; resumes by itself where it was stopped",
    .details =
        "Writes MODEL at every save, and MODEL.checkpoint, from which the same command resumes bit for "
        "bit. SIGTERM, SIGHUP and Ctrl-C save and stop, with exit code 0. On a terminal a bar shows progress and the "
        "time left; elsewhere "
        "log lines are printed. MODEL.jsonl holds the same as JSON lines: `regard report` draws them. What a system "
        "learns from follows from its --type: `regard list tasks` lists the kinds of data, `regard train --type NAME "
        "--help` the options.",
    .options = options,
    .size = sizeof(settings),
    .extend = extend,
    .more_help = more_help,
    .run = run,
};
