/* distill.h - what a student learns from: a teacher's own translations of a corpus (Kim and Rush 2016, sequence-level
 * knowledge distillation by interpolation). Of the n best of each line the one that is most like the reference, by chrF. */
#ifndef REGARD_DISTILL_H
#define REGARD_DISTILL_H

#include "regard/translate.h"

RG_API_BEGIN

typedef struct rg_distill_config {
    size_t n_best;  /* translations of a line to choose from, and the beam */
    size_t batch;   /* lines searched together                             */
    int    threads;
    bool (*go_on)(void *context, uint64_t lines); /* after each few hundred lines; false: stop, RG_ESTOP. NULL: nobody asks */
    void *context;
} rg_distill_config;
#define RG_DISTILL_CONFIG_DEFAULT { .n_best = 8, .batch = 32, .threads = 1 }

/* Write to `out` a line for each line of `source`, whose reference is the line of `target` beside it; whole or not at
 * all. RG_EMATCH: other numbers of lines. */
rg_status rg_distill(rg_translator *teacher, const rg_distill_config *config, const char *source, const char *target,
                     const char *out);

RG_API_END
#endif
