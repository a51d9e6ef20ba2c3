/* lab.h - experiments: claims of papers and lectures, measured by `regard reproduce NAME`.
 *
 * An experiment is one file, src/lab/<name>.c, that ends in `const rg_experiment rg_experiment_<name> = { ... };`, and
 * one word in the list of experiments.c. Most are a grid of trainings (rows.h): rows, columns and claims, as data. */
#ifndef REGARD_LAB_H
#define REGARD_LAB_H

#include <stdio.h>

#include "regard/options.h"
#include "regard/task.h"

RG_API_BEGIN

/* Where an experiment runs. */
typedef struct rg_lab {
    FILE *out;   /* tables and verdicts              */
    FILE *notes; /* how far it is, warnings          */
    void *context;
    /* rg_learn() with a bar or log lines for people and JSON lines appended to `log` (made anew when the training
     * overwrites). */
    rg_status (*learn)(void *context, rg_learned *out, const rg_training *training, const char *log);
} rg_lab;

typedef struct rg_grid rg_grid; /* rows.h */

typedef struct rg_experiment {
    const char      *name;
    const char      *summary; /* one line, lower case, no full stop */
    const char      *source;  /* what is reproduced                 */
    const rg_option *options; /* may be NULL; of a grid: rg_grid_options */
    size_t           size;    /* of the struct they fill            */
    const rg_grid   *grid;    /* trainings by rows, or NULL: run() does it. *holds becomes false when a claim does not hold */
    rg_status (*run)(bool *holds, const rg_lab *lab, const void *options);
} rg_experiment;

const rg_experiment *const *rg_experiment_all(void); /* ends with NULL */
rg_status rg_experiment_run(bool *holds, const rg_experiment *experiment, const rg_lab *lab, const void *options);

RG_API_END
#endif
