/* cmd_list.c - what there is: tasks, systems, scores, reaches, metrics, generators, demos, imports, exports. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/lists.h"

static rg_status run(rg_call *call)
{
    if (call->words.count) return rg_list_print(call->words.items[0], &call->words, 1, call->options);
    for (const rg_list_kind *k = rg_list_kinds(); k->name; k++) rg_help_row(stdout, k->name, k->summary);
    return RG_OK;
}

const rg_command rg_command_list = {
    .name = "list",
    .summary = "list tasks, systems, scores, reaches, metrics, generators, demos, imports or exports",
    .arguments = "[KIND [WORD...]]",
    .details = "Without a KIND, what can be listed. Further words choose the rows that have them all, whatever the "
               "case: regard list systems "
               "text lstm. In the costs of scores n is the number of keys, d their width, p the width of a hidden "
               "layer. regard explain NAME "
               "tells more of a system, score or reach.",
    .options = rg_list_rows,
    .size = sizeof(rg_list_options),
    .run = run,
};
