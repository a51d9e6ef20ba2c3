/* cmd_scores.c - the table of scores, printed. */
#include <stdio.h>

#include "cli/command.h"
#include "regard/attention.h"

static rg_status run(rg_call *call)
{
    (void)call;
    printf("%-12s %-30s %-30s %s\n", "score", "e(q, k)", "cost a query", "paper");
    for (const rg_score *const *s = rg_score_all(); *s; s++)
        printf("%-12s %-30s %-30s %s\n", (*s)->name, (*s)->formula, (*s)->cost, (*s)->paper);
    return RG_OK;
}

const rg_command rg_command_scores = {
    .name = "scores",
    .summary = "list the scores: how well a query fits a key",
    .details = "n keys of width d, p the width of a hidden layer. regard explain NAME tells more of one.",
    .run = run,
};
