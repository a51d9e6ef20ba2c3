/* tensor.h - the inside of a tensor.
 *
 * A view shares the numbers and the gradient of `whole`. Pieces are views made by a split: disjoint, together the
 * whole; each remembers whether its part of the gradient was written, so that a split costs no zeroing
 * (autograd/tape.c). */
#ifndef RG_TENSOR_TENSOR_H
#define RG_TENSOR_TENSOR_H

#include "tensor/kernels.h"

struct rg_param; /* of autograd: only its address is kept here */
struct rg_packed_keys; /* of attention: the same */

struct rg_tensor {
    size_t           rows, cols, ld;
    rg_real         *data;   /* NULL on a dry tape */
    const rg_layout *layout; /* NULL: rows do not group */

    rg_real   *grad;    /* NULL until backward reaches it; ld apart         */
    rg_tensor *whole;   /* view of; NULL: owns its numbers                  */
    size_t     offset;  /* of a view in the whole, in numbers               */
    rg_tensor *pieces;  /* of a split whole                                 */
    rg_tensor *sibling; /* next piece                                       */

    const struct rg_param *param; /* the parameter this is                        */
    const struct rg_packed_keys *packed; /* these keys, and their values, in panels; NULL: not yet */
    uint64_t        serial;
    size_t          depth;
    bool            needs;   /* gradient wanted                              */
    bool            written; /* grad holds something                         */
    bool            piece;
};

/* Rows are one after another: rows x cols numbers can be walked at once. */
static inline bool rg_tensor__dense(const rg_tensor *x)
{
    return x->ld == x->cols || x->rows <= 1;
}

#endif
