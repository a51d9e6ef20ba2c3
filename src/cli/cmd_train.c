/* cmd_train.c - train any system. The system named by --type brings its own settings. */
#include <string.h>

#include "cli/command.h"
#include "cli/training.h"

typedef struct {
    char *type;
    bool  quiet;
} settings;

static const rg_option options[] = {
    { RG_OPTION_STRING, "type", offsetof(settings, type), "transformer", "which system (`regard systems` lists them)", 0, NULL },
    { RG_OPTION_BOOL, "quiet", offsetof(settings, quiet), "false", "no log lines", 0, NULL },
    RG_OPTION_END
};

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
    if (!system) return RG_EINVAL;
    RG_TRY(rg_call_add(call, "training", rg_translation_rows, sizeof(rg_translation_options)));
    return rg_call_add(call, system->name, system->options, system->options_bytes);
}

static rg_status run(rg_call *call)
{
    const settings               *s = call->options;
    const rg_system              *system = find_system(s->type);
    const rg_translation_options *o = rg_call_values(call, rg_translation_rows);
    char                         *json = o->log_json[0] ? rg_strdup(o->log_json) : rg_format("%s.jsonl", o->model);
    rg_console                    console;
    rg_status                     status = json ? rg_console_open(&console, json, (uint64_t)o->updates, s->quiet) : RG_ENOMEM;
    rg_free(json);
    if (status != RG_OK) return status;
    const rg_translation_report report = rg_console_report(&console);
    rg_translator              *translator = NULL;
    status = rg_translation_train(&translator, system, rg_call_values(call, system->options), o, &report);
    rg_translator_free(translator);
    rg_console_close(&console);
    return status;
}

const rg_command rg_command_train = {
    .name = "train",
    .summary = "train a system; goes on by itself where it was stopped",
    .details = "Writes MODEL after every save and validation, and MODEL.checkpoint, from which the same command goes on bit for bit. SIGTERM and "
               "Ctrl-C save and stop. On a terminal a bar shows the time left; elsewhere log lines are printed. MODEL.jsonl holds the "
               "same as JSON lines: `regard report` draws them.",
    .options = options,
    .size = sizeof(settings),
    .extend = extend,
    .run = run,
};
