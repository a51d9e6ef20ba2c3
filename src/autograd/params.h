/* params.h - the inside of parameters: one block of numbers, one of packs, named entries.
 *
 *   block  [ w (512, 512) | b (1, 512) | ... ]      every entry starts on 64 bytes; gradients have the same offsets
 *   packs  [ panels of w | ... ]   and, once somebody learns, [ transposed panels of w | ... ]
 *
 * Parameters for answering only may keep weights and tables in one or two bytes a number (int8.h): `small` of an
 * entry, its data NULL. */
#ifndef RG_AUTOGRAD_PARAMS_H
#define RG_AUTOGRAD_PARAMS_H

#include "autograd/final.h"
#include "autograd/scope.h"
#include "regard/autograd.h"
#include "tensor/int8.h"

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
    rg_small      small;      /* its numbers in few bytes; block NULL: they are in data              */
};

struct rg_params {
    rg_arena  *arena; /* entries and names */
    rg_param **entry;
    size_t     count, room;
    size_t     numbers; /* length of the block */
    rg_real   *block;      /* NULL before it is built, and once slim   */
    rg_real   *slim;       /* then: what is not packed                 */
    rg_weights weights;    /* how weights are kept                     */
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
    rg_final        *final;   /* which gradients are final; NULL: nobody asks while a pass runs */
};

/* An entry that is kept in few bytes, from and to numbers in its own order of rows and columns; scales are its
 * columns' (a weight) or its rows'. */
static inline bool rg_param__is_small(const rg_param *e) { return e->small.block != NULL; }
static inline size_t rg_param__scales(const rg_param *e) { return e->kind == RG_WEIGHT ? e->cols : e->rows; }
size_t rg_param__room(const rg_param *e); /* numbers of an entry in a block, up to where the next may start */
rg_status rg_params__make_small(rg_params *params);
void rg_param__fill(rg_param *e, const float *numbers);
void rg_param__fill_int8(rg_param *e, const int8_t *q, const float *scale);
void rg_param__read_int8(const rg_param *e, int8_t *q, float *scale);
void rg_param__row(const rg_param *e, size_t row, rg_real *y);

/* From now on passes that are told to (rg_tape__announce) mark which gradients are final. */
rg_status rg_grads__announce(rg_grads *grads);

/* Where one more step of a kept value is to be added, zeros at first. */
rg_real *rg_grads__moves(rg_grads *grads, const rg_param *kept);

#endif
