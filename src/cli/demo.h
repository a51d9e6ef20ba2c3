/* demo.h - the demos of the tasks. */
#ifndef RG_CLI_DEMO_H
#define RG_CLI_DEMO_H

#include "cli/command.h"
#include "regard/task.h"

typedef struct rg_demo_settings {
    const char *folder; /* for data, model and figure */
    int64_t     updates, seed, threads; /* updates: 0 as the demo says */
    bool        quick;                  /* the few data that tests learn from: over at once, and no verdict to rely on */
} rg_demo_settings;

/* Learn it, judge it, show what was attended to. *out_good: the verdict is as expected. */
rg_status rg_demo_run(bool *out_good, const rg_task *task, const rg_demo *demo, const rg_demo_settings *settings);
void      rg_demo_list(FILE *out);

#endif
