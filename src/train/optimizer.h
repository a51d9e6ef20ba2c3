/* optimizer.h - the inside of an optimiser: its row, its state and the fixed pieces its pass is made of. */
#ifndef RG_TRAIN_OPTIMIZER_H
#define RG_TRAIN_OPTIMIZER_H

#include "autograd/params.h"
#include "regard/train.h"
#include "tensor/optimise.h"

enum { RG_OPTIMIZER_ARRAYS = 4 }; /* m, v, d, average: the most an optimiser keeps for each parameter */

/* A piece of one entry. Of a packed entry: whole panels of rows, so that both packs can be written while it is in
 * cache. Of another: rows 1, a run of numbers. */
typedef struct rg_piece {
    size_t entry;
    size_t row, rows, col, cols;
    double squares; /* of its gradient */
} rg_piece;

struct rg_optimizer {
    rg_params          *params;
    rg_optimizer_config config; /* defaults filled in */
    double              rate;   /* the row's default  */
    rg_rule             rule;
    bool                decoupled;
    uint64_t            steps;
    rg_real            *array[RG_OPTIMIZER_ARRAYS]; /* blocks like the parameters'; NULL: not kept */
    rg_piece           *piece;
    size_t              pieces;
    bool                stream; /* the packs are larger than the caches */
};

/* "m", "v", "d", "average" */
const char *rg_optimizer__array_name(size_t i);

/* rg_optimizer_step with the number of the step given, from 1, that corrections of averages depend on: phases count
 * their own. */
rg_status rg_optimizer__step(rg_step_report *out, rg_optimizer *opt, rg_grads *const *grads, size_t workers,
                             double count, double rate, uint64_t number, rg_team *team);

/* Rows of the table with what only the pass needs (optimizers.c). */
typedef struct rg_optimizer_row {
    rg_rule rule;
    bool    m, v, d, decoupled;
} rg_optimizer_row;
rg_status rg_optimizer__find(const rg_optimizer_kind **out, rg_optimizer_row *row, const char *name);

#endif
