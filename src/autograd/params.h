/* params.h - the inside of parameters: one block of numbers, one of packs, named entries.
 *
 *   block  [ w (512, 512) | b (1, 512) | ... ]      every entry starts on 64 bytes; gradients have the same offsets
 *   packs  [ panels of w | ... ]   and, once somebody learns, [ transposed panels of w | ... ] */
#ifndef RG_AUTOGRAD_PARAMS_H
#define RG_AUTOGRAD_PARAMS_H

#include "autograd/scope.h"
#include "regard/autograd.h"
#include "tensor/kernels.h"

struct rg_param {
    const char   *name;
    rg_param_kind kind;
    size_t        rows, cols;
    size_t        index;  /* among all entries          */
    size_t        offset; /* in the block, in numbers   */
    rg_init       init;
    double        scale;
    double        rate;   /* factor on the learning rate */
    double        decay;  /* L2 of this entry            */
    bool          frozen;
    rg_real      *data;
    rg_pack       forward;    /* right side of x w (weight) or x w^T (tied); data NULL: not packed */
    rg_pack       transposed; /* right side of the input's gradient                                  */
};

struct rg_params {
    rg_arena  *arena; /* entries and names */
    rg_param **entry;
    size_t     count, room;
    size_t     numbers; /* length of the block */
    rg_real   *block;      /* NULL before it is built, and once slim   */
    rg_real   *slim;       /* then: what is not packed                 */
    rg_real   *forward;    /* all forward packs */
    rg_real   *transposed; /* all transposed packs, once somebody learns */
    rg_scope   scope;
    rg_status  status; /* first failure while declaring */
    char       message[256];
};

struct rg_grads {
    const rg_params *params;
    rg_real         *block;   /* params->numbers */
    bool            *written; /* an entry each   */
    unsigned        *moves;   /* an entry each: how many steps of a kept value the block holds the sum of */
};

/* Where one more step of a kept value is to be added, zeros at first. */
rg_real *rg_grads__moves(rg_grads *grads, const rg_param *kept);


#endif
