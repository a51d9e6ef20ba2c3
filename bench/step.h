/* step.h - a whole training step of a model on one batch: forward, backward, optimiser with its packs. One worker a
 * thread. */
#ifndef RG_BENCH_STEP_H
#define RG_BENCH_STEP_H

#include "bench.h"
#include "regard/model.h"
#include "regard/train.h"

enum { BENCH_STEP_THREADS = 64 };

typedef rg_loss bench_loss_of(rg_tape *t, const rg_model *model, const void *batch);

typedef struct bench_step {
    rg_model     *model; /* its own, freed by fini */
    rg_batch     *batch; /* its own: one block     */
    rg_workers   *workers;
    rg_optimizer *opt;
    rg_batch      share[BENCH_STEP_THREADS];
    const void   *shares[BENCH_STEP_THREADS];
    int32_t      *storage;
    uint64_t      step;
    double        loss, rate;
    bench_loss_of *by; /* the loss of the step that runs; NULL: the model's */
} bench_step;

/* model and batch are there; `optimizer` by name. */
rg_status bench_step_init(bench_step *s, const char *optimizer, double rate, rg_team *team);
rg_status bench_step_run(void *step);
/* The same by another loss than the model's own: one of its phases. */
rg_status bench_step_run_loss(bench_step *s, bench_loss_of *loss);
/* Parameters in hundred thousands: weights are drawn differently on the two sides. -1: the loss is no number. */
double bench_step_check(void *step);
void   bench_step_fini(void *step);

/* What cases of such a step have in common: all but name, summary, rows, describe and setup. */
#define BENCH_STEP_CASE                                                                            \
    .bytes = sizeof(bench_step), .run = bench_step_run, .check = bench_step_check, .teardown = bench_step_fini

#endif
