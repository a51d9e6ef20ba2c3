/* probe.h - what a trained classifier does with other data: how it stands small changes of its input, whether two
 * sets look alike to it, which examples it would learn most from. Works for every task that says how its models read
 * files (rg_task.examples) and every system with the steps of objective.h; names none of them. */
#ifndef REGARD_PROBE_H
#define REGARD_PROBE_H

#include "regard/perturb.h"
#include "regard/record.h"
#include "regard/supervised.h"

RG_API_BEGIN

/* The examples of sets->train as the model reads them; those without labels have none. RG_EMATCH: models of this
 * task or system cannot be probed; the message names those that can. */
rg_status rg_probe_open(rg_examples **out, const rg_model *model, const rg_set_options *sets);
/* "1/256" or "0.25", above 0. */
rg_status rg_probe_number(double *out, const char *text);

/* ----------------------------------------------------------------------------------------------------------- attack */

typedef struct rg_attack_config {
    rg_ball        ball;
    const double  *epsilon; /* rising */
    size_t         epsilons;
    const int64_t *steps;
    size_t         step_counts;
    bool           predicted; /* attack what the model says, not the label             */
    size_t         most;      /* examples at most; 0: all                              */
    const char    *out;       /* folder for what was attacked; NULL: nothing is written */
    const char    *sheet;     /* PNG: clean, change, attacked of the first pictures; NULL: none */
    int            threads;
    uint64_t       seed;
    void         (*note)(void *context, const char *line);
    void          *context;
} rg_attack_config;

/* Of one size and number of steps. Shares are of the rows that have a label; with `predicted` the label is what the
 * model says of clean input where there is none, and an error is an answer that changed. */
typedef struct rg_attack_row {
    double   epsilon;
    int64_t  steps;
    uint64_t examples;
    double   clean_error, error;           /* before, after                                                  */
    double   clean_confidence, confidence; /* mean probability of the answers; after: of those that are wrong */
    double   noise;                        /* share of answers that random changes of the same size changed   */
    double   written;                      /* error when pictures are rounded to 8 bits; -1: no pictures       */
    double   margin, attacked_margin;      /* mean of the label's logit minus the largest other one           */
} rg_attack_row;

/* rows: epsilons * step_counts of them, sizes first. In evaluation mode; no gradient of a parameter is made. */
rg_status rg_attack(rg_attack_row *rows, const rg_model *model, const rg_set_options *sets,
                    const rg_attack_config *config);

/* What rg_attack said of a model: `count` rows, sizes first, each with `step_counts` numbers of steps. */
typedef struct rg_attack_curve {
    const char          *name;
    const rg_attack_row *rows;
    size_t               count, step_counts;
} rg_attack_curve;
/* The errors over the size of the change, from 0, a curve per model and number of steps; of one model also what random
 * changes do. */
rg_status rg_attack_record(rg_record **out, const rg_attack_curve *models, size_t count, const char *norm);

/* ------------------------------------------------------------------------------------------------------------ shift */

typedef struct rg_shift_class {
    int32_t id;
    double  first, second; /* share of this answer in each set                                     */
    double  distance;      /* of the means of its features, in mean deviations; 0: one set has none */
} rg_shift_class;

/* How well a linear classifier tells two sets apart by the features of a model: d = 2 (1 - 2 error), the proxy
 * A-distance (Ben-David et al. 2010); 0: not at all, 2: perfectly. The error is of held-out halves. */
typedef struct rg_shift_report {
    double          error, distance;
    uint64_t        first, second; /* examples */
    rg_shift_class *classes;       /* rg_free; those that moved most first */
    size_t          count;
} rg_shift_report;
rg_status rg_shift_measure(rg_shift_report *out, const rg_model *model, const rg_set_options *first,
                           const rg_set_options *second, size_t most, int threads, uint64_t seed);

/* ------------------------------------------------------------------------------------------------------------- rank */

typedef enum rg_rank_by { RG_RANK_MARGIN, RG_RANK_ENTROPY, RG_RANK_ADVERSARIAL } rg_rank_by;

typedef struct rg_ranked {
    uint64_t line; /* where it stands in the file: line or number, from 1                                        */
    double   score; /* margin of the two likeliest classes; entropy in nats; length of the change that changes the answer */
    int32_t  answer;
    double   confidence;
} rg_ranked;
/* All examples, those to be labelled first in front; *out is freed by the caller. */
rg_status rg_rank(rg_ranked **out, size_t *out_count, const rg_model *model, const rg_set_options *sets, rg_rank_by by,
                  int threads);

RG_API_END
#endif
