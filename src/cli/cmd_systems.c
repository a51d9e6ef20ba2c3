/* cmd_systems.c - the same as `regard list systems`. */
#include "cli/command.h"
#include "cli/lists.h"

static rg_status run(rg_call *call) { return (void)call, rg_list_systems(), RG_OK; }

const rg_command rg_command_systems = {
    .name = "systems",
    .summary = "list the systems: papers as choices of queries, keys, values, score and reach",
    .details = "regard explain NAME tells more of one.",
    .run = run,
};
