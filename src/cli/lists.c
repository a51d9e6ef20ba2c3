/* lists.c - scores, reaches and systems as they stand in their tables. */
#include "cli/lists.h"

#include <stdio.h>

#include "regard/task.h"

void rg_list_scores(void)
{
    printf("%-12s %-30s %-30s %s\n", "score", "e(q, k)", "cost per query", "paper");
    for (const rg_score *const *s = rg_score_all(); *s; s++)
        printf("%-12s %-30s %-30s %s\n", (*s)->name, (*s)->formula, (*s)->cost, (*s)->paper);
}

void rg_list_reaches(void)
{
    printf("%-18s %s\n", "reach", "a query looks at");
    for (const rg_reach_kind *const *k = rg_reach_kinds(); *k; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s", (*k)->name, (*k)->sized ? ":R" : "");
        printf("%-18s %s\n", name, (*k)->summary);
    }
}

void rg_list_systems(void)
{
    for (const rg_system *const *s = rg_system_all(); *s; s++) {
        printf("%s: %s\n    %s\n", (*s)->name, (*s)->summary, (*s)->paper);
        for (const rg_attention_use *u = (*s)->uses; u && u->where; u++)
            printf("    %-24s Q %s; K %s; V %s; score %s; reach %s\n", u->where, u->queries, u->keys, u->values, u->score, u->reach);
    }
}

void rg_list_tasks(void)
{
    for (const rg_task *const *t = rg_task_all(); *t; t++) {
        printf("%s: %s -> %s\n    %s\n    systems:", (*t)->name, (*t)->in, (*t)->out, (*t)->summary);
        for (const rg_system *const *s = rg_system_all(); *s; s++)
            if ((*s)->task == *t) printf(" %s", (*s)->name);
        printf("\n");
    }
}

static const rg_list_kind kinds[] = {
    { "tasks", "kinds of data: what goes in and what comes out", rg_list_tasks },
    { "systems", "papers as choices of queries, keys, values, score and reach", rg_list_systems },
    { "scores", "how well a query fits a key", rg_list_scores },
    { "reaches", "which keys a query may look at", rg_list_reaches },
    { 0 },
};

const rg_list_kind *rg_list_kinds(void) { return kinds; }
