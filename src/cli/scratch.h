/* scratch.h - a folder for the time of a command, and the small training of a system in it: what commands look at that
 * are given no data. */
#ifndef RG_CLI_SCRATCH_H
#define RG_CLI_SCRATCH_H

#include "cli/command.h"
#include "regard/task.h"

typedef struct rg_scratch {
    char      *folder;
    rg_recipe *recipe;
} rg_scratch;

/* The data of the task's small instance in a new folder, and a recipe that learns them: the system's defaults, then the
 * preset ("": none), then those options of the system, the task and of learning that are given on the command line. To be closed also after a failure. */
rg_status rg_scratch_open(rg_scratch *out, const rg_call *call, const rg_system *system, const char *preset,
                          rg_small_size size);
void      rg_scratch_close(rg_scratch *scratch);

/* Vocabularies of so many tokens, one for both sides, as rg_learn_prepare takes them. */
rg_status rg_scratch_sizes(rg_sizes *out, int64_t vocabulary);

#endif
