/* cmd_systems.c - the table of systems, printed: what each of them takes as queries, keys and values. */
#include <stdio.h>

#include "cli/command.h"
#include "regard/model.h"

static rg_status run(rg_call *call)
{
    (void)call;
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        printf("%s: %s\n    %s\n", (*s)->name, (*s)->summary, (*s)->paper);
        for (const rg_attention_use *u = (*s)->uses; u && u->where; u++)
            printf("    %-24s Q %s; K %s; V %s; score %s; reach %s\n", u->where, u->queries, u->keys, u->values, u->score, u->reach);
    }
    return RG_OK;
}

const rg_command rg_command_systems = {
    .name = "systems",
    .summary = "list the systems: papers as choices of queries, keys, values, score and reach",
    .details = "regard explain NAME tells more of one.",
    .run = run,
};
