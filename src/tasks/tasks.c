/* tasks.c - the table of kinds of data. A new one is a file here and a word in RG_TASKS (regard/model.h). */
#include <string.h>

#include "regard/task.h"

#define ENTRY(name) &rg_task_##name,
static const rg_task *const table[] = { RG_TASKS(ENTRY) NULL };

const rg_task *const *rg_task_all(void) { return table; }

const rg_demo *rg_demo_find(const rg_task **out_task, const char *name)
{
    for (const rg_task *const *t = table; *t; t++)
        for (const rg_demo *d = (*t)->demos; d && d->name; d++)
            if (strcmp(d->name, name) == 0) return *out_task = *t, d;
    return NULL;
}

const rg_task *rg_task_find(const char *name)
{
    for (const rg_task *const *t = table; name && *t; t++)
        if (strcmp((*t)->name, name) == 0) return *t;
    return NULL;
}
