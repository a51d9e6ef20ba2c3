/* cmd_list.c - what there is: tasks, systems, scores, reaches. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/lists.h"

static rg_status print(const char *name)
{
    for (const rg_list_kind *k = rg_list_kinds(); k->name; k++)
        if (strcmp(k->name, name) == 0) return k->print(), RG_OK;
    char   known[128] = "";
    size_t at = 0;
    for (const rg_list_kind *k = rg_list_kinds(); k->name && at < sizeof known; k++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "", k->name);
    return rg_fail(RG_EINVAL, "there is no list of %s; there are %s", name, known);
}

static rg_status run(rg_call *call)
{
    for (size_t i = 0; i < call->words.count; i++) {
        if (i) printf("\n");
        RG_TRY(print(call->words.items[i]));
    }
    for (const rg_list_kind *k = rg_list_kinds(); k->name && !call->words.count; k++) printf("%-10s %s\n", k->name, k->summary);
    return RG_OK;
}

const rg_command rg_command_list = {
    .name = "list",
    .summary = "list tasks, systems, scores or reaches",
    .arguments = "[tasks|systems|scores|reaches]",
    .details = "Without a word, what can be listed. In the table of scores n is the number of keys, d their width, p the width of a hidden "
               "layer. regard explain NAME tells more of one.",
    .run = run,
};
