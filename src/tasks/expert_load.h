/* expert_load.h - how evenly mixtures of experts (regard/experts.h) are used, over as many passes as are watched.
 *
 *     load_i = choices that fell on expert i, over all choices        CV = deviation of the loads / their mean
 *
 * A tape is given the watcher; after its passes the figures are means over the mixtures of the model. CV is 0 when all
 * experts are used alike and sqrt(N - 1) when one of N has everything. */
#ifndef RG_TASKS_EXPERT_LOAD_H
#define RG_TASKS_EXPERT_LOAD_H

#include "regard/autograd.h"
#include "regard/experts.h"

typedef struct rg_expert_mixture {
    char   name[64]; /* its scope: "encoder.0.experts" */
    size_t experts;
    double rows, load[RG_EXPERTS_MAX]; /* sums of shares times rows */
} rg_expert_mixture;

typedef struct rg_expert_load {
    rg_watcher         watcher; /* its context is the struct: it must not move */
    rg_expert_mixture *mixture;
    size_t             count, room, open; /* open: 1 + the mixture whose load was seen last */
    double             share[RG_EXPERTS_MAX];
    rg_status          status; /* RG_ENOMEM: something was left out */
} rg_expert_load;

void rg_expert_load_init(rg_expert_load *load);
void rg_expert_load_fini(rg_expert_load *load);

typedef struct rg_expert_figures {
    double cv, most, least; /* means over the mixtures; most and least: shares of one expert */
} rg_expert_figures;
/* RG_EINVAL: there was no mixture. */
rg_status rg_expert_load_figures(rg_expert_figures *out, const rg_expert_load *load);

#endif
