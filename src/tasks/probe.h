/* probe.h - what attack, shift and rank share: passes over a set in evaluation mode. */
#ifndef RG_TASKS_PROBE_H
#define RG_TASKS_PROBE_H

#include "regard/probe.h"

/* A tape that makes input gradients and no others, on a team of its own. */
typedef struct rg_probe {
    const rg_model *model;
    rg_examples    *examples;
    rg_team        *team;
    rg_tape        *tape;
} rg_probe;
rg_status rg_probe__init(rg_probe *out, const rg_model *model, const rg_set_options *sets, int threads, uint64_t seed);
void      rg_probe__fini(rg_probe *probe);

/* The label of row i of `rows` answers to a batch; -1: none. */
int32_t rg_probe__label(const rg_batch *batch, size_t rows, size_t i);
/* The likeliest class of a row and its probability. */
int32_t rg_probe__best(double *out_probability, const rg_tensor *logits, size_t row);

#endif
