/* experiment.h - what `regard reproduce NAME` runs: a claim of a paper or a lecture, measured.
 *
 * An experiment is one file, src/cli/reproduce/<name>.c, that ends in `const rg_experiment rg_experiment_<name> = { ... };`, and one word
 * in the list of cmd_reproduce.c. */
#ifndef RG_CLI_EXPERIMENT_H
#define RG_CLI_EXPERIMENT_H

#include "cli/command.h"

typedef struct rg_experiment {
    const char      *name;
    const char      *summary; /* one line, lower case, no full stop */
    const char      *source;  /* what is reproduced                 */
    const rg_option *options; /* may be NULL                        */
    size_t           size;    /* of the struct they fill            */
    rg_status (*run)(rg_call *call, const void *options); /* a claim that does not hold sets call->exit_code to 1 */
} rg_experiment;

#endif
