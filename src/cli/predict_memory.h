/* predict_memory.h - what `regard predict` does with a model that learned puzzles: answers sequences, and records what its heads did. */
#ifndef RG_CLI_PREDICT_MEMORY_H
#define RG_CLI_PREDICT_MEMORY_H

#include "regard/model.h"
#include "regard/train.h"

typedef struct rg_memory_asking {
    const char *model;               /* its file, for messages                               */
    int64_t     length, count, seed; /* length 0: the longest it learned from                */
    const char *record;              /* file, "" for none                                    */
    const char *recorded;            /* number of the sequence it is of, 0 .. count-1, or "worst" */
} rg_memory_asking;

/* `state` is what the model's file says. Prints TSV, one line per answer. */
rg_status rg_predict_memory(const rg_model *model, const rg_state *state, const rg_memory_asking *asking);

#endif
