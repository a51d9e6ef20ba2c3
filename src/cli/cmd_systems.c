/* cmd_systems.c - the same as `regard list systems`. */
#include "cli/command.h"
#include "cli/lists.h"

static rg_status run(rg_call *call) { return rg_list_print("systems", &call->words, 0, call->options); }

const rg_command rg_command_systems = {
    .name = "systems",
    .summary = "list the systems: papers as choices of queries, keys, values, score and reach",
    .arguments = "[WORD...]",
    .details = "The same as regard list systems. regard explain NAME tells more of one.",
    .options = rg_list_rows,
    .size = sizeof(rg_list_options),
    .run = run,
};
