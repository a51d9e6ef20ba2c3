/* cmd_scores.c - the same as `regard list scores`. */
#include "cli/command.h"
#include "cli/lists.h"

static rg_status run(rg_call *call) { return rg_list_print("scores", &call->words, 0, call->options); }

const rg_command rg_command_scores = {
    .name = "scores",
    .summary = "list the scores: how well a query fits a key",
    .arguments = "[WORD...]",
    .details = "The same as regard list scores. regard explain NAME tells more of one.",
    .options = rg_list_rows,
    .size = sizeof(rg_list_options),
    .run = run,
};
