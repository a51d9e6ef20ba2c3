/* cmd_scores.c - the same as `regard list scores`. */
#include "cli/command.h"
#include "cli/lists.h"

static rg_status run(rg_call *call) { return (void)call, rg_list_scores(), RG_OK; }

const rg_command rg_command_scores = {
    .name = "scores",
    .summary = "list the scores: how well a query fits a key",
    .details = "n keys of width d, p the width of a hidden layer. regard explain NAME tells more of one.",
    .run = run,
};
