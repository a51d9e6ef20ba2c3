/* step.h - a whole training step of a model on one batch: forward, backward, optimiser with its packs. One worker a
 * thread. */
#ifndef RG_BENCH_STEP_H
#define RG_BENCH_STEP_H

#include "bench.h"
#include "regard/model.h"
#include "regard/train.h"

enum { BENCH_STEP_THREADS = 64 };

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
} bench_step;

/* model and batch are there; `optimizer` by name. */
rg_status bench_step_init(bench_step *s, const char *optimizer, double rate, rg_team *team);
rg_status bench_step_run(void *step);
/* Parameters in hundred thousands: weights are drawn differently on the two sides. -1: the loss is no number. */
double bench_step_check(void *step);
void   bench_step_fini(void *step);

#endif
